package networkd

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// row is a key of a section and the key of netplan that says the same.
type row struct{ word, key string }

// routeRows are [Route]'s keys (systemd.network(5)).
var routeRows = [...]row{
	{"Destination", "to"}, {"Gateway", "via"}, {"PreferredSource", "from"}, {"GatewayOnLink", "on-link"}, {"Scope", "scope"}, {"Type", "type"},
	{"Metric", "metric"}, {"Table", "table"}, {"MTUBytes", "mtu"}, {"InitialCongestionWindow", "congestion-window"},
	{"InitialAdvertisedReceiveWindow", "advertised-receive-window"}, {"TCPAdvertisedMaximumSegmentSize", "advertised-mss"},
}

func readRouteSection(r reader, s placedSection, id string) {
	if hops := s.Values("MultiPathRoute"); len(hops) > 0 {
		r.multipath(s, id, hops)
		return
	}
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	four := !strings.Contains(s.Get("Gateway")+s.Get("PreferredSource"), ":")
next:
	for _, a := range s.Keys {
		for _, row := range routeRows {
			if row.word != a.Key && (row.key != "on-link" || a.Key != "GatewayOnlink") { // the old spelling
				continue
			}
			if value, ok := r.RouteValue(row.key, a.Value, four); ok {
				node.Put(route, row.key, node.Text(value))
				continue next
			}
		}
		if a.Key == "Source" || a.Key == "Destination" || a.Key == "Gateway" || a.Key == "Table" || a.Key == "Type" {
			r.leftWhole(s, a) // without it the route would be another one
			return
		}
		r.left(s, a)
	}
	if route.Get("to") == nil {
		if route.Get("via") == nil {
			if len(s.Keys) > 0 {
				r.Miss(s.file, s.Keys[0].Line, "["+s.Name+"] "+s.Keys[0].Key, s.Keys[0].Value, "a route without a destination and a gateway")
			}
			return
		}
		node.Put(route, "to", node.Plain("default"))
	}
	if kind := route.Get("type"); route.Get("via") == nil && route.Get("scope") == nil && (kind == nil || kind.Text == "unicast") {
		node.Put(route, "scope", node.Plain("link")) // what networkd takes it for
	}
	node.Push(r.Device(id), "routes", route)
}

func (r reader) multipath(s placedSection, id string, hops []string) {
	route := node.Mapping()
	to, ok := readback.ParseDestination(s.Get("Destination"), !strings.Contains(hops[0], ":"))
	if !ok {
		for _, a := range s.Keys {
			r.left(s, a)
		}
		return
	}
	node.Put(route, "to", node.Text(readback.DestinationText(to)))
	for _, a := range s.Keys {
		switch a.Key {
		case "Destination":
		case "Table", "Metric":
			value, ok := r.RouteValue(strings.ToLower(a.Key), a.Value, true)
			if !ok {
				r.left(s, a)
				continue
			}
			node.Put(route, strings.ToLower(a.Key), node.Plain(value))
		case "MultiPathRoute":
			where, weight, _ := strings.Cut(a.Value, " ")
			gateway, dev, named := strings.Cut(where, "@")
			g, err := netip.ParseAddr(gateway)
			if err != nil || named && !readback.LinkName(dev) {
				r.left(s, a)
				continue
			}
			hop := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
			node.Put(hop, "via", node.Text(g.String()))
			if !named {
				dev = id
			}
			node.Put(hop, "dev", node.Plain(dev))
			if n, err := strconv.Atoi(strings.TrimSpace(weight)); err == nil && n > 0 && n <= 256 {
				node.Put(hop, "weight", node.Plain(strconv.Itoa(n)))
			}
			r.PlaceAt(hop, s.file, a.Line)
			node.Push(route, "hops", hop)
		default:
			r.left(s, a)
		}
	}
	r.PlaceAt(route, s.file, s.Keys[0].Line)
	node.Push(r.Beside, "multipath", route)
}

