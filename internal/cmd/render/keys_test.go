package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// keyCase is one key of the file set in a place of keysBase.
type keyCase struct {
	// object is the schema's name of the mapping that the key is in, key its
	// name there.
	object, key string
	// at is the line of keysBase that value is put in place of.
	at, value string
	// base takes the place of keysBase where the key needs more around it.
	base string
}

// keysBase declares one of each; a line with only a comment is a place where a
// key can be set.
const keysBase = `linerate: v1
hosts:
  h:
    network:
      version: 2
      #network
      ethernets:
        p0:
          optional: false
          #port
        p1: {}
        e0:
          addresses: [192.0.2.5/24]
          #ethernet
      bonds:
        b0:
          interfaces: [p0, p1]
          addresses: [10.0.0.2/24]
          #bond
          parameters:
            mode: MODE
            #parameters
          routes:
            - to: 10.9.0.0/16
              #route
          routing-policy:
            - from: 10.0.0.2/32
              table: 101
              #rule
      vlans:
        v0:
          link: b0
          id: 7
          addresses: [10.1.0.2/24]
          #vlan
      bridges:
        br0:
          interfaces: [e1]
          #bridge
      ETHERNET1
    #host
    profiles: []
    names: {p0: ent0, p1: ent1, e0: ent2, e1: ent3, e2: ent4}
`

func keysText(c keyCase) string {
	text := keysBase
	if c.base != "" {
		text = c.base
	}
	mode := "802.3ad"
	switch {
	case strings.Contains("primary active_slave arp_interval arp_ip_target arp_all_targets fail_over_mac primary_reselect arp_validate arp-interval arp-ip-targets arp-validate arp-all-targets fail-over-mac-policy primary-reselect-policy gratuitous-arp arp_missed_max ns_ip6_target port_prio queue_id actor_port_prio", c.key) && c.key != "":
		mode = "active-backup"
	case c.key == "packets-per-member" || c.key == "packets_per_slave" || c.key == "packets-per-slave":
		mode = "balance-rr"
	case c.key == "learn-packet-interval" || c.key == "lp_interval" || c.key == "tlb_dynamic_lb":
		mode = "balance-tlb"
	}
	if o, _ := bondopt.Find(c.key); !o.Allows(netstate.LACP) && mode == "802.3ad" {
		mode = o.Modes[0].String()
	}
	text = strings.Replace(text, "MODE", mode, 1)
	text = strings.Replace(text, "      ETHERNET1\n", "", 1)
	text = strings.Replace(text, "        p1: {}\n", "        p1: {}\n        e1: {}\n", 1)
	if c.at != "route" || !strings.Contains(c.value, "via:") && !strings.Contains(c.value, "type:") && !strings.Contains(c.value, "scope:") {
		text = strings.Replace(text, "              #route", "              via: 10.0.0.1\n              #route", 1)
	}
	if c.at == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "#"+c.at {
			indent := line[:strings.Index(line, "#")]
			lines[i] = indent + strings.ReplaceAll(c.value, "\n", "\n"+indent)
		}
	}
	return strings.Join(lines, "\n")
}

func keysRender(t *testing.T, c keyCase) map[render.Format]render.Output {
	t.Helper()
	text := keysText(c)
	file, err := fabric.Parse("keys.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%s.%s: %v\n%s", c.object, c.key, err, text)
	}
	in, _, err := InputOf(file, "h")
	if err != nil {
		t.Fatalf("%s.%s: %v\n%s", c.object, c.key, err, text)
	}
	all := map[render.Format]render.Output{}
	for _, f := range formats.All() {
		if f.Switch() {
			continue // says what a switch must have, and nothing of the host's own
		}
		out, err := Whole(f, in)
		if err != nil && f != render.FormatSysctl {
			t.Errorf("%s.%s: %s: %v", c.object, c.key, f, err)
		}
		all[f] = out
	}
	return all
}

