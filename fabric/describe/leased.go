package describe

import (
	"github.com/linerate/linerate/fabric/subnets"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// leased is what DHCP and router advertisements gave the devices that are
// written: predictions use it, and a plan leaves it to who gave it.
func (d *describer) leased() *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	for _, section := range deviceSections {
		for _, l := range d.inSection(section) {
			n.Set(l.Name, yamldoc.Filled(d.leasedOf(l)))
		}
	}
	return yamldoc.Filled(n)
}

func (d *describer) leasedOf(l netstate.Link) *yamldoc.Node {
	addresses, routes := &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}, &yamldoc.Node{Kind: yamldoc.SequenceNode}
	for _, p := range l.Leases {
		if subnets.Connects(p) {
			addresses.Items = append(addresses.Items, yamldoc.Text(p.String()))
		}
	}
	for _, r := range d.host.Routes {
		if r.Link != l.Name || !d.isLeased(r) {
			continue
		}
		node, why := WayNode(d.host, r)
		if why == "" {
			why = BeyondKeys(r)
		}
		if why != "" {
			d.unsaid.add(routeLine(r), why)
			continue
		}
		routes.Items = append(routes.Items, node)
	}
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	n.Set("addresses", yamldoc.Filled(addresses))
	n.Set("routes", yamldoc.Filled(routes))
	return n
}

// isLeased reports a route that came with a lease or a router's advertisement.
func (d *describer) isLeased(r netstate.Route) bool {
	return len(r.Hops) == 0 && r.Type == "" && (r.Protocol == "dhcp" || r.Protocol == "ra")
}
