package fabric

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// parameters are the bond's options that are not the kernel's defaults, the
// mode always.
func (d *netDescriber) parameters(b netstate.Bond) *Node {
	n := &Node{Kind: MappingNode}
	for _, r := range bondRows {
		value := r.option(b)
		if value == "not read" || b.Unread(r.kernel) { // bonding says so
			continue
		}
		if value == "" || value == r.initial && r.kernel != "mode" {
			continue
		}
		if !OptionInMode(r.kernel, b.Mode) {
			continue
		}
		node := r.netplanValue(value)
		ps := &problems{}
		r.key.value.read(&decoder{ps}, place(r.key.name), node, &Bond{})
		if len(ps.all) == 0 {
			n.set(r.key.name, node)
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
			case value == "" || value == initialOf(k.name) || !OptionInMode(k.name, l.Bond.Mode):
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
		if l.Port.Priority != 0 {
			link.set("port_prio", text(strconv.Itoa(l.Port.Priority)))
		}
		if l.Port.QueueID != 0 {
			link.set("queue_id", text(strconv.Itoa(l.Port.QueueID)))
		}
		if p := l.Port.ActorPriority; p != nil && *p != netstate.DefaultActorPriority {
			link.set("actor_port_prio", text(strconv.Itoa(*p)))
		}
		n.set(l.Name, filled(link))
	}
	return filled(n)
}
