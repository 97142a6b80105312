package nmstate

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
)

// mptcp marks the device's addresses; the flags are the device's.
func (w *writer) mptcp(d device.Device, item *yamldoc.Node) {
	if w.in.Host.MPTCP == nil {
		return
	}
	first := ""
	for i, e := range w.in.Host.MPTCP.Endpoints {
		key := fmt.Sprintf("mptcp.endpoints[%d]", i)
		if e.Link != d.ID && e.Link != d.Name && (e.Link != "" || !d.Holds(e.Addr)) {
			continue
		}
		flags := e.Flags.String()
		switch {
		case strings.Contains(flags, "signal") && strings.Contains(flags, "fullmesh"):
			w.ledger.Cannot("", key, "nmstate refuses signal together with fullmesh")
			continue
		case e.Port != 0:
			w.ledger.Cannot("", key, "nmstate announces no port")
			continue
		case strings.Contains(flags, "implicit") || strings.Contains(flags, "laminar"):
			w.ledger.Cannot("", key, "nmstate has no endpoint flags "+flags)
			continue
		case first != "" && first != flags:
			w.ledger.Cannot("", key, d.ID+" has one set of flags for all its addresses, and another endpoint's are set already")
			continue
		}
		first = flags
		list := node.Sequence()
		for _, word := range strings.Fields(flags) {
			list.Items = append(list.Items, node.Plain(word))
		}
		node.Put(node.Within(item, "mptcp"), "address-flags", list)
		w.ledger.Say("", key)
	}
}

// routing is the device's routes and rules, which stand apart in a state.
func (w *writer) routing(d device.Device, name string) {
	for i, r := range d.Routes {
		key := fmt.Sprintf("routes[%d]", i)
		if slices.ContainsFunc(d.Routes[:i], func(before fabric.Route) bool { return oneToNmstate(d, before, r) }) {
			w.ledger.Cannot(d.ID, key, "nmstate keeps one route to a destination by one next hop in a table, whatever their metrics: the first was written")
			continue
		}
		w.route(d, name, key, r)
	}
	for i, m := range w.in.Host.Multipath {
		for _, hop := range m.Hops {
			if hop.Link != d.ID && hop.Link != name {
				continue
			}
			entry := node.Mapping()
			node.PutText(entry, "destination", m.To.String())
			node.Put(entry, "next-hop-interface", node.Plain(name))
			if hop.Gateway.IsValid() {
				node.Put(entry, "next-hop-address", node.Quoted(hop.Gateway.String()))
			}
			node.Put(entry, "weight", node.PlainInt(max(hop.Weight, 1)))
			node.Put(entry, "metric", node.PlainInt(m.Metric))
			node.Put(entry, "table-id", node.PlainInt(device.Table(m.Table)))
			w.routes.Items = append(w.routes.Items, entry)
			w.ledger.Say("", fmt.Sprintf("multipath[%d]", i))
		}
	}
	for i, r := range d.Rules {
		key := fmt.Sprintf("routing-policy[%d]", i)
		if r.TOS != 0 {
			w.ledger.Cannot(d.ID, key, "nmstate has no rules with a type of service")
			continue
		}
		entry := node.Mapping()
		if !r.From.IsValid() && !r.To.IsValid() {
			node.Put(entry, "family", node.Plain("ipv4"))
		}
		said := device.RuleKeys(r)
		node.PutText(entry, "ip-from", said["from"])
		node.PutText(entry, "ip-to", said["to"])
		if r.Priority != 0 {
			node.Put(entry, "priority", node.PlainInt(r.Priority))
		}
		if r.Mark != 0 {
			node.Put(entry, "fwmark", node.Quoted(fmt.Sprintf("%#x", r.Mark)))
		}
		node.Put(entry, "route-table", node.PlainInt(device.Table(r.Table)))
		w.rules.Items = append(w.rules.Items, entry)
		w.ledger.Say(d.ID, key, key+".priority", key+".mark", "source_rules")
	}
}

// oneToNmstate reports two routes of a device that nmstate takes for one (nmstatectl gc
// 2.2.62 drops the second).
func oneToNmstate(d device.Device, x, y fabric.Route) bool {
	one, other := d.RouteKeys(x), d.RouteKeys(y)
	same := func(key string) bool { return one[key] == other[key] }
	return same("to") && same("via") && same("from") && same("type") && device.Table(x.Table) == device.Table(y.Table)
}

func (w *writer) route(d device.Device, name, key string, r fabric.Route) {
	said := d.RouteKeys(r)
	entry := node.Mapping()
	node.PutText(entry, "destination", said["to"])
	switch said["type"] {
	case "":
		node.Put(entry, "next-hop-interface", node.Plain(name))
		node.PutText(entry, "next-hop-address", said["via"])
	case "blackhole", "unreachable", "prohibit":
		node.Put(entry, "route-type", node.Plain(r.Type))
		w.ledger.Say(d.ID, key+".type")
	default:
		w.ledger.Cannot(d.ID, key, "nmstate has no routes of type "+r.Type)
		return
	}
	node.Put(entry, "metric", node.PlainInt(r.Metric))
	node.Put(entry, "table-id", node.PlainInt(device.Table(r.Table)))
	node.PutText(entry, "source", said["from"])
	w.ledger.Say(d.ID, key, key+".metric", key+".table", key+".from")
	if r.Scope == "link" && said["via"] == "" {
		w.ledger.Say(d.ID, key+".scope") // what a route without a next hop has
	}
	for _, row := range [...][2]string{{"mtu", "mtu"}, {"cwnd", "congestion-window"}, {"initrwnd", "advertised-receive-window"}, {"advmss", "advertised-mss"}} {
		if value := said[row[1]]; value != "" {
			node.Put(entry, row[0], node.Plain(value))
			w.ledger.Say(d.ID, key+"."+row[1])
		}
	}
	w.routes.Items = append(w.routes.Items, entry)
}

// nameservers are the host's in a state, not a device's.
func (w *writer) nameservers(d device.Device) {
	servers := d.Key("nameservers")
	w.ledger.Say(d.ID, "nameservers.addresses", "nameservers.search")
	for _, text := range node.Texts(servers.Get("addresses")) {
		a, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		if !w.addressed(a.Is4()) {
			w.ledger.Cannot(d.ID, "nameservers.addresses", "nmstate refuses "+text+" where no interface is given an address of its family")
			continue
		}
		once(w.servers, a.String())
	}
	for _, text := range node.Texts(servers.Get("search")) {
		once(w.search, text)
	}
}

// addressed reports a device that is given an address of the family, or asks for one.
func (w *writer) addressed(v4 bool) bool {
	asks := []string{"dhcp4"}
	if !v4 {
		asks = []string{"dhcp6", "accept-ra"}
	}
	return slices.ContainsFunc(device.All(w.in), func(d device.Device) bool {
		return slices.ContainsFunc(d.Addresses, func(a netip.Prefix) bool { return a.Addr().Is4() == v4 }) ||
			slices.ContainsFunc(asks, func(key string) bool { on, _ := d.Truth(key); return on })
	})
}

// once adds a text to a list that has it not yet.
func once(list *yamldoc.Node, text string) {
	if !slices.Contains(node.Texts(list), text) {
		list.Items = append(list.Items, node.Quoted(text))
	}
}