// TestRenderSaysEveryKey sets every key of the file, one at a time, and
// expects each format to write something else for it, or to name it in a
// warning.
func TestRenderSaysEveryKey(t *testing.T) {
	bases := map[string]map[render.Format]render.Output{}
	for _, c := range keyCases() {
		base := keyCase{key: c.key}
		if c.at == "route" && keysText(c) == keysText(keyCase{base: keysText(c)}) && !strings.Contains(keysText(c), "via: 10.0.0.1\n") {
			// Compared with a route that needs no next hop either.
			base.at, base.value = "route", "scope: link"
		}
		if c.object == "address" {
			base.base, base.at, base.value = c.base, c.at, "addresses: [192.0.2.5/24, 192.0.2.6/24]"
		}
		if c.value == "scope: link" {
			base.at, base.value = "", ""
		}
		shape := keysText(base)
		if bases[shape] == nil {
			bases[shape] = keysRender(t, base)
		}
		for format, out := range keysRender(t, c) {
			if c.key == "absent" && (format == render.FormatNetworkd || format == render.FormatIfcfg) {
				continue // a word on the file to delete, where there is one
			}
			if format == render.FormatSysctl || identity[c.key] && otherSystems[format] {
				continue // sets nothing else, or goes by names: alone
			}
			if filesText(out) != filesText(bases[shape][format]) || warnsOf(out, c.key) ||
				c.object == "rule" && warnsOf(out, "routing-policy[0]") || c.object == "route" && warnsOf(out, "routes[0]") {
				continue
			}
			t.Errorf("%s: %s of %s (%s) is neither written nor warned of\nwarnings: %v", format, c.key, c.object, strings.ReplaceAll(c.value, "\n", "; "), out.Warnings)
		}
	}
}

// identity are keys that say which device is meant, which on other systems
// names: says.
var (
	identity     = map[string]bool{"match": true, "set-name": true, "name": true, "macaddress": true, "driver": true}
	otherSystems = map[render.Format]bool{render.FormatFreeBSD: true, render.FormatAIX: true, render.FormatTrueNAS: true}
)

func filesText(out render.Output) string {
	var b strings.Builder
	for _, f := range out.Files {
		fmt.Fprintf(&b, "%s\n%s\n", f.Path, f.Text)
	}
	return b.String()
}

// warnsOf reports a warning whose key names the one that was set.
func warnsOf(out render.Output, key string) bool {
	return slices.ContainsFunc(out.Warnings, func(w render.Warning) bool {
		return strings.Contains(w.Key, key) || strings.Contains(w.Why, key)
	})
}

