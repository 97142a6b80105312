package ifcfg

import (
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// routeTypes are ip-route(8)'s types that netplan has too.
var routeTypes = map[string]bool{"unicast": true, "local": true, "broadcast": true, "blackhole": true, "unreachable": true, "prohibit": true, "throw": true, "multicast": true, "anycast": true}

// ipWord is a word of ip(8)'s and the key of netplan that says the same.
type ipWord struct{ word, key string }

// ipRouteWords are ip-route(8)'s words, ipRuleWords ip-rule(8)'s: first those
// that are written, in their order, behind them other spellings.
var (
	ipRouteWords = [...]ipWord{
		{"via", "via"}, {"src", "from"}, {"scope", "scope"}, {"onlink", "on-link"}, {"table", "table"}, {"metric", "metric"}, {"mtu", "mtu"},
		{"initcwnd", "congestion-window"}, {"initrwnd", "advertised-receive-window"}, {"advmss", "advertised-mss"},
		{"priority", "metric"}, {"preference", "metric"},
	}
	ipRuleWords = [...]ipWord{
		{"from", "from"}, {"to", "to"}, {"fwmark", "mark"}, {"tos", "type-of-service"}, {"table", "table"}, {"priority", "priority"},
		{"lookup", "table"}, {"pref", "priority"}, {"preference", "priority"}, {"order", "priority"}, {"prio", "priority"}, {"dsfield", "type-of-service"},
	}
)

// keyOf is netplan's key for a word; "" none.
func keyOf(words []ipWord, word string) string {
	for _, w := range words {
		if w.word == word {
			return w.key
		}
	}
	return ""
}

// ipWords are the words for what is said of a route or a rule, each key once.
func ipWords(words []ipWord, said map[string]string) []string {
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

// routeWords reads a line of a route file, in ip-route(8)'s words; why is
// what was wrong, "" nothing.
func (r *reader) routeWords(words []string, four bool) (why string) {
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	kind := ""
	if routeTypes[words[0]] {
		kind, words = words[0], words[1:]
	}
	if len(words) == 0 {
		return "a route without a destination"
	}
	to, ok := readback.ParseDestination(words[0], four)
	if !ok {
		return words[0] + " is no destination"
	}
	node.Put(route, "to", node.Text(readback.DestinationText(to)))
	node.Put(route, "type", node.Plain(kind))
	if kind == "" || kind == "unicast" {
		node.SetKey(route, "type", nil)
	}
	for i := 1; i < len(words); i++ {
		word := words[i]
		if word == "onlink" {
			node.Put(route, "on-link", node.Plain("true"))
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
		key := keyOf(ipRouteWords[:], word)
		if key == "" {
			return "a fabric cannot represent " + word
		}
		text, ok := readback.RouteValue(key, value, four)
		if !ok {
			return value + " is no value for " + word
		}
		node.Put(route, key, node.Text(text))
	}
	if route.Get("via") == nil && route.Get("scope") == nil && route.Get("type") == nil {
		node.Put(route, "scope", node.Plain("link"))
	}
	if to.Bits() == 0 && !to.Addr().Is4() && route.Get("via") == nil {
		node.Put(route, "to", node.Quoted("::/0"))
	}
	node.Push(r.Device(r.id), "routes", route)
	return ""
}

// ruleWords reads a line of a rule file, in ip-rule(8)'s words.
func (r *reader) ruleWords(words []string, four bool) (why string) {
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
		key := keyOf(ipRuleWords[:], word)
		if key == "" {
			return "a fabric cannot represent " + word
		}
		if (key == "from" || key == "to") && (value == "all" || value == "any") {
			continue
		}
		text, ok := readback.RuleValue(key, value, four)
		if !ok {
			return value + " is no value for " + word
		}
		node.Put(rule, key, node.Text(text))
	}
	if len(rule.Pairs) == 0 {
		return "a rule that says nothing"
	}
	node.Push(r.Device(r.id), "routing-policy", rule)
	return ""
}
