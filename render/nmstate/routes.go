package nmstate

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/keyfile"
	"github.com/linerate/linerate/render/node"
)

// mptcp marks the device's addresses; the flags are the device's.
func (w *writer) mptcp(d device.Device, item *fabric.Node) {
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
			w.ledger.Cannot("", key, d.ID+" has one set of flags for all its addresses, and another endpoint's stands there")
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
		w.route(d, name, fmt.Sprintf("routes[%d]", i), r)
	}
	for i, m := range w.in.Host.Multipath {
		for _, hop := range m.Hops {
			if hop.Link != d.ID && hop.Link != name {
				continue
			}
			entry := node.Mapping()
			node.Put(entry, "destination", node.Quoted(m.To.String()))
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
		if r.From.IsValid() {
			node.Put(entry, "ip-from", node.Quoted(r.From.String()))
		}
		if r.To.IsValid() {
			node.Put(entry, "ip-to", node.Quoted(r.To.String()))
		}
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

func (w *writer) route(d device.Device, name, key string, r fabric.Route) {
	entry := node.Mapping()
	node.Put(entry, "destination", node.Quoted(r.To.String()))
	switch r.Type {
	case "", "unicast":
		node.Put(entry, "next-hop-interface", node.Plain(name))
		if via := d.Via(r); via.IsValid() {
			node.Put(entry, "next-hop-address", node.Quoted(via.String()))
		}
	case "blackhole", "unreachable", "prohibit":
		node.Put(entry, "route-type", node.Plain(r.Type))
		w.ledger.Say(d.ID, key+".type")
	default:
		w.ledger.Cannot(d.ID, key, "nmstate has no routes of type "+r.Type)
		return
	}
	node.Put(entry, "metric", node.PlainInt(r.Metric))
	node.Put(entry, "table-id", node.PlainInt(device.Table(r.Table)))
	if r.From.IsValid() {
		node.Put(entry, "source", node.Quoted(r.From.String()))
	}
	if r.MTU != 0 {
		node.Put(entry, "mtu", node.PlainInt(r.MTU))
	}
	w.ledger.Say(d.ID, key, key+".metric", key+".table", key+".from", key+".mtu")
	if r.Scope == "link" && !d.Via(r).IsValid() {
		w.ledger.Say(d.ID, key+".scope") // what a route without a next hop has
	}
	for _, o := range keyfile.RouteOptions {
		for _, p := range r.Unread {
			if p.Key == o[0] && p.Value != nil {
				node.Put(entry, o[1], node.Plain(p.Value.Text))
				w.ledger.Say(d.ID, key+"."+p.Key)
			}
		}
	}
	w.routes.Items = append(w.routes.Items, entry)
}

// nameservers are the host's in a state, not a device's.
func (w *writer) nameservers(d device.Device) {
	for _, p := range d.Unread {
		if p.Key != "nameservers" || p.Value == nil {
			continue
		}
		for _, text := range node.Texts(p.Value.Get("addresses")) {
			if a, err := netip.ParseAddr(text); err == nil {
				w.servers.Items = append(w.servers.Items, node.Quoted(a.String()))
			}
		}
		for _, text := range node.Texts(p.Value.Get("search")) {
			w.search.Items = append(w.search.Items, node.Quoted(text))
		}
		w.ledger.Say(d.ID, "nameservers.addresses", "nameservers.search")
	}
}
