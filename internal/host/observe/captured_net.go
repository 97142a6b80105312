package observe

import (
	"encoding/hex"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
)

const (
	tableMain = 254

	routeUp     = 0x1   // RTF_UP
	routeReject = 0x200 // RTF_REJECT
)

// network reads routes and addresses. IPv4 addresses have no file of their
// own: they are the local table's hosts, each put on the link and prefix of
// the connected route that holds it. Of several links in one subnet each has one
// at least, by which the kernel made its route; which one is not told.
func (c *captured) network() {
	c.host.Routes = parseRoutes(c.text("proc/net/route"), !c.host.Kernel.BigEndian)
	connected := slices.DeleteFunc(slices.Clone(c.host.Routes), func(r netstate.Route) bool { return r.Gateway.IsValid() || r.Type != "" })
	for _, a := range parseLocals(c.text("proc/net/fib_trie")) {
		var best netstate.Route
		for _, r := range connected {
			switch {
			case !r.Dst.Contains(a) || r.Dst.Bits() == 0 || r.Dst.Bits() < best.Dst.Bits():
			case r.Dst == best.Dst && c.holding(r) >= c.holding(best):
			default:
				best = r
			}
		}
		if l := c.find(best.Link); l != nil && best.Dst.IsValid() {
			l.Addresses = append(l.Addresses, netip.PrefixFrom(a, best.Dst.Bits()))
		}
	}
	c.host.Routes = append(c.host.Routes, parseRoutes6(c.text("proc/net/ipv6_route"))...)
	for name, prefixes := range parseAddresses6(c.text("proc/net/if_inet6")) {
		if l := c.find(name); l != nil {
			l.Addresses = append(l.Addresses, prefixes...)
		}
	}
}

// holding is how many addresses of a route's network its link has so far.
func (c *captured) holding(r netstate.Route) int {
	l := c.find(r.Link)
	if l == nil {
		return 0
	}
	n := 0
	for _, p := range l.Addresses {
		if r.Dst.Contains(p.Addr()) {
			n++
		}
	}
	return n
}

// hexAddr4 reads an address of /proc/net/route: a 32-bit word in the
// captured host's byte order.
func hexAddr4(field string, little bool) (netip.Addr, bool) {
	v, err := strconv.ParseUint(field, 16, 32)
	if err != nil || len(field) != 8 {
		return netip.Addr{}, false
	}
	n := uint32(v)
	if little {
		n = bits.ReverseBytes32(n)
	}
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), true
}

// parseRoutes reads /proc/net/route (fib_route_seq_show): link, destination,
// gateway, flags, refcount, use, metric, mask, mtu, ...
func parseRoutes(text string, little bool) []netstate.Route {
	var routes []netstate.Route
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			continue
		}
		dst, ok1 := hexAddr4(f[1], little)
		gateway, ok2 := hexAddr4(f[2], little)
		mask, ok3 := hexAddr4(f[7], little)
		flags, err := strconv.ParseUint(f[3], 16, 32)
		if !ok1 || !ok2 || !ok3 || err != nil || flags&routeUp == 0 {
			continue
		}
		m := mask.As4()
		ones := bits.LeadingZeros32(^(uint32(m[0])<<24 | uint32(m[1])<<16 | uint32(m[2])<<8 | uint32(m[3])))
		r := netstate.Route{Dst: netip.PrefixFrom(dst, ones), Link: f[0], Table: tableMain}
		if !gateway.IsUnspecified() {
			r.Gateway = gateway
		}
		if flags&routeReject != 0 {
			r.Type, r.Link = "unreachable", ""
		}
		r.Metric, _ = strconv.Atoi(f[6])
		if len(f) > 8 {
			r.MTU, _ = strconv.Atoi(f[8])
		}
		routes = append(routes, r)
	}
	return routes
}

func hexAddr6(field string) (netip.Addr, bool) {
	b, err := hex.DecodeString(field)
	if err != nil || len(b) != 16 {
		return netip.Addr{}, false
	}
	return netip.AddrFromSlice(b)
}

// parseRoutes6 reads /proc/net/ipv6_route (rt6_info_route): destination,
// length, source, length, next hop, metric, refcount, use, flags, link. All
// tables are in it; the local one's entries ride on lo.
func parseRoutes6(text string) []netstate.Route {
	var routes []netstate.Route
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 10 || f[9] == "lo" {
			continue
		}
		dst, ok1 := hexAddr6(f[0])
		length, err1 := strconv.ParseUint(f[1], 16, 8)
		gateway, ok2 := hexAddr6(f[4])
		metric, err2 := strconv.ParseUint(f[5], 16, 32)
		flags, err3 := strconv.ParseUint(f[8], 16, 32)
		if !ok1 || !ok2 || err1 != nil || err2 != nil || err3 != nil || length > 128 || flags&routeUp == 0 || dst.IsMulticast() {
			continue
		}
		r := netstate.Route{Dst: netip.PrefixFrom(dst, int(length)), Link: f[9], Table: tableMain, Metric: int(metric)}
		if !gateway.IsUnspecified() {
			r.Gateway = gateway
		}
		// The table is not told: a host route to an address without gateway
		// is the local or anycast entry of an address.
		if length == 128 && !r.Gateway.IsValid() {
			continue
		}
		routes = append(routes, r)
	}
	return routes
}

// parseLocals reads the local hosts of /proc/net/fib_trie: a leaf "|-- ADDR"
// followed by "/32 host LOCAL". The main and the local table hold the same
// leaves; loopback's are left out.
func parseLocals(text string) []netip.Addr {
	var locals []netip.Addr
	var leaf netip.Addr
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == "|--" {
			leaf, _ = netip.ParseAddr(f[1])
			continue
		}
		if len(f) == 3 && f[0] == "/32" && f[2] == "LOCAL" && leaf.Is4() && !leaf.IsLoopback() && !slices.Contains(locals, leaf) {
			locals = append(locals, leaf)
		}
	}
	return locals
}

// parseAddresses6 reads /proc/net/if_inet6: address, index, length, scope,
// flags, link; the numbers in hexadecimal.
func parseAddresses6(text string) map[string][]netip.Prefix {
	all := make(map[string][]netip.Prefix)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 6 {
			continue
		}
		a, ok := hexAddr6(f[0])
		length, err := strconv.ParseUint(f[2], 16, 8)
		if ok && err == nil && length <= 128 {
			all[f[5]] = append(all[f[5]], netip.PrefixFrom(a, int(length)))
		}
	}
	return all
}
