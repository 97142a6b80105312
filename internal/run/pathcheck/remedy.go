package pathcheck

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// say writes a finding's sentence and remedy.
func (f *finding) say() {
	e := f.ends[0]
	own := some(f.Own)
	switch f.Kind {
	case NoRoute:
		f.Summary = fmt.Sprintf("no route from %s to %s (%s)", own, e.Peer, reason(e.Route.Why))
		f.Remedy = []string{hostRoute(e)}
	case ReversePath:
		f.Summary = fmt.Sprintf("%s drops what arrives for %s: rp_filter is strict there, and the return path to %s leaves by %s", f.Link, own, e.Peer, f.Out)
		f.Remedy = []string{"sysctl -w " + key(f.Link, "rp_filter") + "=2"}
	case OneSubnet:
		f.Summary = fmt.Sprintf("%s and %s are in one subnet, and what is sent from %s (on %s) leaves by %s", f.Link, f.Out, own, f.Link, f.Out)
		f.Remedy = f.ownTable()
	case OtherLink:
		f.Summary = fmt.Sprintf("what is sent from %s (on %s) to %s leaves by %s", own, f.Link, e.Peer, f.Out)
		f.Remedy = f.ownTable()
	case ARPFlux:
		f.Summary = fmt.Sprintf("%s and %s are in one subnet and either answers ARP for the other's address (%s): what is sent to it may arrive at the wrong one", f.Link, f.Out, own)
		f.Remedy = []string{"sysctl -w " + key("all", "arp_ignore") + "=1", "sysctl -w " + key("all", "arp_announce") + "=2"}
	}
	if e.Route.Doubt != "" && f.Misleads() {
		f.Summary += " (not sure: " + e.Route.Doubt + ")"
	}
}

func reason(why string) string {
	if why == "" {
		return "the kernel names no reason"
	}
	return why
}

// some names the first addresses and counts the rest.
func some(all []netip.Addr) string {
	const most = 2
	var names []string
	for i, a := range all {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(all)-most))
			break
		}
		names = append(names, a.String())
	}
	return strings.Join(names, ", ")
}

// ip is the command for the address's family.
func ip(a netip.Addr) string {
	if a.Is4() {
		return "ip"
	}
	return "ip -6"
}

// hostRoute leads to the peer by the link that holds the own address.
func hostRoute(e End) string {
	holder, _ := e.Host.LinkWith(e.Own)
	line := fmt.Sprintf("%s route add %s", ip(e.Peer), netip.PrefixFrom(e.Peer, e.Peer.BitLen()))
	if gw := gateway(e.Host, holder); gw.IsValid() {
		line += " via " + gw.String()
	}
	return fmt.Sprintf("%s dev %s src %s", line, holder.Name, e.Own)
}

// gateway is a next hop that some route uses on the link; not valid where none
// does.
func gateway(h netstate.Host, l netstate.Link) netip.Addr {
	for _, r := range h.Routes {
		if r.Link == l.Name && r.Gateway.IsValid() && covers(l, r.Gateway) {
			return r.Gateway
		}
	}
	return netip.Addr{}
}

// ownTable gives the own addresses a routing table of their own, so that what
// is sent from them leaves by their link.
func (f *finding) ownTable() []string {
	e := f.ends[0]
	holder, _ := e.Host.LinkWith(e.Own)
	table := freeTable(e.Host, holder)
	var lines []string
	for _, p := range holder.Addresses {
		if p.Addr() == e.Own && p.Masked().Contains(e.Peer) {
			lines = append(lines, fmt.Sprintf("%s route add %s dev %s src %s table %d", ip(e.Own), p.Masked(), holder.Name, e.Own, table))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, hostRoute(e)+fmt.Sprintf(" table %d", table))
	}
	const most = 4 // rules shown; the rest is like them
	for i, own := range f.Own {
		if i == most {
			lines = append(lines, fmt.Sprintf("# and %d more rules like these", len(f.Own)-most))
			break
		}
		lines = append(lines, fmt.Sprintf("%s rule add from %s table %d", ip(own), own, table))
	}
	return lines
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
