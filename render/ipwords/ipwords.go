// Package ipwords reads and writes routes and rules in the words of ip-route(8) and
// ip-rule(8), which files of several systems are made of.
package ipwords

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// routeTypes are ip-route(8)'s types that netplan has too.
var routeTypes = map[string]bool{"unicast": true, "local": true, "broadcast": true, "blackhole": true, "unreachable": true, "prohibit": true, "throw": true, "multicast": true, "anycast": true}

// word is a word of ip(8)'s and the key of netplan that says the same.
type word struct{ word, key string }

// routeWords are ip-route(8)'s words, ruleWords ip-rule(8)'s: first those
// that are written, in their order, behind them other spellings.
var (
	routeWords = [...]word{
		{"via", "via"}, {"src", "from"}, {"scope", "scope"}, {"onlink", "on-link"}, {"table", "table"}, {"metric", "metric"}, {"mtu", "mtu"},
		{"initcwnd", "congestion-window"}, {"initrwnd", "advertised-receive-window"}, {"advmss", "advertised-mss"},
		{"priority", "metric"}, {"preference", "metric"},
	}
	ruleWords = [...]word{
		{"from", "from"}, {"to", "to"}, {"fwmark", "mark"}, {"tos", "type-of-service"}, {"table", "table"}, {"priority", "priority"},
		{"lookup", "table"}, {"pref", "priority"}, {"preference", "priority"}, {"order", "priority"}, {"prio", "priority"}, {"dsfield", "type-of-service"},
	}
)

// keyOf is netplan's key for a word; "" none.
func keyOf(words []word, said string) string {
	for _, w := range words {
		if w.word == said {
			return w.key
		}
	}
	return ""
}

// OfRoute are the words for what netplan's keys say of a route, each key once.
func OfRoute(said map[string]string) []string { return written(routeWords[:], said) }

// OfRule are the words for what netplan's keys say of a rule.
func OfRule(said map[string]string) []string { return written(ruleWords[:], said) }

// RouteKeys are netplan's keys that OfRoute writes.
func RouteKeys() []string {
	var all []string
	for _, w := range routeWords {
		if !slices.Contains(all, w.key) {
			all = append(all, w.key)
		}
	}
	return all
}

func written(words []word, said map[string]string) []string {
	var all []string
	for _, w := range words {
		switch value := said[w.key]; {
		case value == "":
		case w.key == "on-link":
			all = append(all, w.word)
		default:
			all = append(all, w.word, value)
		}
		delete(said, w.key) // another spelling says it no second time
	}
	return all
}

// ReadRoute reads a route of the link in ip-route(8)'s words, as netplan has it; why
// is what was wrong, "" nothing. Four is the family of a bare "default".
func ReadRoute(f *readback.Host, link string, words []string, four bool) (route *yamldoc.Node, why string) {
	if len(words) == 0 {
		return nil, "a route without a destination"
	}
	route = &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	kind := ""
	if routeTypes[words[0]] {
		kind, words = words[0], words[1:]
	}
	if len(words) == 0 {
		return nil, "a route without a destination"
	}
	to, ok := readback.ParseDestination(words[0], four)
	if !ok {
		return nil, words[0] + " is no destination"
	}
	node.Put(route, "to", node.Text(readback.DestinationText(to)))
	node.Put(route, "type", node.Plain(kind))
	if kind == "" || kind == "unicast" {
		node.SetKey(route, "type", nil)
	}
	for i := 1; i < len(words); i++ {
		said := words[i]
		if said == "onlink" {
			node.Put(route, "on-link", node.Plain("true"))
			continue
		}
		if i++; i == len(words) {
			return nil, said + " has no value"
		}
		value := words[i]
		if said == "via" && (value == "inet" || value == "inet6") && i+1 < len(words) {
			i++
			value = words[i]
		}
		if said == "mtu" && value == "lock" && i+1 < len(words) {
			i++
			value = words[i]
		}
		if said == "dev" {
			if value != link {
				return nil, "leaves by " + value
			}
			continue
		}
		if said == "proto" || said == "protocol" {
			continue // who set it
		}
		key := keyOf(routeWords[:], said)
		if key == "" {
			return nil, "a fabric cannot represent " + said
		}
		text, ok := f.RouteValue(key, value, four)
		if !ok {
			return nil, notValue(key, said, value)
		}
		node.Put(route, key, node.Text(text))
	}
	if route.Get("via") == nil && route.Get("scope") == nil && route.Get("type") == nil {
		node.Put(route, "scope", node.Plain("link"))
	}
	if to.Bits() == 0 && !to.Addr().Is4() && route.Get("via") == nil {
		node.Put(route, "to", node.Quoted("::/0"))
	}
	return route, ""
}

// notValue says what is wrong with a word's value.
func notValue(key, said, value string) string {
	if key == "table" {
		return "the number of table " + value + " is not known: name the host's /etc/iproute2/rt_tables too"
	}
	return value + " is no value for " + said
}

// ReadRule reads a rule in ip-rule(8)'s words, as netplan has it; why is what was
// wrong, "" nothing.
func ReadRule(f *readback.Host, words []string, four bool) (rule *yamldoc.Node, why string) {
	rule = &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	for i := 0; i < len(words); i++ {
		said := words[i]
		if said == "add" && i == 0 {
			continue
		}
		if i++; i == len(words) {
			return nil, said + " has no value"
		}
		value := words[i]
		key := keyOf(ruleWords[:], said)
		if key == "" {
			return nil, "a fabric cannot represent " + said
		}
		if (key == "from" || key == "to") && (value == "all" || value == "any") {
			continue
		}
		text, ok := f.RuleValue(key, value, four)
		if !ok {
			return nil, notValue(key, said, value)
		}
		node.Put(rule, key, node.Text(text))
	}
	if len(rule.Pairs) == 0 {
		return nil, "a rule that says nothing"
	}
	return rule, ""
}

// RouteLine are the words of a device's route.
func RouteLine(d device.Device, r fabric.Route) []string {
	said := d.RouteKeys(r)
	var words []string
	if said["type"] != "" {
		words = append(words, said["type"])
	}
	if r.To.Bits() == 0 {
		said["to"] = "default"
	}
	words = append(words, said["to"])
	if said["via"] != "" {
		words = append(words, "via", said["via"])
		delete(said, "via")
	}
	if said["type"] == "" || said["type"] == "local" {
		words = append(words, "dev", d.Name)
	}
	return append(words, OfRoute(said)...)
}

// RuleLine are the words of a rule.
func RuleLine(r fabric.Rule) []string {
	said := device.RuleKeys(r)
	for key, p := range map[string]netip.Prefix{"from": r.From, "to": r.To} {
		if p.IsSingleIP() {
			said[key] = p.Addr().String()
		}
	}
	if r.TOS != 0 {
		said["type-of-service"] = fmt.Sprintf("%#x", r.TOS)
	}
	said["table"] = strconv.Itoa(device.Table(r.Table))
	return OfRule(said)
}
