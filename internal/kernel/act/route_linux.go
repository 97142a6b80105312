package act

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// Attributes of a route, include/uapi/linux/rtnetlink.h.
const (
	rtaDst       = 1
	rtaOif       = 4
	rtaGateway   = 5
	rtaPriority  = 6
	rtaPrefSrc   = 7
	rtaMetrics   = 8
	rtaMultipath = 9
	rtaTable     = 15
	rtaVia       = 18
	rtaObject    = 30

	routeOnLink   = 4 // RTNH_F_ONLINK
	protocolBoot  = 3 // RTPROT_BOOT, ip-route(8)'s own
	ipv6Metric    = 1024
	metricCongctl = 16
)

func family(a netip.Addr) byte {
	if a.Is4() {
		return syscall.AF_INET
	}
	return syscall.AF_INET6
}

// setRoute adds or removes one route, with everything that the step says of it.
func setRoute(r *netstate.Route, want string) error {
	message, err := encodeRoute(r)
	if err != nil {
		return err
	}
	if want == plan.Absent {
		return change(syscall.RTM_DELROUTE, 0, message)
	}
	if err := change(syscall.RTM_NEWROUTE, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, message); err != nil {
		return err
	}
	return asAsked(r)
}

// asAsked takes a route away again that the kernel made something else of than
// was asked, which undo would not know for its own: there was none at its place
// before, or it could not have been made.
func asAsked(want *netstate.Route) error {
	all, err := routes()
	if err != nil || slices.ContainsFunc(all, func(have netstate.Route) bool { return sameRoute(have, *want) }) {
		return err
	}
	i := slices.IndexFunc(all, func(have netstate.Route) bool {
		return have.Dst.Masked() == want.Dst.Masked() && have.Table == tableOf(*want) && have.Metric == metricOf(*want) && have.Protocol == want.Protocol
	})
	if i < 0 {
		return nil // it may be late
	}
	made := all[i]
	err = fmt.Errorf("the kernel made another route of it, %+v: %w", made, fs.ErrInvalid)
	message, bad := encodeRoute(&made)
	if bad == nil {
		bad = change(syscall.RTM_DELROUTE, 0, message)
	}
	return errors.Join(err, bad)
}

// routes are all that the kernel has.
func routes() ([]netstate.Route, error) {
	h, err := rtnl.Open()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.Routes()
}

// encodeRoute is a route as struct rtmsg and its attributes.
func encodeRoute(r *netstate.Route) ([]byte, error) {
	if r == nil || !r.Dst.IsValid() {
		return nil, fmt.Errorf("route without destination: %w", fs.ErrInvalid)
	}
	if len(r.Extra) > 0 {
		return nil, fmt.Errorf("route with %v: %w", slices.Sorted(maps.Keys(r.Extra)), errors.ErrUnsupported)
	}
	kind, known := rtnl.RouteType(r.Type)
	if !known {
		return nil, fmt.Errorf("route of type %q: %w", r.Type, errors.ErrUnsupported)
	}
	protocol, known := rtnl.RouteProtocol(r.Protocol)
	if !known {
		return nil, fmt.Errorf("route of protocol %q: %w", r.Protocol, errors.ErrUnsupported)
	}
	if r.Protocol == "" {
		protocol = protocolBoot
	}
	f := family(r.Dst.Addr())
	// Family, lengths of destination and source, tos, table, protocol, scope, type.
	b := []byte{f, byte(r.Dst.Bits()), 0, 0, 0, protocol, rtnl.RouteScope(*r, f == syscall.AF_INET6), kind}
	flags := uint32(0)
	if r.OnLink {
		flags = routeOnLink
	}
	b = binary.NativeEndian.AppendUint32(b, flags)
	if r.Dst.Bits() > 0 {
		b = append(b, nlattr.Encode(rtaDst, r.Dst.Masked().Addr().AsSlice())...)
	}
	b = append(b, nlattr.Encode(rtaTable, number32(uint32(tableOf(*r))))...)
	b = append(b, nlattr.Encode(rtaPriority, number32(uint32(metricOf(*r))))...)
	if r.Source.IsValid() {
		b = append(b, nlattr.Encode(rtaPrefSrc, r.Source.AsSlice())...)
	}
	where, err := encodeWhere(r, f)
	if err != nil {
		return nil, err
	}
	metrics, err := encodeMetrics(r)
	return append(append(b, where...), metrics...), err
}

// tableOf and metricOf are what the kernel takes a zero for (RT_TABLE_MAIN;
// IP6_RT_PRIO_USER).
func tableOf(r netstate.Route) int {
	if r.Table == 0 {
		return syscall.RT_TABLE_MAIN
	}
	return r.Table
}

func metricOf(r netstate.Route) int {
	if r.Metric == 0 && r.Dst.Addr().Is6() {
		return ipv6Metric
	}
	return r.Metric
}

