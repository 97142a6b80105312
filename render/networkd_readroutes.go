package render

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// routeRows are [Route]'s keys and netplan's.
var routeRows = [][2]string{
	{"Destination", "to"}, {"Gateway", "via"}, {"PreferredSource", "from"}, {"GatewayOnLink", "on-link"}, {"GatewayOnlink", "on-link"}, {"Metric", "metric"},
	{"Table", "table"}, {"Type", "type"}, {"Scope", "scope"}, {"MTUBytes", "mtu"}, {"InitialCongestionWindow", "congestion-window"},
	{"InitialAdvertisedReceiveWindow", "advertised-receive-window"}, {"TCPAdvertisedMaximumSegmentSize", "advertised-mss"},
}

func readRouteSection(r networkdReader, s placedSection, id string) {
	if hops := s.values("MultiPathRoute"); len(hops) > 0 {
		r.multipath(s, id, hops)
		return
	}
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	four := !strings.Contains(s.get("Gateway")+s.get("PreferredSource"), ":")
next:
	for _, a := range s.keys {
		for _, row := range routeRows {
			if row[0] != a.key {
				continue
			}
			if value, ok := routeValue(row[1], a.value, four); ok {
				put(route, row[1], quotedNumber(value))
				continue next
			}
		}
		r.left(s, a)
		if a.key == "Source" || a.key == "Destination" || a.key == "Gateway" || a.key == "Table" || a.key == "Type" {
			return // without it the route would be another one
		}
	}
	if route.Get("to") == nil {
		if route.Get("via") == nil {
			return
		}
		put(route, "to", plain("default"))
	}
	if kind := route.Get("type"); route.Get("via") == nil && route.Get("scope") == nil && (kind == nil || kind.Text == "unicast") {
		put(route, "scope", plain("link")) // what networkd takes it for
	}
	push(r.device(id), "routes", route)
}

// quotedNumber leaves numbers plain and quotes what has colons in it.
func quotedNumber(s string) *yamldoc.Node {
	if strings.Contains(s, ":") {
		return quoted(s)
	}
	return plain(s)
}

// routeValue is a value of [Route]'s as netplan has it.
func routeValue(key, value string, four bool) (string, bool) {
	switch key {
	case "to":
		p, ok := parseDestination(value, four)
		if ok && p.Bits() == 0 && p.Addr().Is4() == four {
			return "default", true
		}
		return p.String(), ok
	case "via", "from":
		a, err := netip.ParseAddr(value)
		return value, err == nil && a.Zone() == ""
	case "on-link":
		on, ok := zeroOne(value)
		return strconv.FormatBool(on == "1"), ok
	case "table":
		return tableNumber(value)
	case "type", "scope":
		return value, linkName(value)
	}
	value = sizeText(value, 1024)
	_, err := strconv.ParseUint(value, 10, 32)
	return value, err == nil
}

// tableNumber is a routing table's number (rt_tables of iproute2).
func tableNumber(s string) (string, bool) {
	if n, ok := map[string]string{"default": "253", "main": "254", "local": "255"}[s]; ok {
		return n, true
	}
	_, err := strconv.ParseUint(s, 10, 32)
	return s, err == nil
}

func (r networkdReader) multipath(s placedSection, id string, hops []string) {
	route := mapping()
	to, ok := parseDestination(s.get("Destination"), !strings.Contains(hops[0], ":"))
	if !ok {
		for _, a := range s.keys {
			r.left(s, a)
		}
		return
	}
	put(route, "to", quotedNumber(destinationText(to)))
	for _, a := range s.keys {
		switch a.key {
		case "Destination":
		case "Table", "Metric":
			value, ok := routeValue(strings.ToLower(a.key), a.value, true)
			if !ok {
				r.left(s, a)
				continue
			}
			put(route, strings.ToLower(a.key), plain(value))
		case "MultiPathRoute":
			where, weight, _ := strings.Cut(a.value, " ")
			gateway, dev, named := strings.Cut(where, "@")
			g, err := netip.ParseAddr(gateway)
			if err != nil || named && !linkName(dev) {
				r.left(s, a)
				continue
			}
			hop := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
			put(hop, "via", quotedNumber(g.String()))
			if !named {
				dev = id
			}
			put(hop, "dev", plain(dev))
			if n, err := strconv.Atoi(strings.TrimSpace(weight)); err == nil && n > 0 && n <= 256 {
				put(hop, "weight", plain(strconv.Itoa(n)))
			}
			push(route, "hops", hop)
		default:
			r.left(s, a)
		}
	}
	push(r.beside, "multipath", route)
}

