package hosts

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// secondInterface: a host with two interfaces whose answers leave by the first.
func secondInterface(v *scene.View) {
	for _, h := range v.Hosts {
		for _, p := range scene.SharedSubnets(h) {
			if scene.Physical(p[0].Link) && scene.Physical(p[1].Link) {
				sharedSubnet(v, h, p[0], p[1])
			}
		}
		all := scene.Addresses(h)
		oneDefault(v, h, all)
		tooWide(v, h, all)
		windowsDefault(v, h)
		hostRoutes(v, h)
	}
}

// sharedSubnet: two interfaces in one subnet: Linux answers ARP for either on both,
// and one route sends for both.
func sharedSubnet(v *scene.View, h *piece.Host, a, b scene.Own) {
	if system, _ := h.Get("host", "os"); ruled(h, a.Prefix.Addr()) && ruled(h, b.Prefix.Addr()) || system.Text == "solaris" {
		return
	}
	subnet := a.Prefix.Masked()
	evidence := []record.Evidence{scene.Saw("address of "+a.Link, a.Prefix.String(), a.At), scene.Saw("address of "+b.Link, b.Prefix.String(), b.At)}
	sure, more := 0.78, ""
	for _, p := range h.Paths { // sessions that all begin at one of the two
		if near, err := netip.ParseAddr(p.Local); err == nil && p.Kind == "iscsi" && subnet.Contains(near) {
			more = fmt.Sprintf(" The iSCSI sessions all leave by %s; multipath is not at fault.", a.Link)
			if near == b.Prefix.Addr() {
				more = ""
				break
			}
			sure = 0.9
		}
	}
	if more == "" {
		sure = 0.78
	}
	if e, ok := sentByOne(h, a.Link, b.Link); ok {
		evidence = append(evidence, e)
		sure = 0.9
	}
	system, _ := h.Get("host", "os")
	switch {
	case system.Text == "esxi":
		if len(h.Subjects("vmk"))+len(h.Subjects("lun")) > 0 {
			return // port binding of iSCSI has them in one subnet
		}
		v.Add(record.AsymmetricRoute, 0.6, h, fmt.Sprintf("%s and %s in one subnet", a.Link, b.Link),
			fmt.Sprintf("%s and %s of %s are both in %s, the same subnet: ESXi has one route to it and sends everything by one of them (mostly the first, %s), with its uplink and MTU.", a.Link, b.Link, scene.NameOf(h), subnet, a.Link),
			fmt.Sprintf("Give the storage a subnet and VLAN of its own for %s (on the server too).", b.Link), evidence...)
		return
	case system.Text == "windows":
		v.Add(record.AsymmetricRoute, 0.45, h, fmt.Sprintf("%s and %s in one subnet", a.Link, b.Link),
			fmt.Sprintf("%s and %s of %s are both in %s, the same subnet: the system sends everything to it by one of them.", a.Link, b.Link, scene.NameOf(h), subnet),
			"Put the second adapter into a subnet of its own (on both ends), or disconnect one; SMB multichannel uses both in either case.", evidence...)
		return
	case system.Text == "freebsd" || system.Text == "" && bsdLink(a.Link) && bsdLink(b.Link) && !linuxRoutes(h):
		v.Add(record.AsymmetricRoute, sure, h, fmt.Sprintf("%s and %s in one subnet", a.Link, b.Link),
			fmt.Sprintf("%s and %s of %s are both in %s, the same subnet: FreeBSD has one route to it, by one of them (%s or %s), and all answers leave there, whichever address a client uses.", a.Link, b.Link, scene.NameOf(h), subnet, a.Link, b.Link),
			fmt.Sprintf("Put %s into a subnet of its own (on the clients too), or join the two in a lagg (lacp or loadbalance, with a switch that can).", b.Link), evidence...)
		return
	}
	v.Add(record.AsymmetricRoute, sure, h, fmt.Sprintf("%s and %s in one subnet", a.Link, b.Link),
		fmt.Sprintf("%s and %s of %s are both in %s, the same subnet: Linux answers ARP for both addresses on either (ARP flux), and its one route sends everything by one of them.%s", a.Link, b.Link, scene.NameOf(h), subnet, more),
		fmt.Sprintf("Put the second interface into another subnet (for iSCSI: a subnet for each port); or give each address a routing table and a rule (`ip route add %s dev %s table 102; ip rule add from %s table 102`, the default route too), with `sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2`, and bind iSCSI's ifaces to the links.", b.Prefix.Masked(), b.Link, b.Prefix.Addr()),
		evidence...)
}

