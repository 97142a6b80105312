package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// cloudDrivers are those of interfaces that a cloud's fabric looks at: it drops what
// leaves by one with another's address.
var cloudDrivers = []string{"hv_netvsc", "mana", "ena", "gve"}

// returnPaths finds further interfaces whose answers leave by another: what comes to
// them from beyond their subnet is never answered in a cloud, nor by a strict filter.
// Outside a cloud a network without a gateway is as often meant to be one: it is told
// there, and a warning once the filter has dropped something.
func returnPaths(h netstate.Host) []Finding {
	inCloud := h.Cloud != nil || slices.ContainsFunc(h.Links, func(l netstate.Link) bool { return slices.Contains(cloudDrivers, l.Driver) })
	dropped := h.Protocols["TcpExt.IPReversePathFilter"]
	first := defaultLinks(h)
	if len(first) == 0 {
		return nil
	}
	var found []Finding
	for _, l := range h.Links {
		if !l.Up || isLoopback(l) || slices.Contains(first, l.Name) || l.Kind != "" && l.Kind != "veth" && l.VLAN == nil {
			continue
		}
		strict := effective(h, l.Name, "rp_filter") == 1
		if !inCloud && !strict {
			continue
		}
		i := slices.IndexFunc(l.Addresses, func(p netip.Prefix) bool {
			return p.Addr().Is4() && p.Addr().IsGlobalUnicast() && spans(p) && !steered(h, l, p.Addr()) && !rulesFor(h, p.Addr())
		})
		if i < 0 {
			continue
		}
		own, ways := l.Addresses[i], strings.Join(first, ", ")
		f := Finding{
			Kind:     ReturnPath,
			What:     fmt.Sprintf("who asks %s's %s from beyond its subnet gets no answer: it leaves by %s, and the cloud drops it there", l.Name, own.Addr(), ways),
			Severity: Warning,
			Evidence: []record.Evidence{
				diagnose.Fact("default route", ways, "RTM_GETROUTE"),
				diagnose.Fact("rule for "+own.Addr().String(), "none", "RTM_GETRULE"),
			},
			Remedy: fmt.Sprintf("`source_rules: [%s]` in the fabric file, or: ip route add default via GATEWAY dev %s table 100, ip route add %v dev %s table 100, ip rule add from %s table 100", l.Name, l.Name, own.Masked(), l.Name, own.Addr()),
		}
		if strict {
			f.What = fmt.Sprintf("%s drops what comes to %s from beyond its subnet: the return path leaves by %s, and the reverse path filter is strict", l.Name, own.Addr(), ways)
		}
		switch {
		case inCloud:
		case dropped == 0:
			f.Severity = Info
		default:
			f.Evidence = append(f.Evidence, diagnose.Fact("packets dropped", strconv.FormatUint(dropped, 10), "IPReversePathFilter of /proc/net/netstat"))
		}
		if len(h.Rules) == 0 { // a running kernel has three
			f.Severity, f.Evidence[1] = Info, diagnose.Fact("rules", "not read: one for "+own.Addr().String()+" would lead them back", "RTM_GETRULE")
		}
		found = append(found, f)
	}
	return found
}

// defaultLinks are the links of the host's best default route for IPv4.
func defaultLinks(h netstate.Host) []string {
	best := -1
	var links []string
	for _, r := range defaultRoutes(h) {
		if best >= 0 && r.Metric > best {
			continue
		}
		if r.Metric < best || best < 0 {
			best, links = r.Metric, nil
		}
		links = append(links, r.Link)
		for _, hop := range r.Hops {
			links = append(links, hop.Link)
		}
	}
	return slices.DeleteFunc(links, func(name string) bool { return name == "" })
}

// platformRoutes finds routes that send the platform's own address by a further
// interface, where nothing answers.
func platformRoutes(h netstate.Host) []Finding {
	first := defaultLinks(h)
	if len(first) == 0 {
		return nil
	}
	var found []Finding
	for _, r := range h.Routes {
		if r.Type != "" || r.Table != 0 && r.Table != mainTable || !r.Dst.IsValid() || !r.Dst.IsSingleIP() || r.Dst.Addr() != cloud.WireServer || slices.Contains(first, r.Link) || r.Link == "" {
			continue
		}
		found = append(found, Finding{
			Kind:     HostRoute,
			What:     fmt.Sprintf("%s, an address of Azure's own, is asked by %s and answers by %s alone, which has the default route", cloud.WireServer, r.Link, strings.Join(first, ", ")),
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact("route to "+cloud.WireServer.String(), r.Link, "RTM_GETROUTE"), diagnose.Fact("default route", strings.Join(first, ", "), "RTM_GETROUTE")},
			Remedy:   fmt.Sprintf("ip route del %s dev %s, and keep DHCP on %s from adding it again", cloud.WireServer, r.Link, r.Link),
		})
	}
	return found
}
