package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

const fromPartner = "details partner lacp pdu of /proc/net/bonding"

// twoPartners: ports that different systems, or different groups of one
// system, answer. 802.3ad joins only ports with one partner and key
// (ad_port_selection_logic, drivers/net/bonding/bond_3ad.c).
func (b bondView) twoPartners() (HostFinding, bool) {
	ad, ok := b.lacp()
	if !ok {
		return HostFinding{}, false
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
		evidence = append(evidence, fact("partner of "+p.Name, fmt.Sprintf("%s key %d", now.mac, now.key), fromPartner))
	}
	if len(partners) < 2 {
		return HostFinding{}, false
	}
	f := HostFinding{
		Kind:     BondTwoPartners,
		What:     fmt.Sprintf("the ports of %s have %d LACP partners: only those of one of them are used", b.link.Name, len(partners)),
		Severity: Fault,
		Evidence: append(evidence, fact("active aggregator of "+b.link.Name, fmt.Sprint(ad.ID), "IFLA_BOND_AD_INFO_AGGREGATOR")),
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
func (b bondView) churned() (HostFinding, bool) {
	ad, ok := b.lacp()
	if !ok || ad.PartnerMAC.IsZero() {
		return HostFinding{}, false
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
			evidence = append(evidence, fact("state of "+p.Name, fmt.Sprintf("actor %#x, partner %#x: not distributing", p.Port.ActorState, p.Port.PartnerState), "IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE"))
		}
		if own {
			evidence = append(evidence, fact("actor churn state of "+p.Name, "churned", "/proc/net/bonding/"+b.link.Name))
		}
		if far {
			evidence = append(evidence, fact("partner churn state of "+p.Name, "churned", "/proc/net/bonding/"+b.link.Name))
		}
	}
	return HostFinding{
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
	flaps       = 3
	flapsOthers = 3
	linkFlaps   = 20
)

// flapping: one port fails again and again while others of the bond do not.
func (b bondView) flapping() (HostFinding, bool) {
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
		evidence = append(evidence, fact("link failures of "+p.Name, fmt.Sprint(n), "IFLA_BOND_SLAVE_LINK_FAILURE_COUNT"))
		if n >= flaps && n > flapsOthers*least {
			out = append(out, p)
		}
	}
	return HostFinding{
		Kind:     BondFlapping,
		What:     fmt.Sprintf("%s goes down again and again: each time its flows move to the other ports of %s", portNames(out), b.link.Name),
		Severity: Warning, Evidence: evidence,
		Remedy: fmt.Sprintf("clean or replace cable and module of %s, then try another switch port; see `ethtool -m %s`", portNames(out), firstName(out)),
	}, len(out) > 0
}

func firstName(links []netstate.Link) string {
	if len(links) == 0 {
		return ""
	}
	return links[0].Name
}

// delays: updelay and downdelay count in steps of miimon; the rest is cut off
// (bond_option_updelay_set, drivers/net/bonding/bond_options.c).
func (b bondView) delays() (HostFinding, bool) {
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
		evidence = append(evidence, fact(d.name, fmt.Sprintf("%d ms", ms), d.source))
		if remedy == "" {
			up := (d.value + miimon - 1) / miimon * miimon
			remedy = fmt.Sprintf("echo %d > /sys/class/net/%s/bonding/%s", up.Milliseconds(), b.link.Name, d.name)
		}
	}
	return HostFinding{
		Kind:     BondDelay,
		What:     fmt.Sprintf("%s of %s is no multiple of miimon %d: the kernel cuts it off", strings.Join(parts, " and "), b.link.Name, miimon.Milliseconds()),
		Severity: Info, Evidence: append(evidence, fact("miimon", fmt.Sprintf("%d ms", miimon.Milliseconds()), "IFLA_BOND_MIIMON")), Remedy: remedy,
	}, len(parts) > 0
}
