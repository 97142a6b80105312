package wanted

import (
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// section is a netplan section and what it says of every device.
type section struct {
	name   string
	device fabric.Device
}

// definitions are the file's devices with their sections, in file order.
func (b *builder) definitions() []section {
	var all []section
	n := b.file.Network
	for _, d := range n.Ethernets {
		all = append(all, section{"ethernets", d.Device})
	}
	for _, d := range n.Bonds {
		all = append(all, section{"bonds", d.Device})
	}
	for _, d := range n.OVSBonds {
		all = append(all, section{"bonds", d.Device})
	}
	for _, d := range n.VLANs {
		all = append(all, section{"vlans", d.Device})
	}
	for _, d := range n.Bridges {
		all = append(all, section{"bridges", d.Device})
	}
	for _, d := range n.Others {
		all = append(all, section{d.Section, d.Device})
	}
	return all
}

// links are the definition's links that are, or will be, there.
func (b *builder) links(id string) []string {
	return slices.DeleteFunc(slices.Clone(b.devices[id]), func(name string) bool {
		_, there := b.want.Link(name)
		return !there
	})
}

// attributes sets the hardware addresses that the file says, and forgets those
// that follow from other links'.
func (b *builder) attributes() {
	followed := b.followers()
	for _, d := range b.definitions() {
		if d.device.MAC.IsZero() {
			continue
		}
		path := network(d.name, d.device.ID, "macaddress")
		names := b.links(d.device.ID)
		if len(names) > 1 {
			b.wrong(path, "", "%s stands for several devices, one address cannot be given to all", d.device.ID)
			continue
		}
		for _, name := range names {
			if bond := b.bondOf(name); bond != "" {
				b.leave("macaddress of %s: the ports of %s have the bond's", name, bond)
				continue
			}
			if l, _ := b.want.Link(name); l.Bond != nil && plan.OwnMACs(*l.Bond) && l.MAC != d.device.MAC {
				b.wrong(path, "take it out, or the policy", "macaddress of %s: with fail_over_mac %s its address is its active port's (bond_set_mac_address)", name, l.Bond.Options["fail_over_mac"])
				continue
			}
			delete(followed, name)
			b.setMAC(name, d.device.MAC, b.at.Line(path...), "")
		}
	}
	for name := range followed {
		b.change(name, func(l *netstate.Link) { l.MAC = flow.MAC{} })
	}
	for _, l := range slices.Clone(b.want.Links) {
		b.inheritMAC(l)
	}
}

func (b *builder) setMAC(name string, mac flow.MAC, by, why string) {
	b.change(name, func(l *netstate.Link) { l.MAC = mac })
	b.because(plan.Step{Kind: plan.LinkMAC, Link: name}, by, why)
}
