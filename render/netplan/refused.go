package netplan

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/node"
)

// refusal is something that can be said, and for which netplan refuses the whole file:
// it does not go with the rest, or not with the program that netplan hands over to.
type refusal struct {
	at       *yamldoc.Node
	id, key  string
	why      string
	whatToDo string
}

func (r refusal) String() string {
	return fmt.Sprintf("`netplan generate` refuses the file: %s (%s)", r.why, r.whatToDo)
}

// refusals are all of a network (netplan 1.2.2: combine_dhcp_overrides and
// netplan_netdef_write_networkd of src/networkd.c, write_routes_nm, write_ip_rules_nm,
// write_nm_conf_access_point and netplan_netdef_write_nm of src/nm.c,
// validate_netdef_grammar of src/validation.c).
func refusals(network *yamldoc.Node) []refusal {
	var all []refusal
	grammar(network, func(id string) sayer {
		return func(at *yamldoc.Node, key, why, whatToDo string) {
			all = append(all, refusal{at, id, key, why, whatToDo})
		}
	})
	for _, section := range node.Pairs(network) {
		for _, d := range node.Pairs(section.Value) {
			if d.Value.Kind != yamldoc.MappingNode || fabric.ByOVS(d.Value) {
				continue
			}
			say := func(at *yamldoc.Node, key, why, whatToDo string) {
				all = append(all, refusal{at, d.Key, key, why, whatToDo})
			}
			switch renderer := rendererFor(network, section.Value, d.Value); renderer {
			case "NetworkManager":
				refusedForManager(d.Value, say)
			case "", "networkd":
				refusedForNetworkd(section.Key, d.Value, say)
			}
		}
	}
	return all
}

// rendererFor is the program that a device is handed over to, "" for networkd.
func rendererFor(network, section, device *yamldoc.Node) string {
	for _, n := range []*yamldoc.Node{device, section, network} {
		if said := node.Said(n.Get("renderer")); said != "" {
			return said
		}
	}
	return ""
}

type sayer func(at *yamldoc.Node, key, why, whatToDo string)

// overrideKeys are those of DHCP with what netplan takes where the file is silent.
var overrideKeys = []struct{ key, unsaid string }{
	{"use-dns", "true"}, {"use-domains", ""}, {"use-ntp", "true"}, {"send-hostname", "true"}, {"use-hostname", "true"},
	{"use-mtu", "true"}, {"hostname", ""}, {"route-metric", ""}, {"use-routes", "true"},
}

func refusedForNetworkd(section string, d *yamldoc.Node, say sayer) {
	if node.True(d.Get("dhcp4")) && node.True(d.Get("dhcp6")) {
		for _, o := range overrideKeys {
			var values [2]string
			var at *yamldoc.Node
			for i, family := range []string{"dhcp4-overrides", "dhcp6-overrides"} {
				values[i] = o.unsaid
				if n := d.Get(family).Get(o.key); n != nil {
					values[i], at = node.Said(n), n
				}
				if o.unsaid == "true" {
					values[i] = map[bool]string{true: "true", false: "false"}[node.Yes(values[i])]
				}
			}
			if values[0] != values[1] {
				say(at, "dhcp6-overrides."+o.key, "systemd-networkd takes one "+o.key+" for both families", "write the same under dhcp4-overrides and dhcp6-overrides")
			}
		}
	}
	if word := d.Get("macaddress"); section != "wifis" && slices.Contains([]string{"stable", "preserve", "stable-ssid"}, node.Said(word)) {
		say(word, "macaddress", "systemd-networkd has no "+node.Said(word)+" address", "write an address, permanent or random, or renderer: NetworkManager")
	}
	if own := d.Get("networkmanager"); own != nil && len(own.Pairs) > 0 {
		say(own, "networkmanager", "the renderer is not NetworkManager", "take networkmanager out, or write renderer: NetworkManager")
	}
}

func refusedForManager(d *yamldoc.Node, say sayer) {
	const networkd = "renderer: networkd"
	if mode := d.Get("activation-mode"); mode != nil && node.Said(mode) == "off" {
		say(mode, "activation-mode", "NetworkManager has no activation-mode off", "write manual, or "+networkd)
	}
	if mtu := d.Get("ipv6-mtu"); mtu != nil {
		say(mtu, "ipv6-mtu", "NetworkManager has no ipv6-mtu", "take it out, or write "+networkd)
	}
	if driver := d.Get("match").Get("driver"); driver != nil && d.Get("set-name") == nil {
		say(driver, "match.driver", "NetworkManager matches no driver", "match by name or macaddress, or write "+networkd)
	}
	for i, a := range node.Items(d.Get("addresses")) {
		if a.Kind == yamldoc.MappingNode {
			say(a, fmt.Sprintf("addresses[%d]", i), "NetworkManager takes no options of an address", "write the address alone, or "+networkd)
		}
	}
	for i, r := range node.Items(d.Get("routes")) {
		if kind := r.Get("type"); kind != nil && node.Said(kind) != "unicast" {
			say(kind, fmt.Sprintf("routes[%d].type", i), "with NetworkManager netplan takes unicast routes alone", "take the route out, or write "+networkd)
		}
	}
	for i, r := range node.Items(d.Get("routing-policy")) {
		if r.Get("priority") == nil {
			say(r, fmt.Sprintf("routing-policy[%d]", i), "with NetworkManager a rule needs its priority", "add priority: NUMBER, another for each rule")
		}
	}
}
