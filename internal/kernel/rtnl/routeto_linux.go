package rtnl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/internal/kernel/sys"
)

// Attributes of a route request, include/uapi/linux/rtnetlink.h.
const (
	rtaSrc   = 2
	rtaProto = 27 // RTA_IP_PROTO
	rtaSport = 28
	rtaDport = 29

	routeLookupTable = 0x1000 // RTM_F_LOOKUP_TABLE: answer with the table found

	routeFIBMatch = 0x2000 // RTM_F_FIB_MATCH: answer with the table's own entry

	routeLocal = 2 // RTN_LOCAL
)

// RouteFor asks the kernel where a flow of this host goes (RTM_GETROUTE): with
// ports, so that of a multipath route it is the next hop that the flow will
// take, whatever the hash's key. The source must be an address of the host, or
// not valid: the kernel then chooses it. It needs no privilege. Kernels before
// 4.18 take no ports and answer as for a flow without. Of ICMPv6, Dport is type
// and code as one number. Errors are those of RouteTo.Err.
//
// Of an IPv4 multipath route the answer is that for a packet which the kernel
// makes up (inet_rtm_getroute_build_skb) and hashes as if it were forwarded. A
// socket's flow gets another hash, and often another next hop, under
// fib_multipath_hash_policy 3, and under 1 if it is ICMP: Spread tells such
// routes.
func (h *Handle) RouteFor(t flow.Tuple) (RouteTo, error) {
	all, err := h.RoutesFor([]flow.Tuple{t})
	if err != nil {
		return RouteTo{}, err
	}
	if err := all[0].Err; err != nil {
		return all[0], fmt.Errorf("route %s: %w", t, err)
	}
	return all[0], nil
}

// RoutesFor is RouteFor of many flows, in their order. The error is one that
// concerns them all.
func (h *Handle) RoutesFor(flows []flow.Tuple) ([]RouteTo, error) {
	name, err := h.names()
	if err != nil {
		return nil, err
	}
	routes := make([]RouteTo, len(flows))
	for i, t := range flows {
		routes[i] = h.routeFor(t, name)
	}
	return routes, nil
}

func (h *Handle) routeFor(t flow.Tuple, name func(int) string) RouteTo {
	request, err := routeRequest(t)
	if err != nil {
		return RouteTo{Err: err}
	}
	answers, err := h.ask(syscall.RTM_GETROUTE, syscall.RTM_NEWROUTE, 0, request)
	if err != nil {
		return RouteTo{Err: err}
	}
	for _, m := range answers {
		if r, ok := decodeRouteTo(m, name); ok {
			if t.Src.IsValid() {
				r.Src = t.Src // IPv6 answers with its own choice
			}
			return r
		}
	}
	return RouteTo{Err: errMalformed}
}

var errAddresses = errors.New("want addresses of one family")

// Spread reports whether the route of a flow has several next hops, or names a
// nexthop object, which may (RTM_F_FIB_MATCH, Linux 4.13).
func (h *Handle) Spread(t flow.Tuple) (bool, error) {
	request, err := routeRequest(t)
	if err != nil {
		return false, fmt.Errorf("route %s: %w", t, err)
	}
	binary.NativeEndian.PutUint32(request[8:], routeFIBMatch)
	answers, err := h.ask(syscall.RTM_GETROUTE, syscall.RTM_NEWROUTE, 0, request)
	if err != nil {
		return false, fmt.Errorf("route %s: %w", t, err)
	}
	for _, m := range answers {
		r, _ := decodeRoute(m, func(int) string { return "" })
		if len(r.Hops) > 1 || r.Object != 0 {
			return true, nil
		}
	}
	return false, nil
}

