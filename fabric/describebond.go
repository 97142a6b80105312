package fabric

import (
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// parameters are the bond's options that are not the kernel's defaults, the
// mode always.
func (d *netDescriber) parameters(b netstate.Bond) *Node {
	n := &Node{Kind: MappingNode}
	for _, o := range bondopt.Options() {
		said, netplans := o.Saying(bondopt.Netplan)
		value := o.Of(b)
		switch {
		case !netplans || value == "" || !said.Has(value) || !o.Allows(b.Mode):
		case value == "not read" || b.Unread(o.Name): // bonding says so
		case o.Name != "mode" && value == InitialOption(o.Name):
		default:
			node := netplanValue(o, value)
			ps := &problems{}
			parameterReader(o).read(&decoder{ps}, place(said.Name), node, &Bond{})
			if len(ps.all) == 0 {
				n.set(said.Name, node)
			}
		}
	}
	return n
}

// bonding are the bonds' options that netplan has no word for, or not that one,
// where they are not the kernel's defaults.
func (d *netDescriber) bonding() *Node {
	n := &Node{Kind: MappingNode}
	for _, l := range d.inSection("bonds") {
		said := d.parameters(*l.Bond)
		options := &Node{Kind: MappingNode}
		for _, k := range bondingKeys.keys {
			value, _, _ := strings.Cut(Option(*l.Bond, k.name), " ")
			name, netplans := BondParameter(k.name)
			switch {
			case Option(*l.Bond, k.name) == "not read" || l.Bond.Unread(k.name):
				d.unsaid.add("bond "+l.Name+" "+k.name, "which was not read")
			case value == "" || value == InitialOption(k.name) || !OptionInMode(k.name, l.Bond.Mode):
			case k.name == "active_slave", k.name == "num_unsol_na": // the moment's; another's other name
			case netplans && said.Get(name) != nil:
			default:
				ps := &problems{}
				k.value.read(&decoder{ps}, place(k.name), str(value), &map[string]string{})
				if len(ps.all) > 0 {
					d.unsaid.add("bond "+l.Name+" "+k.name+" "+value, "which the file has no words for")
					continue
				}
				options.set(k.name, str(value))
			}
		}
		n.set(l.Name, filled(options))
	}
	return filled(n)
}

// portSettings are what the file says of bonds' ports beside their links' speed:
// priorities and queues that are not the kernel's defaults.
func (d *netDescriber) portSettings() *Node {
	n := &Node{Kind: MappingNode}
	for _, l := range d.host.Links {
		if l.Port == nil || !d.needed[l.Name] || !d.needed[l.Port.Bond] {
			continue
		}
		link := &Node{Kind: MappingNode, Flow: true}
		for _, o := range bondopt.Ports() {
			if value := o.OfPort(*l.Port); value != "" && value != o.Default {
				link.set(o.Key, text(value))
			}
		}
		n.set(l.Name, filled(link))
	}
	return filled(n)
}
