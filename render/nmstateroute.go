package render

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
)

// mptcp marks the device's addresses; the flags are the device's.
func (w *nmstateWriter) mptcp(d device, item *yamldoc.Node) {
	if w.in.Host.MPTCP == nil {
		return
	}
	first := ""
	for i, e := range w.in.Host.MPTCP.Endpoints {
		key := fmt.Sprintf("mptcp.endpoints[%d]", i)
		if e.Link != d.ID && e.Link != d.name && (e.Link != "" || !d.holds(e.Addr)) {
			continue
		}
		flags := e.Flags.String()
		switch {
		case strings.Contains(flags, "signal") && strings.Contains(flags, "fullmesh"):
			w.ledger.cannot("", key, "nmstate refuses signal together with fullmesh")
			continue
		case e.Port != 0:
			w.ledger.cannot("", key, "nmstate announces no port")
			continue
		case strings.Contains(flags, "implicit") || strings.Contains(flags, "laminar"):
			w.ledger.cannot("", key, "nmstate has no endpoint flags "+flags)
			continue
		case first != "" && first != flags:
			w.ledger.cannot("", key, d.ID+" has one set of flags for all its addresses, and another endpoint's stands there")
			continue
		}
		first = flags
		list := sequence()
		for _, word := range strings.Fields(flags) {
			list.Items = append(list.Items, plain(word))
		}
		put(within(item, "mptcp"), "address-flags", list)
		w.ledger.say("", key)
	}
}

// routing is the device's routes and rules, which stand apart in a state.
func (w *nmstateWriter) routing(d device, name string) {
	for i, r := range d.Routes {
		w.route(d, name, fmt.Sprintf("routes[%d]", i), r)
	}
	for i, m := range w.in.Host.Multipath {
		for _, hop := range m.Hops {
			if hop.Link != d.ID && hop.Link != name {
				continue
			}
			entry := mapping()
			put(entry, "destination", quoted(m.To.String()))
			put(entry, "next-hop-interface", plain(name))
			if hop.Gateway.IsValid() {
				put(entry, "next-hop-address", quoted(hop.Gateway.String()))
			}
			put(entry, "weight", plainInt(max(hop.Weight, 1)))
			put(entry, "metric", plainInt(m.Metric))
			put(entry, "table-id", plainInt(table(m.Table)))
			w.routes.Items = append(w.routes.Items, entry)
			w.ledger.say("", fmt.Sprintf("multipath[%d]", i))
		}
	}
	for i, r := range d.Rules {
		key := fmt.Sprintf("routing-policy[%d]", i)
		if r.TOS != 0 {
			w.ledger.cannot(d.ID, key, "nmstate has no rules with a type of service")
			continue
		}
		entry := mapping()
		if !r.From.IsValid() && !r.To.IsValid() {
			put(entry, "family", plain("ipv4"))
		}
		if r.From.IsValid() {
			put(entry, "ip-from", quoted(r.From.String()))
		}
		if r.To.IsValid() {
			put(entry, "ip-to", quoted(r.To.String()))
		}
		if r.Priority != 0 {
			put(entry, "priority", plainInt(r.Priority))
		}
		if r.Mark != 0 {
			put(entry, "fwmark", quoted(fmt.Sprintf("%#x", r.Mark)))
		}
		put(entry, "route-table", plainInt(table(r.Table)))
		w.rules.Items = append(w.rules.Items, entry)
		w.ledger.say(d.ID, key, key+".priority", key+".mark", "source_rules")
	}
}

func (w *nmstateWriter) route(d device, name, key string, r fabric.Route) {
	entry := mapping()
	put(entry, "destination", quoted(r.To.String()))
	switch r.Type {
	case "", "unicast":
		put(entry, "next-hop-interface", plain(name))
		if via := d.via(r); via.IsValid() {
			put(entry, "next-hop-address", quoted(via.String()))
		}
	case "blackhole", "unreachable", "prohibit":
		put(entry, "route-type", plain(r.Type))
		w.ledger.say(d.ID, key+".type")
	default:
		w.ledger.cannot(d.ID, key, "nmstate has no routes of type "+r.Type)
		return
	}
	put(entry, "metric", plainInt(r.Metric))
	put(entry, "table-id", plainInt(table(r.Table)))
	if r.From.IsValid() {
		put(entry, "source", quoted(r.From.String()))
	}
	if r.MTU != 0 {
		put(entry, "mtu", plainInt(r.MTU))
	}
	w.ledger.say(d.ID, key, key+".metric", key+".table", key+".from", key+".mtu")
	if r.Scope == "link" && !d.via(r).IsValid() {
		w.ledger.say(d.ID, key+".scope") // what a route without a next hop has
	}
	for _, o := range keyfileRouteOptions {
		for _, p := range r.Unread {
			if p.Key == o[0] && p.Value != nil {
				put(entry, o[1], plain(p.Value.Text))
				w.ledger.say(d.ID, key+"."+p.Key)
			}
		}
	}
	w.routes.Items = append(w.routes.Items, entry)
}

// nameservers are the host's in a state, not a device's.
func (w *nmstateWriter) nameservers(d device) {
	for _, p := range d.Unread {
		if p.Key != "nameservers" || p.Value == nil {
			continue
		}
		for _, text := range words(p.Value.Get("addresses")) {
			if a, err := netip.ParseAddr(text); err == nil {
				w.servers.Items = append(w.servers.Items, quoted(a.String()))
			}
		}
		for _, text := range words(p.Value.Get("search")) {
			w.search.Items = append(w.search.Items, quoted(text))
		}
		w.ledger.say(d.ID, "nameservers.addresses", "nameservers.search")
	}
}