// ruleRows are [RoutingPolicyRule]'s keys and netplan's.
var ruleRows = [][2]string{{"From", "from"}, {"To", "to"}, {"Table", "table"}, {"Priority", "priority"}, {"FirewallMark", "mark"}, {"TypeOfService", "type-of-service"}}

func readRuleSection(r networkdReader, s placedSection, id string) {
	rule, whole := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}, true
next:
	for _, a := range s.keys {
		for _, row := range ruleRows {
			if row[0] != a.key {
				continue
			}
			value, ok := a.value, true
			switch row[1] {
			case "from", "to":
				p, fits := parseDestination(value, true)
				value, ok = p.String(), fits
			case "table":
				value, ok = tableNumber(value)
			default:
				n, err := strconv.ParseUint(value, 0, 32)
				value, ok = strconv.FormatUint(n, 10), err == nil
			}
			if ok {
				put(rule, row[1], quotedNumber(value))
				continue next
			}
		}
		r.left(s, a)
		whole = false
	}
	// A rule without one of its conditions would be another, wider one.
	if len(rule.Pairs) > 0 && whole {
		push(r.device(id), "routing-policy", rule)
	}
}

// readDHCP reads a client's section into the overrides named.
func readDHCP(overrides ...string) func(networkdReader, placedSection, string) {
	return func(r networkdReader, s placedSection, id string) {
	next:
		for _, a := range s.keys {
			switch {
			case a.key == "RouteMetric" && a.value == dhcpMetric, a.key == "UseMTU" && (a.value == "true" || a.value == "yes"):
				continue // netplan's own
			case a.key == "ClientIdentifier" && a.value == "mac":
				put(r.device(id), "dhcp-identifier", plain("mac"))
				continue
			}
			for _, row := range overrideRows {
				if row.networkd != a.key {
					continue
				}
				value := a.value
				if on, isBool := zeroOne(value); isBool && (strings.HasPrefix(row.netplan, "use-") || strings.HasPrefix(row.netplan, "send-")) {
					value = strconv.FormatBool(on == "1")
				}
				for _, key := range overrides {
					if key == "dhcp4-overrides" || row.six {
						put(within(r.device(id), key), row.netplan, quoted(value))
					}
				}
				continue next
			}
			r.left(s, a)
		}
	}
}

// readLinkSection reads [Link] of a .link file.
func readLinkSection(r networkdReader, s placedSection, id string) {
	for _, a := range s.keys {
		if !r.linkKey(a, id) {
			r.left(s, a)
		}
	}
}

func (r networkdReader) linkKey(a assignment, id string) bool {
	on, isBool := zeroOne(a.value)
	for _, row := range offloadRows {
		if row.networkd == a.key && isBool {
			r.offload(id, row.ethtool, on == "1")
			return true
		}
	}
	for _, row := range coalesceRows {
		if row.networkd != a.key {
			continue
		}
		n, ok := coalesceValue(row.unit, a.value)
		if ok && strings.HasPrefix(row.ethtool, "adaptive-") {
			put(r.setting("links", id, "coalesce"), row.ethtool, plain(onOff(n == 1)))
		} else if ok {
			put(r.setting("links", id, "coalesce"), row.ethtool, plain(strconv.Itoa(n)))
		}
		return ok
	}
	n, err := strconv.ParseUint(a.value, 10, 31)
	for _, row := range channelRows {
		if row[1] == a.key && err == nil {
			put(r.setting("links", id, "channels"), row[0], plain(strconv.FormatUint(n, 10)))
			return true
		}
	}
	switch a.key {
	case "RxBufferSize", "TxBufferSize":
		if err == nil {
			put(r.setting("links", id, "rings"), strings.ToLower(a.key[:2]), plain(strconv.FormatUint(n, 10)))
		}
		return err == nil
	case "Name":
		return r.device(id).Get("set-name") != nil
	case "WakeOnLan":
		if a.value == "magic" {
			put(r.device(id), "wakeonlan", plain("true"))
		}
		return a.value == "magic" || a.value == "off"
	case "MTUBytes":
		if r.device(id).Get("mtu") == nil {
			r.mtu(placedSection{}, a, id)
		}
		return r.device(id).Get("mtu") != nil
	case "MACAddressPolicy":
		return a.value == "none" && r.kinds[id] != "" || a.value == "persistent"
	case "NamePolicy", "AlternativeNamesPolicy":
		return true
	}
	return false
}

func coalesceValue(unit, value string) (int, bool) {
	switch unit {
	case "bool":
		on, ok := zeroOne(value)
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
