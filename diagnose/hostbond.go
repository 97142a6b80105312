package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// bondView is one bond of a host with its ports, in enslave order.
type bondView struct {
	host  netstate.Host
	link  netstate.Link
	ports []netstate.Link
}

func portsOf(h netstate.Host, bond netstate.Link) []netstate.Link {
	var ports []netstate.Link
	for _, name := range bond.Bond.Ports {
		if l, ok := h.Link(name); ok {
			ports = append(ports, l)
		}
	}
	return ports
}

// bondRules are what is looked for in each bond, in the order it is said.
var bondRules = [...]func(bondView) (HostFinding, bool){
	bondView.portDown, bondView.noPartner, bondView.twoPartners, bondView.outside, bondView.unwatched, bondView.portMTU,
	bondView.churned, bondView.flapping, bondView.onePolicyLink, bondView.unequal, bondView.delays, bondView.minLinks,
}

// bonds judges each bond of a host.
func bonds(h netstate.Host) []HostFinding {
	var found []HostFinding
	for _, l := range h.Links {
		if l.Bond == nil {
			continue
		}
		b := bondView{h, l, portsOf(h, l)}
		for _, rule := range bondRules {
			if f, ok := rule(b); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

func portNames(ports []netstate.Link) string {
	names := make([]string, len(ports))
	for i, p := range ports {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// portDown: ports that the bond does not use because they are down.
func (b bondView) portDown() (HostFinding, bool) {
	var down []netstate.Link
	var evidence []record.Evidence
	for _, p := range b.ports {
		switch {
		case !p.Up:
			evidence = append(evidence, fact(p.Name, "administratively down", "IFF_UP of RTM_GETLINK"))
		case !p.Carrier:
			evidence = append(evidence, fact(p.Name, "no carrier", "IFF_LOWER_UP of RTM_GETLINK"))
		case p.Port != nil && !p.Port.MIIUp:
			evidence = append(evidence, fact(p.Name, "the bond believes it is down", "IFLA_BOND_SLAVE_MII_STATUS"))
		default:
			continue
		}
		down = append(down, p)
	}
	if !b.link.Up || len(down) == 0 {
		return HostFinding{}, false
	}
	return HostFinding{
		Kind:     BondPortDown,
		What:     fmt.Sprintf("%s runs on %d of %d ports: %s is down", b.link.Name, len(b.ports)-len(down), len(b.ports), portNames(down)),
		Severity: Fault, Evidence: evidence, Remedy: "check the cable, the optic and the switch port, or set the port up",
	}, true
}

// lacp is the active aggregator of a bond that is up in mode 802.3ad; false
// when it is another mode or was not read.
func (b bondView) lacp() (netstate.Aggregator, bool) {
	if b.link.Bond.Mode != netstate.LACP || !b.link.Up || b.link.Bond.AD == nil || b.link.Bond.AD.ID == 0 {
		return netstate.Aggregator{}, false
	}
	return *b.link.Bond.AD, true
}

// noPartner: nobody answers LACP, so each port is an aggregator of its own
// and one of them carries everything (ad_agg_selection_logic,
// drivers/net/bonding/bond_3ad.c).
func (b bondView) noPartner() (HostFinding, bool) {
	ad, ok := b.lacp()
	if !ok || !ad.PartnerMAC.IsZero() || !slices.ContainsFunc(b.ports, func(p netstate.Link) bool { return p.Carrier }) {
		return HostFinding{}, false
	}
	return HostFinding{
		Kind:     BondNoPartner,
		What:     fmt.Sprintf("no LACP partner answers %s: only one of its %d ports is used", b.link.Name, len(b.ports)),
		Severity: Fault,
		Evidence: []record.Evidence{
			fact("partner of the active aggregator", "00:00:00:00:00:00", "IFLA_BOND_AD_INFO_PARTNER_MAC"),
			fact("ports in the active aggregator", fmt.Sprint(ad.Ports), "IFLA_BOND_AD_INFO_NUM_PORTS"),
		},
		Remedy: "configure the switch ports of this bond as one LACP group (mode active), all in the same VLANs",
	}, true
}

// outside: ports with carrier that are in another aggregator than the active
// one carry nothing.
func (b bondView) outside() (HostFinding, bool) {
	ad, ok := b.lacp()
	if _, two := b.twoPartners(); !ok || ad.PartnerMAC.IsZero() || two {
		return HostFinding{}, false
	}
	var out []netstate.Link
	evidence := []record.Evidence{fact("active aggregator of "+b.link.Name, fmt.Sprint(ad.ID), "IFLA_BOND_AD_INFO_AGGREGATOR")}
	for _, p := range b.ports {
		if p.Port == nil || p.Port.AggregatorID == 0 || p.Port.AggregatorID == ad.ID || !p.Carrier {
			continue
		}
		out = append(out, p)
		evidence = append(evidence, fact("aggregator of "+p.Name, fmt.Sprint(p.Port.AggregatorID), "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID"))
	}
	if len(out) == 0 {
		return HostFinding{}, false
	}
	return HostFinding{
		Kind:     BondPortOutside,
		What:     fmt.Sprintf("%s carries nothing: outside the active aggregator of %s", portNames(out), b.link.Name),
		Severity: Fault, Evidence: evidence,
		Remedy: "put all switch ports of the bond into one LACP group of one switch (or of one MLAG pair), at one speed",
	}, true
}

// unwatched: without link monitoring a dead port keeps its share of the
// flows. 802.3ad, balance-tlb and balance-alb force it on
// (bond_option_mode_set, drivers/net/bonding/bond_options.c, sets 100 ms).
func (b bondView) unwatched() (HostFinding, bool) {
	arp := b.link.Bond.Options["arp_interval"]
	if len(b.ports) == 0 || b.link.Bond.Miimon != 0 || b.link.Bond.Unread("miimon") || arp != "" && arp != "0" {
		return HostFinding{}, false
	}
	return HostFinding{
		Kind:     BondUnwatched,
		What:     fmt.Sprintf("%s does not watch its ports: a dead link keeps its flows", b.link.Name),
		Severity: Fault,
		Evidence: []record.Evidence{fact("miimon", "0", "IFLA_BOND_MIIMON"), fact("arp_interval", orUnset(arp), "IFLA_BOND_ARP_INTERVAL")},
		Remedy:   fmt.Sprintf("echo 100 > /sys/class/net/%s/bonding/miimon, and mii-monitor-interval: 100 in the configuration", b.link.Name),
	}, true
}

func orUnset(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

// portMTU: a port with another MTU than its bond. The driver sets the ports
// to the bond's (bond_change_mtu), so somebody changed one alone.
func (b bondView) portMTU() (HostFinding, bool) {
	var other []netstate.Link
	evidence := []record.Evidence{fact("MTU of "+b.link.Name, fmt.Sprint(b.link.MTU), "IFLA_MTU")}
	f := HostFinding{Kind: BondPortMTU, Severity: Warning}
	for _, p := range b.ports {
		if p.MTU == b.link.MTU || p.MTU == 0 || b.link.MTU == 0 {
			continue
		}
		if p.MTU < b.link.MTU {
			f.Severity = Fault // its frames of the bond's size are dropped
		}
		other = append(other, p)
		evidence = append(evidence, fact("MTU of "+p.Name, fmt.Sprint(p.MTU), "IFLA_MTU"))
	}
	f.What = fmt.Sprintf("%s has another MTU than %s", portNames(other), b.link.Name)
	f.Evidence, f.Remedy = evidence, fmt.Sprintf("ip link set %s mtu %d, which sets its ports too", b.link.Name, b.link.MTU)
	return f, len(other) > 0
}

// onePolicyLink: the hash reads nothing in which flows to one peer differ.
func (b bondView) onePolicyLink() (HostFinding, bool) {
	bundle, err := steer.BundleOf(b.host, b.link.Name)
	addresses := b.addresses()
	if err != nil || !b.link.Bond.Mode.Hashes() || b.link.Bond.HashPolicy == netstate.PolicyUnread || len(b.ports) < 2 || len(addresses) == 0 {
		return HostFinding{}, false
	}
	bundle.Ports = b.link.Bond.Ports // what it does once all are usable
	reach := bundle.Reach()
	if reach.Ports || reach.Addresses && aliases(addresses) {
		return HostFinding{}, false
	}
	f := HostFinding{
		Kind:     BondOneLink,
		What:     fmt.Sprintf("%s sends all traffic to one peer on one of its %d links, whatever the number of streams", b.link.Name, len(b.ports)),
		Severity: Warning,
		Evidence: []record.Evidence{
			fact("transmit hash policy of "+b.link.Name, b.link.Bond.HashPolicy.String()+": "+reach.Why, fromBond),
			fact("addresses on "+b.link.Name, joined(addresses), fromAddresses),
		},
		Remedy: fmt.Sprintf("echo layer3+4 > /sys/class/net/%s/bonding/xmit_hash_policy (the bond may stay up), or let `linerate tune` do and prove it; the switch hashes the way back with a policy of its own", b.link.Name),
	}
	if gateway, ok := b.gateway(); ok && !reach.Addresses {
		f.Kind = BondLayer2Gateway
		f.What = fmt.Sprintf("%s sends all traffic that passes the gateway %s on one of its %d links, and so all to one peer: the policy reads nothing beyond MAC addresses", b.link.Name, gateway, len(b.ports))
		f.Evidence = append(f.Evidence, fact("route over "+b.link.Name, "via "+gateway.String(), "RTM_GETROUTE"))
	}
	return f, true
}

// gateway is the next hop of a route that leaves by the bond, or by a VLAN or
// bridge over it.
func (b bondView) gateway() (netip.Addr, bool) {
	over := b.over()
	for _, r := range b.host.Routes {
		if r.Type == "" && r.Gateway.IsValid() && slices.Contains(over, r.Link) {
			return r.Gateway, true
		}
	}
	return netip.Addr{}, false
}

// aliases reports several addresses in one subnet: lanes to the same peer.
func aliases(addresses []netip.Prefix) bool {
	seen := map[netip.Prefix]bool{}
	for _, p := range addresses {
		if seen[p.Masked()] {
			return true
		}
		seen[p.Masked()] = true
	}
	return false
}

// addresses are those of the bond, of the VLANs on it and of bridges over it,
// without link-local ones: the IPv4 ones where there are any.
func (b bondView) addresses() []netip.Prefix {
	var v4, v6 []netip.Prefix
	for _, name := range b.over() {
		l, _ := b.host.Link(name)
		for _, p := range l.Addresses {
			switch {
			case p.Addr().IsLinkLocalUnicast():
			case p.Addr().Is4():
				v4 = append(v4, p)
			default:
				v6 = append(v6, p)
			}
		}
	}
	if len(v4) > 0 {
		return v4
	}
	return v6
}

// over names the bond, the VLANs on it and bridges over it.
func (b bondView) over() []string {
	over := []string{b.link.Name}
	for i := 0; i < len(over); i++ {
		self, _ := b.host.Link(over[i])
		for _, l := range b.host.Links {
			rides := l.VLAN != nil && l.VLAN.Parent == self.Name || l.Kind == "bridge" && self.Master == l.Name
			if rides && !slices.Contains(over, l.Name) {
				over = append(over, l.Name)
			}
		}
	}
	return over
}

func joined(prefixes []netip.Prefix) string {
	texts := make([]string, len(prefixes))
	for i, p := range prefixes {
		texts[i] = p.String()
	}
	return strings.Join(texts, ", ")
}

// unequal: flows are spread evenly, so the slowest port limits its share.
// 802.3ad does not aggregate ports of different speeds at all.
func (b bondView) unequal() (HostFinding, bool) {
	speeds := map[unit.BitRate]bool{}
	var evidence []record.Evidence
	for _, p := range b.ports {
		if p.Speed > 0 {
			speeds[p.Speed] = true
			evidence = append(evidence, fact("speed of "+p.Name, p.Speed.String(), "ETHTOOL_GLINKSETTINGS"))
		}
	}
	if len(speeds) < 2 || b.link.Bond.Mode == netstate.ActiveBackup {
		return HostFinding{}, false
	}
	return HostFinding{
		Kind:     BondUnequal,
		What:     fmt.Sprintf("the ports of %s run at different speeds: flows are spread evenly, the slow port sets the pace", b.link.Name),
		Severity: Warning, Evidence: evidence, Remedy: "use ports of one speed: check the optics, and autonegotiation on both ends",
	}, true
}

// minLinks: the bond stays up on its last port.
func (b bondView) minLinks() (HostFinding, bool) {
	if b.link.Bond.Mode != netstate.LACP || b.link.Bond.MinLinks != 0 || b.link.Bond.Unread("min_links") || len(b.ports) < 2 {
		return HostFinding{}, false
	}
	return HostFinding{
		Kind:     BondMinLinks,
		What:     fmt.Sprintf("%s stays up until its last port dies: losing links makes it slow, not down", b.link.Name),
		Severity: Info, Evidence: []record.Evidence{fact("min_links", "0", "IFLA_BOND_MIN_LINKS")},
		Remedy: "none needed; set min_links where another path should take over instead",
	}, true
}
