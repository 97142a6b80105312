package nmstate

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// memory is what a case remembers of the host: the hardware addresses that links
// came with, and those before the step.
type memory struct{ own, before map[string]string }

// holds says what is not as a line wants it; "" all is. A line is one of
//
//	LINK absent | up | ports [PORT...] | address A | mtu N
//	LINK mac ADDRESS | own | of LINK | kept | changed
//	LINK OPTION VALUE...                 a bond's, a port's or a VLAN's, by ip's name
//	[no] route DESTINATION [KEY VALUE]...
//	[no] rule|rule4|rule6 [KEY VALUE]...
//	endpoint ADDRESS FLAG...
func (s seen) holds(line string, m memory) string {
	words := strings.Fields(line)
	wanted := words[0] != "no"
	if !wanted {
		words = words[1:]
	}
	is, shown := true, any(nil)
	switch what := words[0]; what {
	case "route":
		is, shown = anyHas(s.routes, append([]string{"dst"}, words[1:]...)), s.routes
	case "rule", "rule4", "rule6":
		is, shown = anyHas(s.rules, append(words[1:], familyOf(what)...)), s.rules
	case "endpoint":
		is, shown = slices.ContainsFunc(s.endpoints, func(e map[string]any) bool {
			return e["address"] == words[1] && !slices.ContainsFunc(words[2:], func(flag string) bool { return !hasFlag(e, flag) })
		}), s.endpoints
	default:
		is, shown = s.link(words[0], words[1], words[2:], m)
	}
	if is != wanted {
		return fmt.Sprintf("not so: %s; there is %v", line, shown)
	}
	return ""
}

func (s seen) link(name, what string, values []string, m memory) (bool, any) {
	l, there := s.links[name]
	if what == "absent" || !there {
		return !there && what == "absent", l
	}
	switch what {
	case "up":
		return slices.Contains(anyStrings(l["flags"]), "UP"), l["flags"]
	case "ports":
		return slices.Equal(s.ports(name), values), s.ports(name)
	case "address":
		return slices.Contains(s.addresses[name], values[0]), s.addresses[name]
	case "mtu":
		return fmt.Sprint(l["mtu"]) == values[0], l["mtu"]
	case "mac":
		return s.macIs(name, values, m), l["address"]
	}
	value := at(l, "linkinfo", "info_data", what)
	if value == nil {
		value = at(l, "linkinfo", "info_slave_data", what)
	}
	if list, ok := value.([]any); ok || what == "arp_ip_target" {
		have := slices.DeleteFunc(anyStrings(list), func(v string) bool { return v == "" || v == "<nil>" })
		return slices.Equal(have, values), have
	}
	return fmt.Sprint(value) == values[0], value
}

func (s seen) macIs(name string, values []string, m memory) bool {
	switch have := s.mac(name); values[0] {
	case "own":
		return have == m.own[name]
	case "of":
		return have == m.own[values[1]]
	case "kept":
		return have == m.before[name]
	case "changed":
		return have != m.before[name]
	default:
		return have == strings.ToLower(values[0])
	}
}

func familyOf(rule string) []string {
	if family := strings.TrimPrefix(rule, "rule"); family != "" {
		return []string{"family", family}
	}
	return nil
}

func hasFlag(e map[string]any, flag string) bool {
	return e[flag] == true || slices.Contains(anyStrings(e["flags"]), flag)
}

// anyHas reports an entry with all the pairs of keys and values.
func anyHas(all []map[string]any, pairs []string) bool {
	return slices.ContainsFunc(all, func(entry map[string]any) bool {
		for i := 0; i+1 < len(pairs); i += 2 {
			if !has(entry, pairs[i], pairs[i+1]) {
				return false
			}
		}
		return true
	})
}

func has(entry map[string]any, key, want string) bool {
	switch key {
	case "dst":
		if p, err := netip.ParsePrefix(want); err == nil && p.Bits() == 0 {
			return entry["dst"] == "default" && (entry["family"] == "4") == p.Addr().Is4()
		}
	case "weights":
		var weights []string
		for _, hop := range items(entry["nexthops"]) {
			weights = append(weights, fmt.Sprint(hop["weight"]))
		}
		return strings.Join(weights, ",") == want
	case "initcwnd":
		metrics, _ := entry["metrics"].([]any)
		return slices.ContainsFunc(metrics, func(m any) bool { return fmt.Sprint(at(m, key)) == want })
	}
	return fmt.Sprint(entry[key]) == want
}
