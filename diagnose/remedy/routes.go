package remedy

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// HostRoute leads from the host's own address to the peer by the link that holds the
// own one.
func HostRoute(h netstate.Host, own, peer netip.Addr) record.Action {
	return record.Run(h.Name, hostRoute(h, own, peer)...)
}

func hostRoute(h netstate.Host, own, peer netip.Addr) []string {
	holder, _ := h.LinkWith(own)
	argv := ip(peer, "route", "add", netip.PrefixFrom(peer, peer.BitLen()).String())
	if gw := gateway(h, holder); gw.IsValid() {
		argv = append(argv, "via", gw.String())
	}
	return append(argv, "dev", holder.Name, "src", own.String())
}

// UnlikeWeights are those of the next hops of a route, by link, where the links are equally
// fast and the weights not equal; else nil.
func UnlikeWeights(h netstate.Host, hops []netstate.NextHop) map[string]int {
	out, unlike := map[string]int{}, false
	var speed unit.BitRate
	for _, hop := range hops {
		l, ok := h.Link(hop.Link)
		if !ok || hop.Dead || l.Speed <= 0 || speed > 0 && l.Speed != speed {
			return nil
		}
		speed = l.Speed
		out[hop.Link] = max(hop.Weight, 1)
		unlike = unlike || out[hop.Link] != out[hops[0].Link]
	}
	if !unlike || len(out) < len(hops) {
		return nil
	}
	return out
}

// EvenHops gives the next hops of a route of the host one weight: the same command again
// with others. It is asked of a person where a routing daemon keeps the route, where it names
// a nexthop object, and where it has attributes that the command would lose.
func EvenHops(h netstate.Host, r netstate.Route) record.Way {
	if r.Object != 0 || len(r.Extra) > 0 || !slices.Contains([]string{"", "boot", "static"}, r.Protocol) {
		return record.Way{record.Ask(fmt.Sprintf("give the next hops of the route to %s on %s one weight, where it is kept (`ip route show %[1]s`)", r.Dst, h.Name))}
	}
	r.Hops = slices.Clone(r.Hops)
	for i := range r.Hops {
		r.Hops[i].Weight = 1
	}
	return record.Way{record.Run(h.Name, ip(r.Dst.Addr(), append([]string{"route", "replace"}, strings.Fields(r.Words(nil))...)...)...)}
}

// mostRules are shown of as many addresses; the rest is like them.
const mostRules = 4

// OwnTable gives own addresses of one link of the host a routing table of their own,
// so that what is sent from them to the peer leaves by that link. A table that does so
// already and lacks only the rules is taken.
func OwnTable(h netstate.Host, own []netip.Addr, peer netip.Addr) record.Way {
	if len(own) == 0 {
		return nil
	}
	holder, _ := h.LinkWith(own[0])
	var w record.Way
	table := ownTable(h, holder, peer)
	if table == 0 {
		table = freeTable(h, holder)
		for _, p := range holder.Addresses {
			if p.Addr() == own[0] && p.Masked().Contains(peer) {
				w = append(w, record.Run(h.Name, ip(own[0], "route", "add", p.Masked().String(), "dev", holder.Name, "src", own[0].String(), "table", strconv.Itoa(table))...))
			}
		}
		if len(w) == 0 {
			w = append(w, record.Run(h.Name, append(hostRoute(h, own[0], peer), "table", strconv.Itoa(table))...))
		}
	}
	for i, a := range own {
		if i == mostRules {
			w = append(w, record.Ask(fmt.Sprintf("%d more rules like these", len(own)-mostRules)))
			break
		}
		w = append(w, record.Run(h.Name, ip(a, "rule", "add", "from", a.String(), "table", strconv.Itoa(table))...))
	}
	return w
}

// ip is the command for the address's family.
func ip(a netip.Addr, words ...string) []string {
	if a.Is4() {
		return append([]string{"ip"}, words...)
	}
	return append([]string{"ip", "-6"}, words...)
}

// gateway is a next hop that some route uses on the link; not valid where none
// does.
func gateway(h netstate.Host, l netstate.Link) netip.Addr {
	for _, r := range h.Routes {
		if r.Link == l.Name && r.Gateway.IsValid() && slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Masked().Contains(r.Gateway) }) {
			return r.Gateway
		}
	}
	return netip.Addr{}
}

// ownTable is a table whose only way to the peer is by the link; zero none.
func ownTable(h netstate.Host, holder netstate.Link, peer netip.Addr) int {
	by := map[int]bool{} // of tables with a way to the peer: all of it by the link
	for _, r := range h.Routes {
		if r.Table == 0 || r.Table >= 253 && r.Table <= 255 || r.Type != "" || !r.Dst.IsValid() || !r.Dst.Contains(peer) {
			continue
		}
		only, seen := by[r.Table]
		by[r.Table] = (only || !seen) && r.Link == holder.Name
	}
	for _, table := range slices.Sorted(maps.Keys(by)) {
		if by[table] {
			return table
		}
	}
	return 0
}

// firstTable is where tables of our remedies begin; the kernel's own are 253
// to 255 (include/uapi/linux/rtnetlink.h).
const firstTable = 100

// freeTable is a table number that nothing uses, another for every link.
func freeTable(h netstate.Host, holder netstate.Link) int {
	used := make(map[int]bool)
	for _, r := range h.Routes {
		used[r.Table] = true
	}
	for _, r := range h.Rules {
		used[r.Table] = true
	}
	n := firstTable
	for _, l := range h.Links {
		for used[n] || n >= 253 && n <= 255 {
			n++
		}
		if l.Name == holder.Name {
			break
		}
		n++
	}
	for used[n] || n >= 253 && n <= 255 {
		n++
	}
	return n
}
