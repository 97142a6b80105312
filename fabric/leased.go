package fabric

import "github.com/linerate/linerate/netstate"

// leasedKeys are what a DHCP server or a router gave a device.
var leasedKeys = object[Device]{
	name: "leased_device", doc: "What a DHCP server or a router gave a device when the file was written.",
	keys: []key[Device]{
		{"addresses", "the addresses", addressList},
		{"routes", "the routes", list(routeKeys, func(d *Device) *[]Route { return &d.Routes })},
	},
}

// leased lays what others give over a declared host's state, as observing it
// would.
func (b stateBuilder) leased(d Device) {
	b.address(d)
	names, ok := b.declared.interfaces(d.ID)
	if !ok {
		return
	}
	if l, found := b.state.Link(names[0]); found {
		l.Leases = append(l.Leases, d.Addresses...)
		b.state.SetLink(l)
	}
	had := len(b.state.Routes)
	b.route(d)
	for i := had; i < len(b.state.Routes); i++ {
		b.state.Routes[i].Protocol = "dhcp"
	}
}

// leased is what DHCP and router advertisements gave the devices that are
// written: predictions use it, and a plan leaves it to who gave it.
func (d *netDescriber) leased() *Node {
	n := &Node{Kind: MappingNode}
	for _, section := range deviceSections {
		for _, l := range d.inSection(section) {
			n.set(l.Name, filled(d.leasedOf(l)))
		}
	}
	return filled(n)
}

func (d *netDescriber) leasedOf(l netstate.Link) *Node {
	addresses, routes := &Node{Kind: SequenceNode, Flow: true}, &Node{Kind: SequenceNode}
	for _, p := range l.Leases {
		if connects(p) {
			addresses.Items = append(addresses.Items, text(p.String()))
		}
	}
	for _, r := range d.host.Routes {
		if r.Link != l.Name || !d.isLeased(r) {
			continue
		}
		node, why := wayNode(d.host, r)
		if why == "" {
			why = beyondKeys(r)
		}
		if why != "" {
			d.unsaid.add(routeLine(r), why)
			continue
		}
		routes.Items = append(routes.Items, node)
	}
	n := &Node{Kind: MappingNode}
	n.set("addresses", filled(addresses))
	n.set("routes", filled(routes))
	return n
}

// isLeased reports a route that came with a lease or a router's advertisement.
func (d *netDescriber) isLeased(r netstate.Route) bool {
	return len(r.Hops) == 0 && r.Type == "" && (r.Protocol == "dhcp" || r.Protocol == "ra")
}