// ruleRows are [RoutingPolicyRule]'s keys.
var ruleRows = [...]row{{"From", "from"}, {"To", "to"}, {"Table", "table"}, {"Priority", "priority"}, {"FirewallMark", "mark"}, {"TypeOfService", "type-of-service"}}

func readRuleSection(r reader, s placedSection, id string) {
	rule, whole := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}, true
	all := "0.0.0.0/0"
next:
	for _, a := range s.Keys {
		if a.Key == "Family" && (a.Value == "ipv4" || a.Value == "ipv6") {
			if a.Value == "ipv6" {
				all = "::/0"
			}
			continue
		}
		for _, row := range ruleRows {
			if row.word != a.Key {
				continue
			}
			if value, ok := r.RuleValue(row.key, a.Value, true); ok {
				node.Put(rule, row.key, node.Text(value))
				continue next
			}
		}
		r.leftWhole(s, a)
		whole = false
	}
	// A rule without one of its conditions would be another, wider one.
	if len(rule.Pairs) > 0 && whole {
		if rule.Get("from") == nil && rule.Get("to") == nil {
			node.Put(rule, "from", node.Quoted(all)) // networkd's own family is IPv4
		}
		node.Push(r.Device(id), "routing-policy", rule)
	}
}

// readDHCP reads a section of the clients named.
func readDHCP(clients ...string) func(reader, placedSection, string) {
	return func(r reader, s placedSection, id string) {
		for _, a := range s.Keys {
			switch {
			case a.Key == "RouteMetric" && a.Value == dhcpMetric, a.Key == "UseMTU" && (a.Value == "true" || a.Value == "yes"):
				// netplan's own
			case a.Key == "ClientIdentifier" && a.Value == "mac":
				node.Put(r.Device(id), "dhcp-identifier", node.Plain("mac"))
			case !r.key(a, id, clients...):
				r.left(s, a)
			}
		}
	}
}

// readLinkSection reads [Link] of a .link file.
func readLinkSection(r reader, s placedSection, id string) {
	for _, a := range s.Keys {
		if !r.linkKey(a, id) {
			r.left(s, a)
		}
	}
}

func (r reader) linkKey(a unitfile.Assignment, id string) bool {
	on, isBool := readback.ZeroOne(a.Value)
	for _, row := range device.Offloads {
		if row.Networkd == a.Key && isBool {
			r.Offload(id, row.Ethtool, on == "1")
			return true
		}
	}
	for _, row := range settingRows {
		if row.word != a.Key {
			continue
		}
		n, ok := settingValue(row.unit, a.Value)
		section, name, _ := strings.Cut(row.key, ".")
		value := node.PlainInt(n)
		if row.unit == "bool" {
			value = node.Plain(device.OnOff(n == 1))
		}
		if ok {
			node.Put(r.Setting("links", id, section), name, value)
		}
		return ok
	}
	switch a.Key {
	case "Name":
		return r.Device(id).Get("set-name") != nil
	case "WakeOnLan":
		if a.Value == "magic" {
			node.Put(r.Device(id), "wakeonlan", node.Plain("true"))
		}
		return a.Value == "magic" || a.Value == "off"
	case "MTUBytes":
		if r.Device(id).Get("mtu") == nil {
			r.mtu(placedSection{}, a, id)
		}
		return r.Device(id).Get("mtu") != nil
	case "MACAddressPolicy":
		return a.Value == "none" && r.Kinds[id] != "" || a.Value == "persistent"
	case "NamePolicy", "AlternativeNamesPolicy":
		return true
	}
	return false
}

func settingValue(unit, value string) (int, bool) {
	switch unit {
	case "bool":
		on, ok := readback.ZeroOne(value)
		n, _ := strconv.Atoi(on)
		return n, ok
	case "us":
		return microseconds(value)
	case "s":
		n, ok := microseconds(value)
		return (n + 999_999) / 1_000_000, ok
	}
	n, err := strconv.ParseUint(value, 10, 31)
	return int(n), err == nil
}