// TestRenderKeysComplete holds the cases above against the schema: a key that
// is new there needs a case.
func TestRenderKeysComplete(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Description string `json:"description"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(fabric.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, c := range keyCases() {
		covered[c.object+"."+c.key] = true
	}
	for _, object := range []string{"network", "ethernet", "match", "bond", "vlan", "bridge", "bond_parameters", "route", "rule", "link_settings", "rings", "channels", "coalesce", "bonding", "host"} {
		properties := schema.Defs[object].Properties
		if len(properties) == 0 {
			t.Errorf("the schema has no %s", object)
		}
		for key, p := range properties {
			if !covered[object+"."+key] && !slices.Contains(asksNothing[object], key) && !strings.HasPrefix(p.Description, "older spelling") {
				t.Errorf("%s of %s has no case", key, object)
			}
		}
	}
}

// asksNothing are keys that ask nothing of a host's network: facts, words for
// other commands, what is there in keysBase, or what holds other keys.
var asksNothing = map[string][]string{
	"network":       {"version", "renderer", "ethernets", "bonds", "vlans", "bridges", "wifis", "modems", "nm-devices", "vrfs", "tunnels", "virtual-ethernets"},
	"ethernet":      {"renderer", "addresses", "gateway4", "gateway6", "routes", "routing-policy"},
	"bond":          {"renderer", "interfaces", "parameters", "addresses", "routes", "routing-policy", "gateway4", "gateway6"},
	"vlan":          {"renderer", "link", "addresses", "routes", "routing-policy", "gateway4", "gateway6"},
	"bridge":        {"renderer", "interfaces", "routes", "routing-policy", "gateway4", "gateway6"},
	"rule":          {"from"},
	"host":          {"system", "network", "reach", "become", "use", "leased", "hardware", "kernel", "rate", "cloud", "names", "bonding", "links", "profiles", "roles"},
	"link_settings": {"offloads", "rings", "channels", "coalesce"},
	"match":         {},
}

// optionNeeds is what an option is set with: under its kernel name, and under
// netplan's.
var optionNeeds = map[string][2]string{
	"updelay": {", miimon: 50", "\nmii-monitor-interval: 50"}, "downdelay": {", miimon: 50", "\nmii-monitor-interval: 50"},
	"arp_interval": {", arp_ip_target: 10.0.0.1", "\narp-ip-targets: [10.0.0.1]"}, "arp_ip_target": {`, arp_interval: "100"`, "\narp-interval: 100"},
}

// optionValue is a value that is not the kernel's own.
func optionValue(o bondopt.Option) string {
	switch o.Kind {
	case bondopt.Port:
		return "p1"
	case bondopt.IPv4List:
		return "10.0.0.9"
	case bondopt.IPv6List:
		return "2001:db8::9"
	case bondopt.MAC:
		return "02:00:00:00:00:01"
	}
	for _, word := range slices.Backward(o.Words) {
		if word != o.Default {
			return word
		}
	}
	n, _ := o.Number(o.Default)
	switch {
	case o.Unit == bondopt.Milliseconds:
		return "200" // of miimon's 50, and its 100
	case n < o.Max:
		return strconv.FormatInt(min(n+3, o.Max), 10)
	}
	return strconv.FormatInt(n-1, 10)
}

func keyCases() []keyCase {
	var all []keyCase
	add := func(object, at string, pairs ...string) {
		for _, p := range pairs {
			key, _, _ := strings.Cut(p, ":")
			all = append(all, keyCase{object: object, key: key, at: at, value: p})
		}
	}
	device := []string{
		"dhcp4: true", "dhcp6: true", "dhcp4-overrides: {use-dns: false}", "dhcp6-overrides: {use-dns: false}", "dhcp-identifier: mac", "accept-ra: true",
		"ra-overrides: {use-dns: false}", "ipv6-address-generation: eui64", "ipv6-address-token: \"::2\"", "ipv6-privacy: true", "ipv6-mtu: 1400",
		"link-local: [ipv4]", "nameservers: {addresses: [9.9.9.9]}", "optional: true", "optional-addresses: [dhcp4]", "activation-mode: manual",
		"ignore-carrier: true", "critical: true", "hairpin: true", "port-mac-learning: true", "neigh-suppress: true", "networkmanager: {name: x}", "openvswitch: {external-ids: {a: b}}",
		"mtu: 1400", "macaddress: \"02:00:00:00:00:09\"",
	}
	add("ethernet", "ethernet", device...)
	// What networkd's virtual devices have by themselves.
	virtual := strings.Split(strings.ReplaceAll(strings.Join(device, "\x00"), "ignore-carrier: true", "ignore-carrier: false"), "\x00")
	add("bond", "bond", virtual...)
	add("vlan", "vlan", virtual...)
	add("bridge", "bridge", append(virtual, "addresses: [10.2.0.1/24]", "parameters: {forward-delay: 5}")...)
	add("vlan", "vlan", "id: 8")
	add("ethernet", "ethernet", "wakeonlan: true", "emit-lldp: true", "auth: {key-management: none}", "link: p0", "infiniband-mode: datagram", "virtual-function-count: 4",
		"embedded-switch-mode: switchdev", "delay-virtual-functions-rebind: true", "receive-checksum-offload: false", "transmit-checksum-offload: false",
		"tcp-segmentation-offload: false", "tcp6-segmentation-offload: false", "generic-segmentation-offload: false", "generic-receive-offload: false",
		"large-receive-offload: false", "match: {name: e9}", "set-name: e2")
	add("match", "ethernet", "name: e0", "macaddress: \"02:00:00:00:00:07\"", "driver: ixgbe")
	for i := range all {
		if all[i].object == "match" {
			all[i].key, all[i].value = strings.TrimSpace(all[i].key), "match: {name: e0, "+all[i].value+"}"
			if all[i].key == "name" {
				all[i].value = "match: {name: e9}"
			}
		}
		if all[i].key == "set-name" {
			all[i].value = "match: {name: e9}\nset-name: e2"
		}
		if all[i].object == "vlan" && all[i].key == "id" {
			all[i].base, all[i].at, all[i].value = strings.Replace(keysBase, "          id: 7\n", "          #id\n", 1), "id", "id: 8"
		}
	}
	add("network", "network", "dummy-devices: {d0: {addresses: [10.3.0.1/32]}}", "openvswitch: {external-ids: {a: b}}")
	all = append(all, keyCase{"bond_parameters", "mode", "mode", "mode: balance-xor", strings.Replace(keysBase, "            mode: MODE\n", "            #mode\n", 1)})
	add("route", "route", "metric: 50", "table: 102", "from: 10.0.0.2", "on-link: true", "mtu: 1300", "type: blackhole", "scope: link", "via: 10.0.0.7",
		"congestion-window: 20", "advertised-receive-window: 30", "advertised-mss: 1200")
	all = append(all, keyCase{"route", "to", "to", "- to: 10.7.0.0/16\n  via: 10.0.0.1", strings.Replace(keysBase, "            - to: 10.9.0.0/16\n              #route\n", "            #to\n", 1)})
	for _, o := range []string{"label: \"e0:1\"", "lifetime: 0"} {
		all = append(all, keyCase{object: "address", key: strings.Split(o, ":")[0], at: "address", value: "addresses: [192.0.2.5/24, {192.0.2.6/24: {" + o + "}}]",
			base: strings.Replace(keysBase, "          addresses: [192.0.2.5/24]\n", "          #address\n", 1)})
	}
	add("rule", "rule", "to: 10.7.0.0/16", "priority: 77", "mark: 9", "type-of-service: 16")
	all = append(all, keyCase{"rule", "table", "table", "table: 103", strings.Replace(keysBase, "              table: 101\n", "              #table\n", 1)})
	beside := func(object, key, value string) {
		all = append(all, keyCase{object: object, key: key, at: "host", value: value})
	}
	for _, o := range bondopt.Options() {
		if o.Name == "mode" {
			continue
		}
		value, needs := optionValue(o), optionNeeds[o.Name]
		for _, name := range []string{o.Name, o.Twin} {
			if name != "" {
				beside("bonding", name, fmt.Sprintf("bonding: {b0: {%s: %q%s}}", name, value, needs[0]))
			}
		}
		if said, ok := o.Saying(bondopt.Netplan); ok && !said.Has(value) {
			value = o.Words[1]
		} else if o.Listed() {
			value = "[" + value + "]"
		}
		if said, ok := o.Saying(bondopt.Netplan); ok {
			if o.Switch() {
				value = strconv.FormatBool(value == "1")
			}
			add("bond_parameters", "parameters", said.Name+": "+value+needs[1])
		}
	}
	all = append(all, keyCase{"bonding", "mode", "host", "bonding: {b0: {mode: balance-xor}}", strings.Replace(keysBase, "            mode: MODE\n", "            mii-monitor-interval: 100\n", 1)})
	beside("link_settings", "qdisc", "links: {e0: {qdisc: fq maxrate 10gbit}}")
	for _, o := range bondopt.Ports() {
		beside("link_settings", o.Key, "links: {p0: {"+o.Key+": "+optionValue(o)+"}}")
	}
	for _, feature := range []string{"gro", "tso", "rx-gro-hw", "tx-nocache-copy", "hw-tc-offload"} {
		beside("link_settings", feature, "links: {e0: {offloads: {"+feature+": on}}}")
	}
	beside("rings", "rx", "links: {e0: {rings: {rx: 4096}}}")
	beside("rings", "tx", "links: {e0: {rings: {tx: 4096}}}")
	beside("channels", "rx", "links: {e0: {channels: {rx: 4, tx: 2}}}")
	beside("channels", "tx", "links: {e0: {channels: {rx: 2, tx: 4}}}")
	beside("channels", "combined", "links: {e0: {channels: {combined: 4}}}")
	for _, name := range []string{"adaptive-rx", "adaptive-tx"} {
		beside("coalesce", name, "links: {e0: {coalesce: {"+name+": on}}}")
	}
	for _, name := range strings.Fields("rx-usecs rx-frames rx-usecs-irq rx-frames-irq tx-usecs tx-frames tx-usecs-irq tx-frames-irq stats-block-usecs pkt-rate-low rx-usecs-low rx-frames-low tx-usecs-low tx-frames-low pkt-rate-high rx-usecs-high rx-frames-high tx-usecs-high tx-frames-high sample-interval") {
		beside("coalesce", name, "links: {e0: {coalesce: {"+name+": 17}}}")
	}
	beside("host", "sysctl", "sysctl: {net.ipv4.tcp_rmem: \"4096 131072 33554432\"}")
	beside("host", "multipath", "multipath: [{to: 172.16.0.0/12, table: 102, metric: 5, hops: [{via: 192.0.2.1, dev: e0}, {via: 10.0.0.1, dev: b0, weight: 3}]}]")
	beside("host", "mptcp", "mptcp: {subflows: 8}")
	beside("host", "mptcp", "mptcp: {add_addr_accepted: 8}")
	beside("host", "mptcp", "mptcp: {endpoints: [{address: 192.0.2.5, dev: e0, flags: [subflow]}]}")
	beside("host", "source_rules", "source_rules: [e0, b0]")
	beside("host", "absent", "absent: [bond9]")
	return all
}
