package hoststate

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
)

// bond is a bond as far as it was read: options with a field of their own that were
// not stand in NotRead.
func bond(h *piece.Host, name string) netstate.Bond {
	b := netstate.UnreadBond()
	if own, mode, ok := ownRule(h, name); ok {
		b.Own, b.Mode, b.Ports = &own, mode, portsOf(h, name)
		return b
	}
	for _, o := range bondopt.Options() {
		text := fact(h, name, o.Name)
		if strings.EqualFold(text, bondopt.None) && o.Words == nil {
			continue // no port, no address: as a bond without the option is
		}
		if word, err := o.Word(text); (text == "" || err != nil || o.Put(&b, word) != nil) && o.Own() {
			b.NotRead = append(b.NotRead, o.Name)
		}
	}
	b.Ports = portsOf(h, name)
	if id := count(h, "link "+name, "ad_aggregator"); id > 0 {
		ad := netstate.Aggregator{ID: id, Ports: count(h, "link "+name, "ad_num_ports"), ActorKey: count(h, "link "+name, "ad_actor_key"),
			PartnerKey: count(h, "link "+name, "ad_partner_key")}
		partner := fact(h, name, "ad_partner_mac")
		var err error
		if ad.PartnerMAC, err = flow.ParseMAC(partner); err == nil || partner == "" {
			b.AD = &ad // else somebody masked it: who answers is not known, nor that nobody does
		}
	} else if fact(h, name, "active_aggregator") == "none" {
		b.AD = &netstate.Aggregator{}
	}
	return b
}

// portsOf are a bond's ports: in the order that they run in, else as they are
// declared, else those that name it as their master.
func portsOf(h *piece.Host, bond string) []string {
	if ports := h.Ports[bond]; len(ports) > 0 {
		return slices.Clone(ports)
	}
	if declared, ok := h.Get("config "+bond, "ports"); ok {
		return strings.Fields(declared.Text)
	}
	var out []string
	for _, link := range h.Members(bond) {
		if fact(h, link, "master") == bond {
			out = append(out, link)
		}
	}
	return out
}

// isBond reports a bond: by its kind, its ports, or the flags that a bond and its
// ports alone have.
func isBond(h *piece.Host, name string) bool {
	kind := fact(h, name, "kind")
	if kind != "" {
		_, _, own := ownRule(h, name)
		return kind == "bond" || own
	}
	if len(h.Ports[name]) > 0 || hasFlag(h, name, "MASTER") {
		return true
	}
	return slices.ContainsFunc(h.Members(name), func(link string) bool {
		return fact(h, link, "master") == name && hasFlag(h, link, "SLAVE")
	})
}

func hasFlag(h *piece.Host, link, flag string) bool {
	return slices.Contains(strings.Split(fact(h, link, "flags"), ","), flag)
}

// masterOf is the bond that a link is a port of; "" none.
func masterOf(h *piece.Host, link string) string {
	master := fact(h, link, "master")
	if master != "" && isBond(h, master) {
		return master
	}
	for _, bond := range h.Bundles(link) {
		if isBond(h, bond) {
			return bond
		}
	}
	return ""
}

// port is a link's state as a port; nil where it is none, or nothing says whether
// its bond uses it.
func port(h *piece.Host, link, bond string) *netstate.BondPort {
	if bond == "" {
		return nil
	}
	mii := fact(h, link, "mii_status")
	_, carrier, _ := state(h, link)
	p := netstate.BondPort{Bond: bond, MIIUp: strings.EqualFold(mii, "up") || mii == "" && carrier,
		AggregatorID: count(h, "link "+link, "aggregator_id"), FailureCount: count(h, "link "+link, "link_failure_count"),
		ActorState: uint8(min(count(h, "link "+link, "actor_state"), 255)), PartnerState: uint8(min(count(h, "link "+link, "partner_state"), 255)),
		PartnerKey: count(h, "link "+link, "partner_key"), ActorChurn: fact(h, link, "actor_churn"), PartnerChurn: fact(h, link, "partner_churn")}
	p.PartnerMAC, _ = flow.ParseMAC(fact(h, link, "partner_system_mac"))
	p.Active = active(h, link, bond, p)
	return &p
}

// active says whether the bond sends over a port.
func active(h *piece.Host, link, bond string, p netstate.BondPort) bool {
	if slave := fact(h, link, "slave_state"); slave != "" {
		return strings.EqualFold(slave, "active")
	}
	if one := fact(h, bond, "active_slave"); fact(h, bond, "mode") == "active-backup" && one != "" {
		return one == link
	}
	if id := count(h, "link "+bond, "ad_aggregator"); id > 0 && p.AggregatorID > 0 {
		return id == p.AggregatorID
	}
	return true
}