// encodeWhere is where the route leads: a nexthop object, several hops, or one.
func encodeWhere(r *netstate.Route, f byte) (b []byte, err error) {
	switch {
	case r.Type != "":
		return nil, nil // it leads nowhere: IPv4 refuses a link, IPv6 takes the loopback
	case r.Object != 0:
		return nlattr.Encode(rtaObject, number32(uint32(r.Object))), nil
	case len(r.Hops) > 0:
		var hops []byte
		for _, hop := range r.Hops {
			one, err := encodeHop(hop, f)
			if err != nil {
				return nil, err
			}
			hops = append(hops, one...)
		}
		return nlattr.Encode(rtaMultipath, hops), nil
	}
	if r.Link != "" {
		l, err := findLink(r.Link)
		if err != nil {
			return nil, fmt.Errorf("link %q: %w", r.Link, missing(err))
		}
		b = nlattr.Encode(rtaOif, number32(uint32(l.index)))
	}
	return append(b, encodeGateway(r.Gateway, f)...), nil
}

// encodeGateway is a gateway of the route's family, or of the other one.
func encodeGateway(gateway netip.Addr, f byte) []byte {
	switch {
	case !gateway.IsValid():
		return nil
	case family(gateway) == f:
		return nlattr.Encode(rtaGateway, gateway.AsSlice())
	}
	via := binary.NativeEndian.AppendUint16(nil, uint16(family(gateway)))
	return nlattr.Encode(rtaVia, append(via, gateway.AsSlice()...))
}

// encodeHop is a struct rtnexthop.
func encodeHop(hop netstate.NextHop, f byte) ([]byte, error) {
	l, err := findLink(hop.Link)
	if err != nil {
		return nil, fmt.Errorf("link %q: %w", hop.Link, missing(err))
	}
	if hop.Weight > 256 {
		return nil, fmt.Errorf("next hop of weight %d: %w", hop.Weight, fs.ErrInvalid)
	}
	gateway := encodeGateway(hop.Gateway, f)
	b := binary.NativeEndian.AppendUint16(nil, uint16(8+len(gateway)))
	flags := byte(0)
	if hop.OnLink {
		flags = routeOnLink
	}
	b = append(b, flags, byte(max(hop.Weight, 1)-1))
	b = binary.NativeEndian.AppendUint32(b, uint32(l.index))
	return append(b, gateway...), nil
}

func encodeMetrics(r *netstate.Route) ([]byte, error) {
	metrics := maps.Clone(r.Metrics)
	if r.MTU != 0 {
		if metrics == nil {
			metrics = make(map[string]string)
		}
		metrics["mtu"] = strconv.Itoa(r.MTU)
	}
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		attr, known := rtnl.RouteMetric(name)
		if !known {
			return nil, fmt.Errorf("route metric %q: %w", name, errors.ErrUnsupported)
		}
		if attr == metricCongctl {
			b = append(b, nlattr.Encode(attr, append([]byte(metrics[name]), 0))...)
			continue
		}
		n, err := strconv.ParseUint(metrics[name], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("route metric %s: %q: %w", name, metrics[name], fs.ErrInvalid)
		}
		b = append(b, nlattr.Encode(attr, number32(uint32(n)))...)
	}
	if b == nil {
		return nil, nil
	}
	return nest(rtaMetrics, b), nil
}

// readRoute is present when a route is there that is all the step says. One
// with more, which a step could not put back, is errors.ErrUnsupported.
func readRoute(r *netstate.Route) (string, error) {
	if r == nil || !r.Dst.IsValid() {
		return "", fmt.Errorf("route without destination: %w", fs.ErrInvalid)
	}
	all, err := routes()
	if err != nil {
		return "", err
	}
	for _, have := range all {
		if !sameRoute(have, *r) {
			continue
		}
		if len(have.Extra) > 0 {
			return "", fmt.Errorf("route has attributes that a plan cannot roll back (%v): %w", have.Extra, errors.ErrUnsupported)
		}
		return plan.Present, nil
	}
	return plan.Absent, nil
}

// sameRoute compares what a step says; a Protocol and a Source of "" are
// whatever the kernel has.
func sameRoute(have, want netstate.Route) bool {
	if want.Protocol != "" && have.Protocol != want.Protocol || want.Source.IsValid() && have.Source != want.Source {
		return false
	}
	if have.Dst.Masked() != want.Dst.Masked() || have.Table != tableOf(want) || have.Metric != metricOf(want) ||
		have.Type != want.Type || have.Object != want.Object || have.MTU != want.MTU || !maps.Equal(have.Metrics, want.Metrics) {
		return false
	}
	if want.Object != 0 {
		return true // where it leads is the object's
	}
	if want.Type != "" {
		return true // it leads nowhere
	}
	return have.Link == want.Link && have.Gateway == want.Gateway && have.OnLink == want.OnLink && sameHops(have.Hops, want.Hops)
}

// sameHops: the kernel lists the hops in an order of its own.
func sameHops(have, want []netstate.NextHop) bool {
	rest := slices.Clone(have)
	for _, w := range want {
		i := slices.IndexFunc(rest, func(h netstate.NextHop) bool { return sameHop(h, w) })
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return len(rest) == 0
}

// sameHop: whether a hop is dead for now is no part of a route.
func sameHop(have, want netstate.NextHop) bool {
	return have.Link == want.Link && have.Gateway == want.Gateway && have.Weight == max(want.Weight, 1) && have.OnLink == want.OnLink
}
