package rtnl

import (
	"fmt"
	"net/netip"
	"slices"
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
	rtaCacheInfo = 12
	rtaVia       = 18
	rtaPref      = 20
	rtaPad       = 24
	rtaObject    = 30 // RTA_NH_ID

	scopeLink = 253 // RT_SCOPE_LINK

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
			var unread bool
			if route.Hops, unread = decodeHops(v, name); unread {
				keepOfRoute(&route, "rta-9", kept(v))
			}
		case rtaObject:
			route.Object = int(u32(v))
		case rtaPref:
			if u8(v) != 0 {
				keepOfRoute(&route, "pref", decimal(v))
			}
		case rtaCacheInfo, rtaPad:
		default:
			keepOfRoute(&route, fmt.Sprintf("rta-%d", kind), kept(v))
		}
	})
	if route.Type != "" {
		route.Link = "" // IPv6 says lo
	}
	if tos := message[3]; tos != 0 {
		keepOfRoute(&route, "tos", strconv.Itoa(int(tos)))
	}
	if scope := message[6]; scope != RouteScope(route, ipv6) {
		keepOfRoute(&route, "scope", strconv.Itoa(int(scope)))
	}
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

// decodeHops reads a run of struct rtnexthop; unread reports attributes that
// netstate.NextHop does not hold.
func decodeHops(b []byte, name func(index int) string) (hops []netstate.NextHop, unread bool) {
	for len(b) >= hopHead {
		size := int(u16(b))
		if size < hopHead || size > len(b) {
			break
		}
		hop := netstate.NextHop{Link: name(int(u32(b[4:]))), Weight: int(b[3]) + 1, Dead: b[2]&hopDead != 0, OnLink: b[2]&hopOnLink != 0}
		_ = nlattr.Each(b[hopHead:size], func(kind uint16, v []byte) {
			switch kind {
			case rtaGateway:
				hop.Gateway = addr(v)
			case rtaVia:
				hop.Gateway = viaAddr(v)
			default:
				unread = true
			}
		})
		hops = append(hops, hop)
		b = b[min((size+3)&^3, len(b)):]
	}
	return hops, unread
}

// RouteScope is the scope that ip-route(8) gives a route of which none is said
// (iproute_modify): link without a gateway, else universe; IPv6 has none.
func RouteScope(r netstate.Route, ipv6 bool) uint8 {
	if ipv6 || r.Type != "" || r.Gateway.IsValid() || len(r.Hops) > 0 || r.Object != 0 {
		return 0
	}
	return scopeLink
}

// RouteProtocol is the kernel's number of a route's or rule's Protocol; false
// for a word that is none. "" is unspecified.
func RouteProtocol(word string) (uint8, bool) {
	for n, w := range routeProtocols {
		if w == word {
			return n, true
		}
	}
	if word == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(word, 10, 8)
	return uint8(n), err == nil
}

// RouteType is the kernel's number of a route's Type; false for another word.
func RouteType(word string) (uint8, bool) {
	for n, w := range routeTypes {
		if w == word {
			return n, true
		}
	}
	return 0, false
}

// RouteMetric is the kernel's number of a route's metric, RTAX_*; false for
// another word.
func RouteMetric(word string) (uint16, bool) {
	n := slices.Index(routeMetrics[:], word)
	return uint16(n), n > 0
}

func keepOfRoute(r *netstate.Route, key, value string) {
	if r.Extra == nil {
		r.Extra = make(map[string]string)
	}
	r.Extra[key] = value
}