// routeRequest is struct rtmsg with the flow as attributes.
func routeRequest(t flow.Tuple) ([]byte, error) {
	src, dst := t.Src.Unmap(), t.Dst.Unmap()
	if !dst.IsValid() || src.IsValid() && src.Is4() != dst.Is4() {
		return nil, errAddresses
	}
	request := make([]byte, routeHead)
	request[0] = syscall.AF_INET
	if dst.Is6() {
		request[0] = syscall.AF_INET6
	}
	request[1] = byte(dst.BitLen())
	binary.NativeEndian.PutUint32(request[8:], routeLookupTable)
	request = append(request, nlattr.Encode(rtaDst, dst.AsSlice())...)
	if zone := dst.Zone(); zone != "" {
		link, err := sys.Zone(zone)
		if err != nil {
			return nil, err
		}
		request = append(request, nlattr.Encode(syscall.RTA_OIF, binary.NativeEndian.AppendUint32(nil, link))...)
	}
	if src.IsValid() {
		request[2] = byte(src.BitLen())
		request = append(request, nlattr.Encode(rtaSrc, src.AsSlice())...)
	}
	if t.Proto != 0 {
		request = append(request, nlattr.Encode(rtaProto, []byte{byte(t.Proto)})...)
	}
	if t.Sport != 0 {
		request = append(request, nlattr.Encode(rtaSport, binary.BigEndian.AppendUint16(nil, t.Sport))...)
	}
	if t.Dport != 0 {
		request = append(request, nlattr.Encode(rtaDport, binary.BigEndian.AppendUint16(nil, t.Dport))...)
	}
	return request, nil
}

// decodeRouteTo reads the answer to a route request.
func decodeRouteTo(message []byte, name func(index int) string) (r RouteTo, ok bool) {
	if len(message) < routeHead {
		return r, false
	}
	r.Table = int(message[4])
	r.Local = message[7] == routeLocal
	err := nlattr.Each(message[routeHead:], func(kind uint16, v []byte) {
		switch kind {
		case rtaOif:
			r.Link = name(int(u32(v)))
		case rtaGateway:
			r.Gateway = addr(v)
		case rtaVia:
			r.Gateway = viaAddr(v)
		case rtaPrefSrc:
			r.Src = addr(v)
		case rtaTable:
			r.Table = int(u32(v))
		case rtaMetrics:
			_ = nlattr.Each(v, func(kind uint16, v []byte) {
				if kind == metricMTU {
					r.MTU = int(u32(v))
				}
			})
		}
	})
	return r, err == nil && r.Link != ""
}

// Attributes of a neighbour, include/uapi/linux/neighbour.h.
const (
	ndaDst    = 1
	ndaLLAddr = 2

	neighbourHead = 12 // struct ndmsg
)

// Neighbours reads the IPv4 and IPv6 neighbour tables. It needs no privilege.
// With an error that is nl.ErrDumpInterrupted the entries are there and may be
// incomplete.
func (h *Handle) Neighbours() ([]Neighbour, error) {
	name, err := h.names()
	if err != nil {
		return nil, err
	}
	var all []Neighbour
	err = h.perFamily(syscall.RTM_GETNEIGH, syscall.RTM_NEWNEIGH, func(m []byte) {
		if n, ok := decodeNeighbour(m, name); ok {
			all = append(all, n)
		}
	})
	if err != nil {
		err = fmt.Errorf("list neighbours: %w", err)
	}
	return all, err
}

// decodeNeighbour reads an RTM_NEWNEIGH message; ok is false for one without
// address or link.
func decodeNeighbour(message []byte, name func(index int) string) (n Neighbour, ok bool) {
	if len(message) < neighbourHead {
		return n, false
	}
	n.Link = name(int(u32(message[4:])))
	n.State = NeighbourState(u16(message[8:]))
	err := nlattr.Each(message[neighbourHead:], func(kind uint16, v []byte) {
		switch kind {
		case ndaDst:
			n.Addr = addr(v)
		case ndaLLAddr:
			n.MAC = mac(v)
		}
	})
	if !n.State.Resolved() {
		n.MAC = flow.MAC{}
	}
	return n, err == nil && n.Addr.IsValid() && n.Link != ""
}
