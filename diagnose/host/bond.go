package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/flow"
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
var bondRules = [...]func(bondView) (Finding, bool){
	bondView.portDown, bondView.noPartner, bondView.twoPartners, bondView.outside, bondView.split, bondView.unwatched, bondView.portMTU,
	bondView.bothPassive, bondView.churned, bondView.flapping, bondView.onePolicyLink, bondView.unequal, bondView.delays, bondView.minLinks,
}

// bonds judges each bond of a host.
func bonds(h netstate.Host) []Finding {
	var found []Finding
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
func (b bondView) portDown() (Finding, bool) {
	var down []netstate.Link
	var evidence []record.Evidence
	for _, p := range b.ports {
		switch {
		case !p.Up:
			evidence = append(evidence, diagnose.Fact(p.Name, "administratively down", "IFF_UP of RTM_GETLINK"))
		case !p.Carrier:
			evidence = append(evidence, diagnose.Fact(p.Name, "no carrier", "IFF_LOWER_UP of RTM_GETLINK"))
		case p.Port != nil && !p.Port.MIIUp:
			evidence = append(evidence, diagnose.Fact(p.Name, "the bond believes it is down", "IFLA_BOND_SLAVE_MII_STATUS"))
		default:
			continue
		}
		down = append(down, p)
	}
	if !b.link.Up || len(down) == 0 {
		return Finding{}, false
	}
	return Finding{
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
func (b bondView) noPartner() (Finding, bool) {
	ad, ok := b.lacp()
	if !ok || !ad.PartnerMAC.IsZero() || !slices.ContainsFunc(b.ports, func(p netstate.Link) bool { return p.Carrier }) {
		return Finding{}, false
	}
	return Finding{
		Kind:     BondNoPartner,
		What:     fmt.Sprintf("no LACP partner answers %s: only one of its %d ports is used", b.link.Name, len(b.ports)),
		Severity: Fault,
		Evidence: []record.Evidence{
			diagnose.Fact("partner of the active aggregator", "00:00:00:00:00:00", "IFLA_BOND_AD_INFO_PARTNER_MAC"),
			diagnose.Fact("ports in the active aggregator", fmt.Sprint(ad.Ports), "IFLA_BOND_AD_INFO_NUM_PORTS"),
		},
		Remedy: "configure the switch ports of this bond as one LACP group (mode active), all in the same VLANs",
	}, true
}

// bothPassive: neither end sends LACP frames by itself. A port begins as if its partner
// were active (ad_rx_machine, drivers/net/bonding/bond_3ad.c), so that the group comes up,
// and falls apart each time that nothing was heard for three frames.
func (b bondView) bothPassive() (Finding, bool) {
	if b.link.Bond.Mode != netstate.LACP || !b.link.Up {
		return Finding{}, false
	}
	var out []netstate.Link
	var evidence []record.Evidence
	for _, p := range b.ports {
		if p.Port == nil || !p.Carrier || p.Port.PartnerMAC.IsZero() || !p.Port.BothPassive() {
			continue
		}
		out = append(out, p)
		evidence = append(evidence, diagnose.Fact("LACP on "+p.Name, fmt.Sprintf("both ends passive (states %d and %d)", p.Port.ActorState, p.Port.PartnerState), "IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, ..._PARTNER_..."))
	}
	return Finding{
		Kind:     BondPassive,
		What:     fmt.Sprintf("%s and its LACP partner are both passive: neither sends by itself, so ports leave the group again and again (now seen at %s)", b.link.Name, portNames(out)),
		Severity: Fault, Evidence: evidence,
		Remedy: fmt.Sprintf("make one end active: lacp_active on for %s (its default), or `channel-group N mode active` on the switch", b.link.Name),
	}, len(out) > 0
}

// outside: ports with carrier that are in another aggregator than the active
// one carry nothing.
func (b bondView) outside() (Finding, bool) {
	ad, ok := b.lacp()
	if _, two := b.twoPartners(); !ok || ad.PartnerMAC.IsZero() || two {
		return Finding{}, false
	}
	var out []netstate.Link
	evidence := []record.Evidence{diagnose.Fact("active aggregator of "+b.link.Name, fmt.Sprint(ad.ID), "IFLA_BOND_AD_INFO_AGGREGATOR")}
	for _, p := range b.ports {
		if p.Port == nil || p.Port.AggregatorID == 0 || p.Port.AggregatorID == ad.ID || !p.Carrier {
			continue
		}
		out = append(out, p)
		evidence = append(evidence, diagnose.Fact("aggregator of "+p.Name, fmt.Sprint(p.Port.AggregatorID), "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID"))
	}
	if len(out) == 0 {
		return Finding{}, false
	}
	remedy := "put all switch ports of the bond into one LACP group of one switch (or of one MLAG pair), at one speed"
	for _, p := range out {
		if why, what := lacpWhy(p); why != "" {
			evidence = append(evidence, diagnose.Fact("LACP on "+p.Name, why, "IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, ..._PARTNER_..."))
			remedy = what
		}
	}
	return Finding{
		Kind:     BondPortOutside,
		What:     fmt.Sprintf("%s carries nothing: outside the active aggregator of %s", portNames(out), b.link.Name),
		Severity: Fault, Evidence: evidence, Remedy: remedy,
	}, true
}

// lacpWhy reads a port's two LACP states (IEEE 802.1AX 6.4.2.3): why it is outside, and
// what to do; "" where they were not read or say nothing.
func lacpWhy(p netstate.Link) (why, remedy string) {
	actor, partner := p.Port.ActorState, p.Port.PartnerState
	states := fmt.Sprintf("(states %d and %d)", actor, partner)
	switch {
	case actor == 0:
		return "", ""
	case actor&(netstate.LACPDefaulted|netstate.LACPExpired) != 0:
		return "hears no partner " + states,
			fmt.Sprintf("set the switch port of %s to LACP, in the group of the others; where it is, `ip link set %s down` and up again: a port whose speed the driver told late stays outside (`port key: 0` in /proc/net/bonding)", p.Name, p.Name)
	case partner&(netstate.LACPDefaulted|netstate.LACPExpired) != 0:
		return "the switch does not hear this host " + states,
			fmt.Sprintf("find what drops this host's LACP frames on the way from %s: a bridge or a media converter between, a filter of the switch port, lacp_active off", p.Name)
	case actor&netstate.LACPSync == 0 && partner&netstate.LACPSync != 0:
		return "the switch is ready, and this host chose another group " + states,
			"put all switch ports of the bond into one LACP group of one switch (or of one MLAG pair): the partner's key or system differs from the others'"
	case partner&netstate.LACPSync == 0:
		return "the switch refuses it " + states,
			fmt.Sprintf("look at the switch port of %s: another group, more ports than the group takes (max-links), another speed or VLANs", p.Name)
	}
	return "", ""
}

// split: ports with carrier in different aggregators, of which one alone carries,
// also where nobody says which (/proc/net/bonding without root); or none does.
func (b bondView) split() (Finding, bool) {
	bond := b.link.Bond
	if bond.Mode != netstate.LACP || !b.link.Up || bond.AD != nil && bond.AD.ID != 0 {
		return Finding{}, false
	}
	var ids []int
	var carry []netstate.Link
	var evidence []record.Evidence
	for _, p := range b.ports {
		if p.Port == nil || !p.Carrier {
			continue
		}
		carry = append(carry, p)
		if id := p.Port.AggregatorID; id != 0 {
			evidence = append(evidence, diagnose.Fact("aggregator of "+p.Name, fmt.Sprint(id), "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID"))
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	f := Finding{
		Kind: BondPortOutside, Severity: Fault, Evidence: evidence,
		What:   fmt.Sprintf("the ports of %s are in %d aggregators: those of one alone carry, the others nothing", b.link.Name, len(ids)),
		Remedy: fmt.Sprintf("put all switch ports of the bond into one LACP group of one switch (or of one MLAG pair), at one speed; as root /proc/net/bonding/%s says whom each port hears", b.link.Name),
	}
	switch {
	case len(ids) > 1:
		return f, true
	case bond.AD != nil && len(ids) == 0 && len(carry) > 0:
		f.What = fmt.Sprintf("%s has no active aggregator: it carries nothing, though %s up", b.link.Name, areUp(carry))
		f.Evidence = []record.Evidence{diagnose.Fact("active aggregator of "+b.link.Name, "none", "IFLA_BOND_AD_INFO_AGGREGATOR")}
		return f, true
	}
	return Finding{}, false
}

func goDown(ports []netstate.Link) string {
	if len(ports) == 1 {
		return ports[0].Name + " goes down"
	}
	return portNames(ports) + " go down"
}

func areUp(ports []netstate.Link) string {
	if len(ports) == 1 {
		return ports[0].Name + " is"
	}
	return portNames(ports) + " are"
}

// unwatched: without link monitoring a dead port keeps its share of the
// flows. 802.3ad, balance-tlb and balance-alb force it on
// (bond_option_mode_set, drivers/net/bonding/bond_options.c, sets 100 ms).
func (b bondView) unwatched() (Finding, bool) {
	arp := b.link.Bond.Options["arp_interval"]
	if b.link.Bond.Options["use_carrier"] == "0" && b.link.Bond.Miimon != 0 {
		return b.asksDrivers(), true
	}
	if len(b.ports) == 0 || b.link.Bond.Miimon != 0 || b.link.Bond.Unread("miimon") || arp != "" && arp != "0" {
		return Finding{}, false
	}
	return Finding{
		Kind:     BondUnwatched,
		What:     fmt.Sprintf("%s does not watch its ports: a dead link keeps its flows", b.link.Name),
		Severity: Fault,
		Evidence: []record.Evidence{diagnose.Fact("miimon", "0", "IFLA_BOND_MIIMON"), diagnose.Fact("arp_interval", orUnset(arp), "IFLA_BOND_ARP_INTERVAL")},
		Remedy:   fmt.Sprintf("echo 100 > /sys/class/net/%s/bonding/miimon, and mii-monitor-interval: 100 in the configuration", b.link.Name),
	}, true
}

// asksDrivers: with use_carrier 0 each poll asks the driver by ioctl, which drivers
// without MII registers answer late or wrongly (bond_check_dev_link, bond_main.c;
// gone in Linux 6.18).
func (b bondView) asksDrivers() Finding {
	return Finding{
		Kind:     BondUnwatched,
		What:     fmt.Sprintf("%s asks its drivers by ioctl whether links are up, instead of their carrier: ports may flap, or a dead one seem alive", b.link.Name),
		Severity: Warning,
		Evidence: []record.Evidence{diagnose.Fact("use_carrier", "0", "IFLA_BOND_USE_CARRIER"), diagnose.Fact("miimon", b.link.Bond.Miimon.String(), "IFLA_BOND_MIIMON")},
		Remedy:   fmt.Sprintf("echo 1 > /sys/class/net/%s/bonding/use_carrier, and take use_carrier out of the configuration: 1 is the kernel's own", b.link.Name),
	}
}

func orUnset(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

// portMTU: a port with another MTU than its bond. The driver sets the ports
// to the bond's (bond_change_mtu), so somebody changed one alone.
func (b bondView) portMTU() (Finding, bool) {
	var other []netstate.Link
	evidence := []record.Evidence{diagnose.Fact("MTU of "+b.link.Name, fmt.Sprint(b.link.MTU), "IFLA_MTU")}
	f := Finding{Kind: BondPortMTU, Severity: Warning}
	for _, p := range b.ports {
		if p.MTU == b.link.MTU || p.MTU == 0 || b.link.MTU == 0 {
			continue
		}
		if p.MTU < b.link.MTU {
			f.Severity = Fault // its frames of the bond's size are dropped
		}
		other = append(other, p)
		evidence = append(evidence, diagnose.Fact("MTU of "+p.Name, fmt.Sprint(p.MTU), "IFLA_MTU"))
	}
	f.What = fmt.Sprintf("%s has another MTU than %s", portNames(other), b.link.Name)
	f.Evidence, f.Remedy = evidence, fmt.Sprintf("ip link set %s mtu %d, which sets its ports too", b.link.Name, b.link.MTU)
	return f, len(other) > 0
}

// onePolicyLink: the hash reads nothing in which flows to one peer differ.
func (b bondView) onePolicyLink() (Finding, bool) {
	bundle, err := steer.BundleOf(b.host, b.link.Name)
	addresses := b.addresses()
	if err != nil || !b.link.Bond.Mode.Hashes() || b.link.Bond.HashPolicy == netstate.PolicyUnread || len(b.ports) < 2 || len(addresses) == 0 {
		return Finding{}, false
	}
	bundle.Ports = b.link.Bond.Ports // what it does once all are usable
	reach := bundle.Reach()
	if reach.Ports || reach.Addresses && aliases(addresses) {
		return Finding{}, false
	}
	f := Finding{
		Kind:     BondOneLink,
		What:     fmt.Sprintf("%s sends all traffic to one peer on one of its %d links, whatever the number of streams", b.link.Name, len(b.ports)),
		Severity: Warning,
		Evidence: []record.Evidence{
			diagnose.Fact("transmit hash policy of "+b.link.Name, b.link.Bond.HashPolicy.String()+": "+reach.Why, diagnose.FromBond),
			diagnose.Fact("addresses on "+b.link.Name, joined(addresses), fromAddresses),
		},
		Remedy: fmt.Sprintf("echo layer3+4 > /sys/class/net/%s/bonding/xmit_hash_policy (the bond may stay up), or let `linerate tune` do and prove it; the switch hashes the return path with its own policy", b.link.Name),
	}
	if gateway, ok := b.gateway(); ok && !reach.Addresses {
		f.Kind = BondLayer2Gateway
		f.What = fmt.Sprintf("%s sends all traffic that passes the gateway %s on one of its %d links, and so all to one peer: the policy reads nothing beyond MAC addresses", b.link.Name, gateway, len(b.ports))
		f.Evidence = append(f.Evidence, diagnose.Fact("route over "+b.link.Name, "via "+gateway.String(), "RTM_GETROUTE"))
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
func (b bondView) unequal() (Finding, bool) {
	speeds := map[unit.BitRate]bool{}
	var evidence []record.Evidence
	for _, p := range b.ports {
		if p.Speed > 0 {
			speeds[p.Speed] = true
			evidence = append(evidence, diagnose.Fact("speed of "+p.Name, p.Speed.String(), "ETHTOOL_GLINKSETTINGS"))
		}
	}
	if len(speeds) < 2 || b.link.Bond.Mode == netstate.ActiveBackup {
		return Finding{}, false
	}
	return Finding{
		Kind:     BondUnequal,
		What:     fmt.Sprintf("the ports of %s run at different speeds: flows are spread evenly, the slow port sets the pace", b.link.Name),
		Severity: Warning, Evidence: evidence, Remedy: "use ports of one speed: check the optics, and autonegotiation on both ends",
	}, true
}

// minLinks: the bond stays up on its last port.
func (b bondView) minLinks() (Finding, bool) {
	if b.link.Bond.Mode != netstate.LACP || b.link.Bond.MinLinks != 0 || b.link.Bond.Unread("min_links") || len(b.ports) < 2 {
		return Finding{}, false
	}
	return Finding{
		Kind:     BondMinLinks,
		What:     fmt.Sprintf("%s stays up until its last port dies: losing links makes it slow, not down", b.link.Name),
		Severity: Info, Evidence: []record.Evidence{diagnose.Fact("min_links", "0", "IFLA_BOND_MIN_LINKS")},
		Remedy: "none needed; set min_links where another path should take over instead",
	}, true
}

const fromPartner = "details partner lacp pdu of /proc/net/bonding"

// twoPartners: ports that different systems, or different groups of one
// system, answer. 802.3ad joins only ports with one partner and key
// (ad_port_selection_logic, drivers/net/bonding/bond_3ad.c).
func (b bondView) twoPartners() (Finding, bool) {
	ad, ok := b.lacp()
	if !ok {
		return Finding{}, false
	}
	type partner struct {
		mac flow.MAC
		key int
	}
	var partners []partner
	var systems []flow.MAC
	var evidence []record.Evidence
	for _, p := range b.ports {
		if p.Port == nil || p.Port.PartnerMAC.IsZero() || !p.Carrier {
			continue
		}
		now := partner{p.Port.PartnerMAC, p.Port.PartnerKey}
		if !slices.Contains(partners, now) {
			partners = append(partners, now)
		}
		if !slices.Contains(systems, now.mac) {
			systems = append(systems, now.mac)
		}
		evidence = append(evidence, diagnose.Fact("partner of "+p.Name, fmt.Sprintf("%s key %d", now.mac, now.key), fromPartner))
	}
	if len(partners) < 2 {
		return Finding{}, false
	}
	f := Finding{
		Kind:     BondTwoPartners,
		What:     fmt.Sprintf("the ports of %s have %d LACP partners: only those of one of them are used", b.link.Name, len(partners)),
		Severity: Fault,
		Evidence: append(evidence, diagnose.Fact("active aggregator of "+b.link.Name, fmt.Sprint(ad.ID), "IFLA_BOND_AD_INFO_AGGREGATOR")),
		Remedy:   "cable all ports of the bond to one switch, or make the two switches one LACP system (MLAG, vPC, stacking)",
	}
	if len(systems) == 1 {
		f.Remedy = "put the switch ports of this bond into one LACP group: they are in groups of their own now"
	}
	return f, true
}

// churned: a port in the active aggregator that does not send, or of which one
// end does not get in sync: it is aggregated, and carries nothing yet or no
// more (IEEE 802.1AX 6.4.17; the driver looks for 60 s,
// AD_CHURN_DETECTION_TIME).
func (b bondView) churned() (Finding, bool) {
	ad, ok := b.lacp()
	if _, passive := b.bothPassive(); !ok || ad.PartnerMAC.IsZero() || passive {
		return Finding{}, false
	}
	var out []netstate.Link
	var evidence []record.Evidence
	for _, p := range b.ports {
		if p.Port == nil || !p.Carrier || p.Port.AggregatorID != ad.ID {
			continue
		}
		own, far := p.Port.ActorChurn == "churned", p.Port.PartnerChurn == "churned"
		idle := p.Port.ActorState != 0 && p.Port.ActorState&netstate.LACPDistributing == 0
		if !own && !far && !idle {
			continue
		}
		out = append(out, p)
		if idle {
			evidence = append(evidence, diagnose.Fact("state of "+p.Name, fmt.Sprintf("actor %#x, partner %#x: not distributing", p.Port.ActorState, p.Port.PartnerState), "IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE"))
		}
		if own {
			evidence = append(evidence, diagnose.Fact("actor churn state of "+p.Name, "churned", "/proc/net/bonding/"+b.link.Name))
		}
		if far {
			evidence = append(evidence, diagnose.Fact("partner churn state of "+p.Name, "churned", "/proc/net/bonding/"+b.link.Name))
		}
	}
	return Finding{
		Kind:     BondChurn,
		What:     fmt.Sprintf("%s is not in sync with its LACP partner: it carries nothing", portNames(out)),
		Severity: Warning, Evidence: evidence,
		Remedy: "compare the far port's LACP group, speed, duplex and VLANs with those of the other ports; a port that the switch keeps in standby (its most active links) looks like this too",
	}, len(out) > 0
}

// How often a port must have failed, and how much more often than the best of
// its bond, before it is called flapping: a switch that starts anew takes all
// ports down alike.
const (
	flaps       = 6
	flapsOthers = 3
	flapsMany   = 100 // of a port, whatever the others do
	linkFlaps   = 20
)

// flapping: one port fails again and again while others of the bond do not, or any
// so often that no switch starts anew like that.
func (b bondView) flapping() (Finding, bool) {
	least := -1
	for _, p := range b.ports {
		if p.Port != nil && (least < 0 || p.Port.FailureCount < least) {
			least = p.Port.FailureCount
		}
	}
	var out []netstate.Link
	var evidence []record.Evidence
	for _, p := range b.ports {
		if p.Port == nil || len(b.ports) < 2 {
			continue
		}
		n := p.Port.FailureCount
		evidence = append(evidence, diagnose.Fact("link failures of "+p.Name, fmt.Sprint(n), "IFLA_BOND_SLAVE_LINK_FAILURE_COUNT"))
		if n >= flaps && n > flapsOthers*least || n >= flapsMany {
			out = append(out, p)
		}
	}
	f := Finding{
		Kind:     BondFlapping,
		What:     fmt.Sprintf("%s again and again: each time flows move to other ports of %s", goDown(out), b.link.Name),
		Severity: Warning, Evidence: evidence,
		Remedy: fmt.Sprintf("clean or replace cable and module of %s, then try another switch port; see `ethtool -m %s`", portNames(out), firstName(out)),
	}
	if len(out) > 1 && len(out) == len(b.ports) && alike(out) {
		f.What = fmt.Sprintf("all ports of %s go down as often as each other: what they share does it, not a cable", b.link.Name)
		f.Remedy = "look at what happens to all at once: a program that takes the bond apart and builds it anew (`journalctl -u NetworkManager -u systemd-networkd`, a controller's resync), a switch that starts anew, a driver's watchdog (`dmesg`)"
		if b.link.Bond.Options["use_carrier"] == "0" {
			f.Remedy = "set use_carrier to 1 first: by ioctl a driver may call a good link down; then " + f.Remedy
		}
	}
	return f, len(out) > 0
}

// alike reports ports that failed about as often as each other.
func alike(ports []netstate.Link) bool {
	least, most := ports[0].Port.FailureCount, ports[0].Port.FailureCount
	for _, p := range ports {
		least, most = min(least, p.Port.FailureCount), max(most, p.Port.FailureCount)
	}
	return most-least <= most/10
}

func firstName(links []netstate.Link) string {
	if len(links) == 0 {
		return ""
	}
	return links[0].Name
}

// delays: updelay and downdelay count in steps of miimon; the rest is cut off
// (bond_option_updelay_set, drivers/net/bonding/bond_options.c).
func (b bondView) delays() (Finding, bool) {
	miimon := b.link.Bond.Miimon
	var parts []string
	var evidence []record.Evidence
	remedy := ""
	for _, d := range []struct {
		name, source string
		value        time.Duration
	}{{"updelay", "IFLA_BOND_UPDELAY", b.link.Bond.UpDelay}, {"downdelay", "IFLA_BOND_DOWNDELAY", b.link.Bond.DownDelay}} {
		if miimon <= 0 || d.value%miimon == 0 {
			continue
		}
		ms := d.value.Milliseconds()
		parts = append(parts, fmt.Sprintf("%s %d", d.name, ms))
		evidence = append(evidence, diagnose.Fact(d.name, fmt.Sprintf("%d ms", ms), d.source))
		if remedy == "" {
			up := (d.value + miimon - 1) / miimon * miimon
			remedy = fmt.Sprintf("echo %d > /sys/class/net/%s/bonding/%s", up.Milliseconds(), b.link.Name, d.name)
		}
	}
	return Finding{
		Kind:     BondDelay,
		What:     fmt.Sprintf("%s of %s is no multiple of miimon %d: the kernel cuts it off", strings.Join(parts, " and "), b.link.Name, miimon.Milliseconds()),
		Severity: Info, Evidence: append(evidence, diagnose.Fact("miimon", fmt.Sprintf("%d ms", miimon.Milliseconds()), "IFLA_BOND_MIIMON")), Remedy: remedy,
	}, len(parts) > 0
}
