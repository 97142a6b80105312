package pathcheck

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// say writes a finding's sentence and remedy.
func (f *finding) say() {
	e := f.ends[0]
	own := some(f.Own)
	switch f.Kind {
	case NoRoute:
		f.Summary = fmt.Sprintf("no route from %s to %s (%s)", own, e.Peer, reason(e.Route.Why))
		f.Remedy = record.Way{remedy.HostRoute(e.Host, e.Own, e.Peer)}
	case ReversePath:
		f.Summary = fmt.Sprintf("%s drops what arrives for %s: rp_filter is strict there, and the return path to %s leaves by %s", f.Link, own, e.Peer, f.Out)
		f.Remedy = record.Way{record.Sysctl(e.Host.Name, netstate.LinkSysctl("ipv4", f.Link, "rp_filter"), "2")}
	case OneSubnet:
		f.Summary = fmt.Sprintf("%s and %s are in one subnet, and what is sent from %s (on %s) leaves by %s", f.Link, f.Out, own, f.Link, f.Out)
		f.Remedy = remedy.OwnTable(e.Host, f.Own, e.Peer)
	case OtherLink:
		f.Summary = fmt.Sprintf("what is sent from %s (on %s) to %s leaves by %s", own, f.Link, e.Peer, f.Out)
		f.Remedy = remedy.OwnTable(e.Host, f.Own, e.Peer)
	case ARPFlux:
		f.Summary = fmt.Sprintf("%s and %s are in one subnet and either answers ARP for the other's address (%s): what is sent to it may arrive at the wrong one", f.Link, f.Out, own)
		f.Remedy = record.Way{record.Sysctl(e.Host.Name, netstate.LinkSysctl("ipv4", "all", "arp_ignore"), "1"), record.Sysctl(e.Host.Name, netstate.LinkSysctl("ipv4", "all", "arp_announce"), "2")}
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
