package rtnl

import (
	"net/netip"
	"strconv"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
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
	rtaObject    = 30 // RTA_NH_ID

	metricMTU        = 2
	metricCongestion = 16

	routeHead = 12 // struct rtmsg
	hopHead   = 8  // struct rtnexthop: len, flags, hops, index

	routeCloned = 0x200 // RTM_F_CLONED
	hopDead     = 1     // RTNH_F_DEAD
	hopOnLink   = 4     // RTNH_F_ONLINK
)

// routeTypes are the words of RTN_* that a routing table of traffic has; the
// local table's (local, broadcast, anycast, multicast) are left out, for the
// kernel makes them from addresses.
var routeTypes = map[uint8]string{1: "", 6: "blackhole", 7: "unreachable", 8: "prohibit", 9: "throw"}

// routeProtocols are iproute2's words for RTPROT_*.
var routeProtocols = map[uint8]string{
	1: "redirect", 2: "kernel", 3: "boot", 4: "static", 8: "gated", 9: "ra", 10: "mrt", 11: "zebra",
	12: "bird", 14: "xorp", 16: "dhcp", 17: "mrouted", 18: "keepalived", 42: "babel", 84: "ovn",
	99: "openr", 186: "bgp", 187: "isis", 188: "ospf", 189: "rip", 192: "eigrp",
}

// routeMetrics are ip-route(8)'s words for RTAX_*, by number.
var routeMetrics = [...]string{"", "lock", "mtu", "window", "rtt", "rttvar", "ssthresh", "cwnd", "advmss",
	"reordering", "hoplimit", "initcwnd", "features", "rto_min", "initrwnd", "quickack", "congctl", "fastopen_no_cookie"}

// decodeRoute reads an RTM_NEWROUTE message; ok is false for one that is no
// route of traffic. name gives a link's name by index.
func decodeRoute(message []byte, name func(index int) string) (route netstate.Route, ok bool) {
	if len(message) < routeHead {
		return route, false
	}
	ipv6 := message[0] == familyIPv6
	kind, known := routeTypes[message[7]]
	flags := u32(message[8:])
	if !known || flags&routeCloned != 0 {
		return route, false
	}
	route.Type = kind
	route.Table = int(message[4])
	route.OnLink = flags&hopOnLink != 0
	route.Protocol = protocolWord(message[5])
	var dst netip.Addr
	err := nlattr.Each(message[routeHead:], func(kind uint16, v []byte) {
		switch kind {
		case rtaDst:
			dst = addr(v)
		case rtaOif:
			route.Link = name(int(u32(v)))
		case rtaGateway:
			route.Gateway = addr(v)
		case rtaVia:
			route.Gateway = viaAddr(v)
		case rtaPriority:
			route.Metric = int(u32(v))
		case rtaPrefSrc:
			route.Source = addr(v)
		case rtaTable:
			route.Table = int(u32(v))
		case rtaMetrics:
			decodeMetrics(&route, v)
		case rtaMultipath:
			route.Hops = decodeHops(v, name)
		case rtaObject:
			route.Object = int(u32(v))
		}
	})
	route.Dst = prefix(dst, int(message[1]), ipv6)
	return route, err == nil && route.Dst.IsValid()
}

func protocolWord(n uint8) string {
	if w, ok := routeProtocols[n]; ok {
		return w
	}
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

// viaAddr reads struct rtvia: a family and a gateway of it, which may be
// another family's than the route's.
func viaAddr(v []byte) netip.Addr {
	if len(v) < 2 {
		return netip.Addr{}
	}
	return addr(v[2:])
}

func decodeMetrics(route *netstate.Route, v []byte) {
	_ = nlattr.Each(v, func(kind uint16, v []byte) {
		if kind == metricMTU {
			route.MTU = int(u32(v))
			return
		}
		if kind == 0 || kind > metricCongestion+1 {
			return
		}
		if route.Metrics == nil {
			route.Metrics = make(map[string]string)
		}
		value := strconv.FormatUint(uint64(u32(v)), 10)
		if kind == metricCongestion {
			value = text(v)
		}
		route.Metrics[routeMetrics[kind]] = value
	})
}

func decodeHops(b []byte, name func(index int) string) (hops []netstate.NextHop) {
	for len(b) >= hopHead {
		size := int(u16(b))
		if size < hopHead || size > len(b) {
			break
		}
		hop := netstate.NextHop{Link: name(int(u32(b[4:]))), Weight: int(b[3]) + 1, Dead: b[2]&hopDead != 0}
		_ = nlattr.Each(b[hopHead:size], func(kind uint16, v []byte) {
			switch kind {
			case rtaGateway:
				hop.Gateway = addr(v)
			case rtaVia:
				hop.Gateway = viaAddr(v)
			}
		})
		hops = append(hops, hop)
		b = b[min((size+3)&^3, len(b)):]
	}
	return hops
}
