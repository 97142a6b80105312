package render

import (
	"strconv"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// routeTypes are ip-route(8)'s types that netplan has too.
var routeTypes = map[string]bool{"unicast": true, "local": true, "broadcast": true, "blackhole": true, "unreachable": true, "prohibit": true, "throw": true, "multicast": true, "anycast": true}

// ipRouteWords are ip-route(8)'s words with a value and netplan's keys.
var ipRouteWords = map[string]string{
	"via": "via", "src": "from", "table": "table", "metric": "metric", "priority": "metric", "preference": "metric", "mtu": "mtu", "scope": "scope",
	"initcwnd": "congestion-window", "initrwnd": "advertised-receive-window", "advmss": "advertised-mss",
}

// routeWords reads a line of a route file, in ip-route(8)'s words; why is
// what was wrong, "" nothing.
func (r *ifcfgReader) routeWords(words []string, four bool) (why string) {
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	kind := ""
	if routeTypes[words[0]] {
		kind, words = words[0], words[1:]
	}
	if len(words) == 0 {
		return "a route without a destination"
	}
	to, ok := parseDestination(words[0], four)
	if !ok {
		return words[0] + " is no destination"
	}
	put(route, "to", quotedNumber(destinationText(to)))
	put(route, "type", plain(kind))
	if kind == "" || kind == "unicast" {
		setKey(route, "type", nil)
	}
	for i := 1; i < len(words); i++ {
		word := words[i]
		if word == "onlink" {
			put(route, "on-link", plain("true"))
			continue
		}
		if i++; i == len(words) {
			return word + " has no value"
		}
		value := words[i]
		if word == "via" && (value == "inet" || value == "inet6") && i+1 < len(words) {
			i++
			value = words[i]
		}
		if word == "mtu" && value == "lock" && i+1 < len(words) {
			i++
			value = words[i]
		}
		if word == "dev" {
			if value != r.id {
				return "leaves by " + value
			}
			continue
		}
		key, known := ipRouteWords[word]
		if !known {
			return "a fabric has no word for " + word
		}
		text, ok := routeValue(key, value, four)
		if !ok {
			return value + " is no value for " + word
		}
		put(route, key, quotedNumber(text))
	}
	if route.Get("via") == nil && route.Get("scope") == nil && route.Get("type") == nil {
		put(route, "scope", plain("link"))
	}
	if to.Bits() == 0 && !to.Addr().Is4() && route.Get("via") == nil {
		put(route, "to", quoted("::/0"))
	}
	push(r.device(r.id), "routes", route)
	return ""
}

// ipRuleWords are ip-rule(8)'s words and netplan's keys.
var ipRuleWords = map[string]string{
	"from": "from", "to": "to", "table": "table", "lookup": "table", "priority": "priority", "pref": "priority", "preference": "priority", "order": "priority", "prio": "priority",
	"fwmark": "mark", "tos": "type-of-service", "dsfield": "type-of-service",
}

// ruleWords reads a line of a rule file, in ip-rule(8)'s words.
func (r *ifcfgReader) ruleWords(words []string, four bool) (why string) {
	rule := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "add" && i == 0 {
			continue
		}
		if i++; i == len(words) {
			return word + " has no value"
		}
		value := words[i]
		key, ok := ipRuleWords[word]
		switch {
		case !ok:
			return "a fabric has no word for " + word
		case key == "from" || key == "to":
			if value == "all" || value == "any" {
				continue
			}
			p, fits := parseDestination(value, four)
			value, ok = p.String(), fits
		case key == "table":
			value, ok = tableNumber(value)
		default:
			n, err := strconv.ParseUint(value, 0, 32)
			value, ok = strconv.FormatUint(n, 10), err == nil
		}
		if !ok {
			return words[i] + " is no value for " + word
		}
		put(rule, key, quotedNumber(value))
	}
	if len(rule.Pairs) == 0 {
		return "a rule that says nothing"
	}
	push(r.device(r.id), "routing-policy", rule)
	return ""
}
