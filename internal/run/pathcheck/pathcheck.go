// Package pathcheck judges where two hosts' kernels would send the packets of
// a lane, before one is sent: traffic that leaves by another link than the one
// with its address, two links in one subnet, answers that the reverse
// path filter would drop, no route at all; and it has the lines that repair it.
// It must never ask a kernel itself. Don't guess a setting that was not read.
package pathcheck

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// End is one host's end of a lane and where its kernel sends from it.
type End struct {
	Host      netstate.Host
	Own, Peer netip.Addr
	Route     netstate.FlowRoute
}

// Kind is what is wrong.
type Kind string

// The kinds of problem, the gravest first.
const (
	NoRoute     Kind = "no-route"     // the kernel refuses to send
	ReversePath Kind = "reverse-path" // rp_filter drops what arrives
	OneSubnet   Kind = "one-subnet"   // two links in one subnet: one of them carries all
	OtherLink   Kind = "other-link"   // leaves by another link than the address's
	ARPFlux     Kind = "arp-flux"     // either link answers for either address
)

var kinds = [...]Kind{NoRoute, ReversePath, OneSubnet, OtherLink, ARPFlux}

// Problem is one thing that is wrong on one host.
type Problem struct {
	Kind Kind
	Host string
	// Link is the one that should carry the traffic, Out the one that does;
	// of ARPFlux the two that answer for each other.
	Link, Out string
	// Own are the host's addresses that it concerns.
	Own []netip.Addr
	// Summary is one sentence; Remedy what mends it on the host.
	Summary string
	Remedy  record.Way
}

// Stops reports a problem with which nothing gets through.
func (p Problem) Stops() bool { return p.Kind == NoRoute || p.Kind == ReversePath }

// Misleads reports a problem that makes a result another link's.
func (p Problem) Misleads() bool { return p.Kind == OneSubnet || p.Kind == OtherLink }

// String is the summary with host and remedy in one line.
func (p Problem) String() string {
	if len(p.Remedy) == 0 {
		return p.Host + ": " + p.Summary
	}
	return fmt.Sprintf("%s: %s; remedy on %s: %s", p.Host, p.Summary, p.Host, strings.Join(p.Lines(), " && "))
}

// Lines are the remedy's commands as they are typed on the host.
func (p Problem) Lines() []string {
	var out []string
	for _, a := range p.Remedy {
		out = append(out, cmp.Or(a.Line(), "# and "+a.Ask))
	}
	return out
}

// Check returns what is wrong with the ends, the gravest first, each thing
// once however many lanes it concerns.
func Check(ends []End) []Problem {
	var found findings
	for _, e := range ends {
		if !e.Own.IsValid() || !e.Peer.IsValid() {
			continue
		}
		found.check(e)
	}
	slices.SortStableFunc(found, func(a, b finding) int { return slices.Index(kinds[:], a.Kind) - slices.Index(kinds[:], b.Kind) })
	var out []Problem
	for _, f := range found {
		f.say()
		out = append(out, f.Problem)
	}
	return out
}

// finding is a problem with what its words are made of.
type finding struct {
	Problem
	ends []End
}

type findings []finding

func (f *findings) add(kind Kind, e End, link, out string) {
	for i := range *f {
		have := &(*f)[i]
		if have.Kind != kind || have.Host != e.Host.Name || have.Link != link || have.Out != out {
			continue
		}
		have.ends = append(have.ends, e)
		if !slices.Contains(have.Own, e.Own) {
			have.Own = append(have.Own, e.Own)
		}
		return
	}
	*f = append(*f, finding{Problem{Kind: kind, Host: e.Host.Name, Link: link, Out: out, Own: []netip.Addr{e.Own}}, []End{e}})
}

func (f *findings) check(e End) {
	holder, ok := e.Host.LinkWith(e.Own)
	if !ok || holder.Kind == "loopback" { // an address of the host itself may leave by any link
		return
	}
	if e.Route.Link == "" {
		f.add(NoRoute, e, holder.Name, "")
		return
	}
	if e.Route.Link != holder.Name && !spreadOver(e.Host, e.Peer, holder.Name) {
		kind := OtherLink
		if out, ok := e.Host.Link(e.Route.Link); ok && covers(out, e.Peer) && covers(holder, e.Peer) {
			kind = OneSubnet
		}
		f.add(kind, e, holder.Name, e.Route.Link)
		if e.Own.Is4() && setting(e.Host, holder.Name, "rp_filter") == 1 {
			f.add(ReversePath, e, holder.Name, e.Route.Link)
		}
	}
	for _, other := range e.Host.Links {
		if answersFor(e.Host, other, holder, e.Own) {
			f.add(ARPFlux, e, min(holder.Name, other.Name), max(holder.Name, other.Name))
		}
	}
}

// covers reports whether a subnet of the link holds the address.
func covers(l netstate.Link, a netip.Addr) bool {
	return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Masked().Contains(a) })
}

// spreadOver reports a multipath route to the peer with a leg on the link: its
// flows take any leg, and the reverse path filter takes any too.
func spreadOver(h netstate.Host, peer netip.Addr, link string) bool {
	best := -1
	spread := false
	for _, r := range h.Routes {
		if r.Type != "" || !r.Dst.IsValid() || !r.Dst.Contains(peer) || r.Dst.Bits() < best {
			continue
		}
		leg := slices.ContainsFunc(r.Hops, func(n netstate.NextHop) bool { return n.Link == link })
		if r.Dst.Bits() > best {
			spread = false
		}
		best, spread = r.Dst.Bits(), spread || leg
	}
	return spread
}

// answersFor reports that the other link answers ARP for an address of the
// holder, which is in a subnet of its own too (arp_ignore and arp_filter of
// the link that the question arrives on, net/ipv4/arp.c arp_process).
func answersFor(h netstate.Host, other, holder netstate.Link, own netip.Addr) bool {
	if !own.Is4() || other.Name == holder.Name || !other.Up || other.Kind == "loopback" || !covers(other, own) {
		return false
	}
	return setting(h, other.Name, "arp_ignore") == 0 && setting(h, other.Name, "arp_filter") == 0
}

// setting is what holds for a link: the larger of its own and of "all"
// (IN_DEV_MAXCONF and, for arp_filter, IN_DEV_ORCONF, include/linux/inetdevice.h);
// negative where neither was observed.
func setting(h netstate.Host, link, name string) int64 {
	value := int64(-1)
	for _, at := range []string{"all", link} {
		if v := h.SysctlInts(netstate.LinkSysctl("ipv4", at, name)); len(v) == 1 {
			value = max(value, v[0])
		}
	}
	return value
}
