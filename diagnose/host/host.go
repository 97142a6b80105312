// Package host says what is wrong with a host (Judge), or between two hosts
// (Pairs), whatever is measured: faults, settings that cost throughput, choices
// to know about. kinds.go lists what can be found; tunables are judged in one
// table, sysctl.go. It must never say what limits a measured result: that is
// package trial's.
package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// Severity says how much a finding about a host matters.
type Severity string

// The severities, worst first.
const (
	// Fault: links that should carry traffic do not, or frames are lost.
	Fault Severity = "fault"
	// Warning: it works, and cannot give what the links could.
	Warning Severity = "warning"
	// Info: a choice to know about.
	Info Severity = "info"
)

// Severities lists them, worst first.
func Severities() []Severity { return []Severity{Fault, Warning, Info} }

// Finding is one thing about a host's state that costs or risks
// throughput, whatever is measured.
type Finding struct {
	// Kind is the finding's own word, the same for all of its sort
	// ("bond-port-down"); Kinds lists them.
	Kind string `json:"kind"`
	// Hosts are the two that it is about; nil: the one that was judged.
	Hosts    []string          `json:"hosts,omitempty"`
	What     string            `json:"what"`
	Severity Severity          `json:"severity"`
	Evidence []record.Evidence `json:"evidence"`
	Remedy   string            `json:"remedy"`
}

// hostRules are what is looked for in a host, in the order it is said.
var hostRules = [...]func(netstate.Host) []Finding{
	bonds, portsMisused, foreignBondAddress, dividedOwners, tunedElsewhere,
	slowLinks, brokenCables, offloadsOff, mergedWhileForwarding, droppingRings, pausedLinks, cappedLinks, largeVLANs,
	sharedSubnets, returnPaths, platformRoutes, strictFilters, looseARP, futureOnly,
	narrowSlots, poorSlots, oneCore, farInterrupts, slowGovernor, backlogs,
	leftShapers, unpacedQueues, multipaths, mptcpEndpoints, judgeSysctls,
}

// Judge judges one host's state alone, worst findings first; never nil. What
// is unknown gives no finding.
func Judge(h netstate.Host) []Finding {
	found := []Finding{}
	for _, rule := range hostRules {
		found = append(found, rule(h)...)
	}
	found = elsewhere(h, found)
	worstFirst(found)
	return found
}

func worstFirst(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return slices.Index(Severities(), a.Severity) - slices.Index(Severities(), b.Severity)
	})
}

const (
	fromAddresses = "RTM_GETADDR"
	mainTable     = 254 // RT_TABLE_MAIN, include/uapi/linux/rtnetlink.h
	localTable    = 255 // RT_TABLE_LOCAL
)

// sharedSubnets finds subnets in which several links have an address: all
// traffic leaves by the link of the first route, and every link answers ARP
// for every address (arp_ignore 0, net/ipv4/arp.c arp_ignore). Links whose
// traffic rules or routes of their own steer are meant that way.
func sharedSubnets(h netstate.Host) []Finding {
	var subnets []netip.Prefix
	members, apart := map[netip.Prefix][]string{}, map[netip.Prefix][]string{}
	evidence := map[netip.Prefix][]record.Evidence{}
	for _, l := range h.Links {
		if master, _ := h.Link(l.Master); master.Kind == "vrf" {
			continue // routed apart from the others
		}
		for _, a := range l.Addresses {
			if !l.Up || !spans(a) {
				continue
			}
			subnet := a.Masked()
			if steered(h, l, a.Addr()) {
				apart[subnet] = append(apart[subnet], l.Name)
				continue
			}
			if slices.Contains(members[subnet], l.Name) {
				continue
			}
			if members[subnet] == nil {
				subnets = append(subnets, subnet)
			}
			members[subnet] = append(members[subnet], l.Name)
			evidence[subnet] = append(evidence[subnet], diagnose.Fact("address of "+l.Name, a.String(), fromAddresses))
		}
	}
	var found []Finding
	for _, subnet := range subnets {
		links := members[subnet]
		if len(links) < 2 {
			if first := firstOn(h, subnet); len(apart[subnet]) > 0 && first != "" && first != links[0] {
				found = append(found, halfSteered(links[0], first, subnet, evidence[subnet]))
			}
			continue
		}
		if s, ok := h.Sysctls["net.ipv4.conf.all.arp_ignore"]; ok && subnet.Addr().Is4() {
			evidence[subnet] = append(evidence[subnet], diagnose.Fact("net.ipv4.conf.all.arp_ignore", s.Value, "/proc/sys/net/ipv4/conf/all/arp_ignore"))
		}
		found = append(found, Finding{
			Kind: SharedSubnet,
			What: fmt.Sprintf("%s are all in %s: traffic to it leaves by one of them, and each answers ARP for the others",
				strings.Join(links, ", "), subnet),
			Severity: Warning, Evidence: evidence[subnet],
			Remedy: "bond the links, give each a subnet of its own, or give each a routing rule and table of its own and set arp_ignore=1 and arp_announce=2",
		})
	}
	return found
}

// halfSteered is a link without a rule for its address beside others in its subnet that
// have one: the main table sends by the first route of the subnet, which is another's.
func halfSteered(link, first string, subnet netip.Prefix, evidence []record.Evidence) Finding {
	return Finding{
		Kind:     SharedSubnet,
		What:     fmt.Sprintf("what %s's address sends to %s leaves by %s: others there have rules of their own, and it has none", link, subnet, first),
		Severity: Warning, Evidence: append(evidence, diagnose.Fact("first route to "+subnet.String(), first, "RTM_GETROUTE")),
		Remedy: fmt.Sprintf("a routing table and a rule for %s's address too, as the others have, or a lower metric for its route", link),
	}
}

// spans reports an address whose network can hold other hosts.
func spans(p netip.Prefix) bool {
	a := p.Addr()
	return !p.IsSingleIP() && !a.IsLoopback() && !a.IsLinkLocalUnicast()
}

// steered reports a link whose traffic is told apart from its neighbours': by
// a rule for its address, or by a route to a single host of its own.
func steered(h netstate.Host, l netstate.Link, a netip.Addr) bool {
	for _, r := range h.Rules {
		if r.From.IsValid() && r.From.Contains(a) && r.From.IsSingleIP() && r.Table != mainTable && r.Table != localTable {
			return true
		}
	}
	for _, r := range h.Routes {
		if r.Link == l.Name && r.Table != localTable && r.Type == "" && r.Dst.IsValid() && r.Dst.IsSingleIP() {
			return true
		}
	}
	return false
}
