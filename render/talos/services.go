package talos

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// ethernet reads features, rings, channels and wake on LAN of a card.
func (r *reader) ethernet(n *yamldoc.Node) {
	name := r.named(n)
	if name == "" {
		return
	}
	r.Device(name)
	for _, p := range n.Pairs {
		key := name + "." + p.Key
		switch p.Key {
		case "apiVersion", "kind", "name":
		case "features":
			for _, f := range p.Value.Pairs {
				r.Offload(name, f.Key, node.True(f.Value))
			}
		case "rings", "channels":
			for _, v := range p.Value.Pairs {
				if v.Key == "rx" || v.Key == "tx" || v.Key == "combined" && p.Key == "channels" {
					node.Put(r.Setting("links", name, p.Key), v.Key, v.Value)
				} else {
					r.miss(v.Value, key+"."+v.Key, "a fabric cannot represent it")
				}
			}
		case "wakeOnLan":
			on := slices.Contains(node.Texts(p.Value), "magic")
			node.Put(r.Device(name), "wakeonlan", at(p.Value, strconv.FormatBool(on), false))
			for _, item := range node.Items(p.Value) {
				if item.Text != "magic" {
					r.miss(item, key, "a fabric has the magic packet alone")
				}
			}
		default:
			r.miss(p.Value, key, "a fabric cannot represent it")
		}
	}
}

// lease reads a document that asks for addresses.
func (r *reader) lease(n *yamldoc.Node, dhcp string) {
	name := r.named(n)
	if name == "" {
		return
	}
	d := r.Device(name)
	node.Put(d, dhcp, at(n.Get("name"), "true", false))
	for _, p := range n.Pairs {
		switch p.Key {
		case "apiVersion", "kind", "name", "ignoreHostname":
		case "routeMetric":
			node.Put(node.Within(d, dhcp+"-overrides"), "route-metric", p.Value)
		case "ignoreRoutes":
			if node.True(p.Value) {
				node.Put(node.Within(d, dhcp+"-overrides"), "use-routes", at(p.Value, "false", false))
			}
		default:
			r.miss(p.Value, name+"."+p.Key, "a fabric cannot represent it")
		}
	}
}

// owner is the first device with an address, else the first one: name servers and
// rules of the machine stand under it, since a fabric has them by device.
func (r *reader) owner() string {
	first := ""
	for _, section := range r.Network.Pairs {
		for _, d := range section.Value.Pairs {
			if d.Value.Get("addresses") != nil {
				return d.Key
			}
			if first == "" {
				first = d.Key
			}
		}
	}
	return first
}

// resolver reads the machine's name servers.
func (r *reader) resolver(n *yamldoc.Node) {
	for _, item := range node.Items(n.Get("nameservers")) {
		if protocol := item.Get("protocol"); protocol != nil && protocol.Text != "Do53" {
			r.miss(protocol, "nameservers.protocol", "a fabric has plain DNS alone")
		}
		r.names(item.Get("address"), "addresses")
	}
	for _, item := range node.Items(n.Get("searchDomains").Get("domains")) {
		r.names(item, "search")
	}
}

func (r *reader) names(n *yamldoc.Node, key string) {
	if n == nil {
		return
	}
	owner := r.owner()
	if owner == "" {
		r.miss(n, "nameservers", "no interface is read to put it under")
		return
	}
	node.Push(node.Within(r.Device(owner), "nameservers"), key, at(n, n.Text, true))
}

// ruleKeys are Talos' words of a rule and netplan's.
var ruleKeys = [...][2]string{{"src", "from"}, {"dst", "to"}, {"name", "priority"}, {"table", "table"}, {"fwMark", "mark"}}

// rule reads a routing rule, whose name is its priority.
func (r *reader) rule(n *yamldoc.Node) {
	what := "RoutingRuleConfig " + node.Said(n.Get("name"))
	rule := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true, Line: n.Line, Column: n.Column}
	for _, p := range n.Pairs {
		i := slices.IndexFunc(ruleKeys[:], func(k [2]string) bool { return k[0] == p.Key })
		switch {
		case p.Key == "apiVersion" || p.Key == "kind" || p.Key == "action" && p.Value.Text == "unicast":
		case i < 0:
			r.miss(p.Value, what+" "+p.Key, "a fabric has no rule with it: the rule is left out")
			return
		default:
			said, ok := r.RuleValue(ruleKeys[i][1], p.Value.Text, !strings.Contains(p.Value.Text, ":"))
			if !ok {
				r.miss(p.Value, what+" "+p.Key, "is no value of it: the rule is left out")
				return
			}
			node.Put(rule, ruleKeys[i][1], at(p.Value, said, strings.Contains(said, ":")))
		}
	}
	owner := r.owner()
	if owner == "" {
		r.miss(n, what, "no interface is read to put it under")
		return
	}
	node.Push(r.Device(owner), "routing-policy", rule)
}

// blackhole reads a route that drops.
func (r *reader) blackhole(n *yamldoc.Node) {
	to, owner := n.Get("name"), r.owner()
	p, ok := readback.ParseDestination(node.Said(to), true)
	if !ok || owner == "" {
		r.miss(n, "BlackholeRouteConfig", "has no destination, or there is no interface to put it under")
		return
	}
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true, Line: n.Line, Column: n.Column}
	node.Put(route, "to", at(to, readback.DestinationText(p), p.Bits() > 0))
	node.Put(route, "type", node.Plain("blackhole"))
	if metric := n.Get("metric"); metric != nil && metric.Text != "0" {
		node.Put(route, "metric", metric)
	}
	node.Push(r.Device(owner), "routes", route)
}

// sysctls are those of machine.sysctls that are the network's.
func (r *reader) sysctls(n *yamldoc.Node) {
	values := map[string]*yamldoc.Node{}
	for _, p := range node.Pairs(n) {
		if strings.HasPrefix(p.Key, "net.") {
			values[p.Key] = at(p.Value, p.Value.Text, true)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		node.Put(node.Within(r.Beside, "sysctl"), key, values[key])
	}
}