// linuxRoutes reports a host whose routes were printed by ip: Linux names cards em1 as well.
func linuxRoutes(h *piece.Host) bool {
	return slices.ContainsFunc(h.Routes, func(r piece.Route) bool { return r.Protocol != "" })
}

// bsdLink reports a name of FreeBSD's Ethernet drivers.
func bsdLink(name string) bool {
	for _, p := range []string{"igb", "ix", "ixl", "ixv", "em", "bge", "bce", "re", "cxl", "cxgb", "cxgbe", "mlxen", "mce", "vtnet", "vmx", "igc", "ice", "ure", "axge", "bnxt"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}

// sentByOne is the evidence that one of two links sends nearly all.
func sentByOne(h *piece.Host, a, b string) (record.Evidence, bool) {
	pair := scene.Bond{Host: h, Ports: []scene.Port{{Name: a}, {Name: b}}}
	if name, part, at, ok := pair.OneSided("tx"); ok {
		return scene.Saw("sent", fmt.Sprintf("%.0f %% by %s", 100*part, name), at), true
	}
	return record.Evidence{}, false
}

// ruled reports a rule for packets from an address.
func ruled(h *piece.Host, a netip.Addr) bool {
	for _, r := range h.Rules {
		if r.Rule.From.IsValid() && r.Rule.From.Contains(a) && r.Rule.From.Bits() > 0 {
			return true
		}
	}
	for from := range h.Facts[givenRules] {
		if p, err := netip.ParsePrefix(from); err == nil && p.Contains(a) && p.Bits() > 0 {
			return true
		}
	}
	return false
}

// givenRules are rules that somebody added, by the prefix of each.
const givenRules = "given rules"

// windowsDefault: the routes of Windows name an interface by its address: one that
// has a network and no default route. Elsewhere than with a provider it is as often a
// network of its own.
func windowsDefault(v *scene.View, h *piece.Host) {
	system, _ := h.Get("host", "os")
	if provider, _ := instanceOf(v, h); system.Text != "windows" || provider.Text == "" {
		return
	}
	var by *piece.Route
	seen := make(map[netip.Addr]piece.Route)
	for i := range h.Routes {
		r := &h.Routes[i]
		near := r.Route.Source
		switch {
		case r.Dst.Bits() == 0 && by != nil && by.Route.Source != near:
			return
		case r.Dst.Bits() == 0:
			by = r
		case near.IsValid() && !near.IsLoopback() && !near.IsLinkLocalUnicast():
			seen[near] = *r
		}
	}
	if by == nil || !by.Route.Source.IsValid() {
		return
	}
	for _, near := range slices.SortedFunc(maps.Keys(seen), netip.Addr.Compare) {
		r := seen[near]
		if near == by.Route.Source || r.Dst.Contains(by.Gateway) {
			continue
		}
		v.Add(record.AsymmetricRoute, 0.82, h, "the second interface ("+near.String()+")",
			fmt.Sprintf("The second interface (%s) has no default route: what comes to it from another subnet finds no route for its answers, for the only gateway is reached by %s.", near, by.Route.Source),
			fmt.Sprintf("Add a default route for it: `route -p add 0.0.0.0 mask 0.0.0.0 GATEWAY metric 5015 if INDEX` with the gateway of %s (its subnet's first address in Azure).", r.Dst),
			scene.Saw("default route", "by "+by.Route.Source.String()+" alone", by.Source), scene.Saw("network", r.Dst.String()+" by "+near.String(), r.Source))
	}
}

// drivers of a provider's own virtual cards.
var cloudDrivers = map[string]string{"ena": "aws", "gve": "gcp"}

// cloudOf is the provider whose instance a host is; false where nothing says so.
func cloudOf(h *piece.Host) (piece.Value, bool) {
	if x, ok := h.Get("host", "cloud"); ok {
		return x, true
	}
	for _, name := range h.Subjects("link") {
		if x, ok := h.Get("link "+name, "driver"); ok && cloudDrivers[x.Text] != "" {
			return piece.Value{Text: cloudDrivers[x.Text], Source: x.Source}, true
		}
	}
	return piece.Value{}, false
}

// cloudFlow: a single flow at the rate that a provider gives one.
func cloudFlow(v *scene.View) {
	type several struct {
		rate unit.BitRate
		seen record.Evidence
	}
	shared := sync.OnceValue(func() (all []several) {
		for _, more := range v.Case.Runs {
			if n := max(len(more.Streams), more.Parallel); n > 1 {
				all = append(all, several{more.Rate, scene.Saw(more.Tool, fmt.Sprintf("%v, %d streams", more.Rate, n), more.Source)})
			}
		}
		return all
	})
	for _, h := range ends(v) {
		provider, _ := instanceOf(v, h)
		if provider.Text != "aws" {
			continue
		}
		for _, r := range v.Case.Runs {
			if max(len(r.Streams), r.Parallel) > 1 || r.Rate < 4.3*unit.Gbps || r.Rate > 5.05*unit.Gbps {
				continue
			}
			sure := 0.75
			evidence := []record.Evidence{scene.Saw("cloud", "AWS ("+provider.Text+")", provider.Source), scene.Saw(r.Tool, r.Rate.String()+", one stream", r.Source)}
			for _, more := range shared() {
				if more.rate > r.Rate*15/10 {
					sure = 0.92
					evidence = append(evidence, more.seen)
				}
			}
			v.Add(record.Shaper, sure, h, "the cloud's limit of a flow",
				fmt.Sprintf("%v is what AWS gives a single flow (5 Gbit/s outside a cluster placement group), whatever the instance's bandwidth is.", r.Rate),
				"Use several flows (two or more streams), or put both instances into one cluster placement group (10 Gbit/s a flow), or use ENA Express.", evidence...)
		}
	}
}

// emptyTables: a rule that sends an address's packets to a table with nothing in it.
func emptyTables(v *scene.View) {
	for _, h := range v.Hosts {
		if len(h.Routes) == 0 {
			continue
		}
		for _, r := range h.Rules {
			if !r.Rule.From.IsValid() || r.Rule.From.Bits() == 0 || r.TableName == "main" || r.TableName == "local" || r.TableName == "default" || r.Table == 254 || r.Table == 255 {
				continue
			}
			full := slices.ContainsFunc(h.Routes, func(t piece.Route) bool {
				return t.Table == r.Table && r.Table != 0 || t.TableName != "" && t.TableName == r.TableName
			})
			if full {
				continue
			}
			name := r.TableName
			if name == "" {
				name = fmt.Sprint(r.Table)
			}
			v.Add(record.AsymmetricRoute, 0.72, h, fmt.Sprintf("table %s of %s", name, scene.NameOf(h)),
				fmt.Sprintf("A rule sends packets from %s to table %s, and no route of that table is here: if it is empty, they fall through to the main table and leave by the first interface's default route.", r.Rule.From, name),
				fmt.Sprintf("Check `ip route show table %s`; if it is empty: `ip route add default via GATEWAY dev LINK table %s` with the second interface's gateway, and the same for its network.", name, name),
				scene.Saw("rule", fmt.Sprintf("from %s lookup %s", r.Rule.From, name), r.Source))
		}
	}
}

// martians: packets that reverse path filtering drops, and one network on two
// interfaces.
func martians(v *scene.View) {
	for _, h := range v.Hosts {
		var by []piece.Route
		type way struct {
			to   netip.Prefix
			link string
		}
		seen := make(map[way]bool)
		for _, r := range h.Routes {
			if seen[way{r.Dst, r.Link}] {
				continue // the same output twice
			}
			seen[way{r.Dst, r.Link}] = true
			if !r.Gateway.IsValid() && r.Dst.IsValid() && r.Dst.Bits() > 0 && r.Dst.Bits() < 32 && r.Link != "" {
				for _, o := range by {
					if o.Dst == r.Dst && o.Link != r.Link {
						sharedRoute(v, h, o, r)
					}
				}
				by = append(by, r)
			}
		}
	}
}

func sharedRoute(v *scene.View, h *piece.Host, a, b piece.Route) {
	sure := 0.75
	evidence := []record.Evidence{scene.Saw("route", a.Dst.String()+" by "+a.Link, a.Source), scene.Saw("route", b.Dst.String()+" by "+b.Link, b.Source)}
	for _, e := range h.Events {
		if strings.Contains(e.Text, "martian") {
			evidence = append(evidence, scene.Saw("log", e.Text, e.Source))
			sure = 0.9
			break
		}
	}
	if x, ok := h.Get("sysctl", "net.ipv4.conf.all.rp_filter"); ok && x.Text == "1" {
		evidence = append(evidence, scene.Saw("rp_filter", x.Text, x.Source))
		sure = max(sure, 0.85)
	}
	v.Add(record.AsymmetricRoute, sure, h, fmt.Sprintf("%s and %s in one subnet", a.Link, b.Link),
		fmt.Sprintf("%s and %s of %s are both in %s, the same subnet: the answers of both addresses leave by %s, and with rp_filter (reverse path) what arrives at the other is dropped as a martian.", a.Link, b.Link, scene.NameOf(h), a.Dst, a.Link),
		fmt.Sprintf("Put the second interface into another subnet, or bond the two; or a rule and a table for each address, with `sysctl -w %s=2` and arp_ignore=1, arp_announce=2.", netstate.LinkSysctl("ipv4", b.Link, "rp_filter")), evidence...)
}

// cloudCap: an instance at what its provider gives it.
func cloudCap(v *scene.View) {
	for _, h := range ends(v) {
		provider, x := instanceOf(v, h)
		if provider.Text == "" || x.Text == "" {
			continue
		}
		caps, err := cloud.Table{}.Caps(cloud.Query{Cloud: netstate.Cloud{Provider: provider.Text, Instance: x.Text}})
		most := caps.Egress.Rate
		if err != nil || most == 0 {
			continue
		}
		for _, r := range v.Case.Runs {
			if r.Rate < most*80/100 || r.Rate > most*105/100 {
				continue
			}
			evidence := []record.Evidence{scene.Saw("instance", x.Text, x.Source), scene.Saw(r.Tool, r.Rate.String(), r.Source)}
			if n, at, ok := spared(v, h); ok && r.Rate > most*97/100 && n == 0 {
				v.Add(record.LineRate, 0.88, h, "none",
					fmt.Sprintf("Nothing is wrong: %v is line rate of this instance (%s: %v), and no allowance of it was exceeded (0).", r.Rate, x.Text, most),
					"More takes a larger instance type.", append(evidence, scene.Saw("allowances exceeded", "0", at))...)
				continue
			}
			v.Add(record.Shaper, 0.88, h, fmt.Sprintf("the instance %s (%s)", x.Text, provider.Text),
				fmt.Sprintf("%v is what %s gives an instance of this size (%s: %v): the platform's limit, whatever the cards say.", r.Rate, provider.Text, x.Text, most),
				"Take a larger size (instance type) with more bandwidth, or spread the traffic over several instances; no setting in the guest helps.", evidence...)
		}
	}
}

// spared is the sum of the allowances that AWS says were exceeded; false where they
// were not read.
func spared(v *scene.View, h *piece.Host) (sum float64, at piece.Source, ok bool) {
	for _, link := range h.Subjects("link") {
		for _, way := range []string{"in", "out"} {
			n, from, read := scene.Number(h, "link "+link, "stat.bw_"+way+"_allowance_exceeded")
			sum, at, ok = sum+n, from, ok || read
		}
	}
	return sum, at, ok
}
