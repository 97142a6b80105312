package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
)

// networkKeys is netplan's top level, version 2 (netplan 1.1,
// doc/netplan-yaml.md).
var networkKeys = object[Network]{
	name: "network", doc: "netplan version 2, as the host has it in /etc/netplan.",
	keys: []key[Network]{
		{"version", "netplan's format, 2", one(netplanVersion, func(*Network) *string { return new(string) })},
		{"renderer", "the program that netplan hands over to", one(word("networkd", "NetworkManager"), func(n *Network) *string { return &n.Renderer })},
		{"ethernets", "physical devices", namedBeside("device", sectionKeys, ethernetKeys, func(n *Network, id string) *Ethernet {
			n.Ethernets = append(n.Ethernets, Ethernet{Device: Device{ID: id}})
			return &n.Ethernets[len(n.Ethernets)-1]
		})},
		{"bonds", "bonds", namedBeside("bond", sectionKeys, bondDevice, func(n *Network, id string) *Bond {
			n.Bonds = append(n.Bonds, Bond{Device: Device{ID: id}, Options: kernelBond()})
			return &n.Bonds[len(n.Bonds)-1]
		})},
		{"vlans", "802.1Q devices", namedBeside("vlan", sectionKeys, vlanKeys, func(n *Network, id string) *VLAN {
			n.VLANs = append(n.VLANs, VLAN{Device: Device{ID: id}})
			return &n.VLANs[len(n.VLANs)-1]
		})},
		{"bridges", "bridges", namedBeside("bridge", sectionKeys, bridgeKeys, func(n *Network, id string) *Bridge {
			n.Bridges = append(n.Bridges, Bridge{Device: Device{ID: id}})
			return &n.Bridges[len(n.Bridges)-1]
		})},
		{"dummy-devices", "dummy devices", others("dummy-devices")},
		{"virtual-ethernets", "veth pairs", others("virtual-ethernets")},
		{"vrfs", "VRFs", others("vrfs")},
		{"tunnels", "tunnels", others("tunnels")},
		{"wifis", "wireless devices", others("wifis")},
		{"modems", "modems", others("modems")},
		{"nm-devices", "NetworkManager's own", others("nm-devices")},
		{ovsKey, "Open vSwitch; " + NotPlanned, unread(func(n *Network) *[]yamldoc.Pair { return &n.Unread })},
	},
	alias: map[string]string{"ethernet": "ethernets", "bond": "bonds", "vlan": "vlans", "bridge": "bridges"},
}

// sectionKeys may stand among a section's devices.
var sectionKeys = []string{"renderer"}

var netplanVersion = scalar[string]{
	schema: either(map[string]any{"const": 2}, map[string]any{"const": "2"}),
	parse: func(s string) (string, error) {
		if s != "2" {
			return "", fmt.Errorf("%s is not netplan's version 2", s)
		}
		return s, nil
	},
	hint: "only netplan version 2 is read; cloud-init's version 1 is another format",
}

// unread keeps a key as it is.
func unread[T any](at func(*T) *[]yamldoc.Pair) reader[T] {
	return reader[T]{
		schema: func(*schemaWriter) map[string]any { return map[string]any{} },
		read: func(d *decoder, p place, n *yamldoc.Node, into *T) {
			name := string(p[strings.LastIndexByte(string(p), '.')+1:])
			if check, known := keptKinds[name]; known && n.Kind != yamldoc.NullNode {
				check(d, p, n)
			}
			*at(into) = append(*at(into), yamldoc.Pair{Key: name, Line: n.Line, Column: n.Column, Value: n})
		},
	}
}

// keptRows are keys whose values are kept as they were written: names and what
// they mean.
func keptRows[T any](at func(*T) *[]yamldoc.Pair, named [][2]string) []key[T] {
	rows := make([]key[T], len(named))
	for i, k := range named {
		rows[i] = key[T]{k[0], k[1], unread(at)}
	}
	return rows
}

// NotPlanned describes a key of netplan that render writes and that changes no
// plan.
const NotPlanned = "netplan's: rendered, not planned"

func notPlanned(names ...string) [][2]string {
	rows := make([][2]string, len(names))
	for i, name := range names {
		rows[i] = [2]string{name, NotPlanned}
	}
	return rows
}

// deviceKeys are netplan's keys that every kind of device takes.
var deviceKeys = append([]key[Device]{
	{"mtu", "MTU in bytes", one(integer(0, 65536), func(d *Device) *int { return &d.MTU })},
	{"macaddress", "MAC address to set", macOrWord},
	{"addresses", "addresses with prefix length; {ADDRESS: {label: ...}} also", addressList},
	{"routes", "static routes", list(routeKeys, func(d *Device) *[]Route { return &d.Routes })},
	{"routing-policy", "policy routing rules", list(ruleKeys, func(d *Device) *[]Rule { return &d.Rules })},
	{"gateway4", "IPv4 default gateway (netplan prefers routes)", gateway("0.0.0.0/0")},
	{"gateway6", "IPv6 default gateway (netplan prefers routes)", gateway("::/0")},
}, keptRows(func(d *Device) *[]yamldoc.Pair { return &d.Unread }, append([][2]string{
	{"dhcp4", "IPv4 addresses are leased: plan keeps the leases, and asks for none"},
	{"dhcp6", "IPv6 addresses are leased: plan keeps the leases, and asks for none"},
	{"accept-ra", "takes router advertisements: plan keeps what they gave"},
	{"optional", "the device may be missing"},
	{ovsKey, "a bond or bridge of Open vSwitch: rendered and predicted, and never changed by plan"},
	{"activation-mode", "manual: plan leaves the device up or down as it is; off: plan takes it down"},
}, notPlanned("renderer", "dhcp4-overrides", "dhcp6-overrides", "dhcp-identifier", "ra-overrides",
	"ipv6-address-generation", "ipv6-address-token", "ipv6-privacy", "ipv6-mtu", "link-local", "nameservers",
	"optional-addresses", "ignore-carrier", "critical", "hairpin", "port-mac-learning", "neigh-suppress", "networkmanager")...))...)

var deviceAliases = map[string]string{
	"ip": "addresses", "address": "addresses", "gateway": "gateway4", "dns": "nameservers", "route": "routes",
	"rules": "routing-policy", "mac": "macaddress", "slaves": "interfaces", "hwaddr": "macaddress",
}

var ethernetKeys = object[Ethernet]{
	name: "ethernet", doc: "A physical device, or with match a group of them.",
	keys: append(append([]key[Ethernet]{
		{"match", "selects devices by what they are", reader[Ethernet]{schema: sub(matchKeys, func(e *Ethernet) *Match { return nil }).schema, read: readMatch}},
		{"set-name", "name to give the matched device", one(free, func(e *Ethernet) *string { return &e.SetName })},
	}, lifted(deviceKeys, func(e *Ethernet) *Device { return &e.Device })...),
		keptRows(func(e *Ethernet) *[]yamldoc.Pair { return &e.Unread }, append(offloadRows(),
			notPlanned("wakeonlan", "emit-lldp", "auth", "link", "infiniband-mode", "virtual-function-count", "embedded-switch-mode",
				"delay-virtual-functions-rebind")...))...),
	alias: deviceAliases,
}

func readMatch(d *decoder, at place, n *yamldoc.Node, into *Ethernet) {
	m := &Match{}
	matchKeys.decode(d, at, n, m)
	// An empty match has netplan's meaning: every device.
	into.Match = m
}

var matchKeys = object[Match]{
	name: "match", doc: "What a device must be; all that is given must hold.",
	keys: []key[Match]{
		{"name", "interface name, a glob", one(free, func(m *Match) *string { return &m.Name })},
		{"macaddress", "MAC address", one(mac, func(m *Match) *flow.MAC { return &m.MAC })},
		{"driver", "kernel driver, a glob or a list of globs", reader[Match]{
			schema: func(*schemaWriter) map[string]any {
				return either(map[string]any{"type": "string"}, map[string]any{"type": "array", "items": map[string]any{"type": "string"}})
			},
			read: func(d *decoder, at place, n *yamldoc.Node, into *Match) {
				if n.Kind == yamldoc.SequenceNode {
					if len(n.Items) == 0 {
						d.wrong(at, n, "names no driver", "name one, or leave driver out")
					}
					many(free, func(m *Match) *[]string { return &m.Drivers }).read(d, at, n, into)
				} else if v, ok := free.decode(d, at, n); ok {
					into.Drivers = []string{v}
				}
			},
		}},
	},
}

var bondDevice = object[Bond]{
	name: "bond", doc: "A bond.",
	keys: append([]key[Bond]{
		{"interfaces", "the ports, in the order they are added; [] none; left out, a bond keeps those it has", many(free, func(b *Bond) *[]string { return &b.Interfaces })},
		{"parameters", "bonding options", sub(bondParameters, func(b *Bond) *Bond { return b })},
	}, lifted(deviceKeys, func(b *Bond) *Device { return &b.Device })...),
	alias: deviceAliases,
}

var vlanKeys = object[VLAN]{
	name: "vlan", doc: "An 802.1Q device.",
	keys: append([]key[VLAN]{
		{"id", "VLAN number", one(integer(0, 4094), func(v *VLAN) *int { return &v.Tag })},
		{"link", "the device it rides on", one(free, func(v *VLAN) *string { return &v.Link })},
	}, lifted(deviceKeys, func(v *VLAN) *Device { return &v.Device })...),
	required: []string{"id", "link"},
	alias:    deviceAliases,
}

var bridgeKeys = object[Bridge]{
	name: "bridge", doc: "A bridge.",
	keys: append([]key[Bridge]{
		{"interfaces", "the ports", many(free, func(b *Bridge) *[]string { return &b.Interfaces })},
		{"parameters", "bridging options; " + NotPlanned, reader[Bridge]{
			schema: func(*schemaWriter) map[string]any { return map[string]any{} },
			read: func(d *decoder, at place, n *yamldoc.Node, into *Bridge) {
				bridgeParameters(d, at, n)
				into.Parameters = n
			},
		}},
	}, lifted(deviceKeys, func(b *Bridge) *Device { return &b.Device })...),
	alias: deviceAliases,
}

// others reads a section whose own keys are kept as they were written.
func others(section string) reader[Network] {
	o := object[Other]{
		name: "other_device", doc: "A device of a kind that linerate does not model.",
		keys: lifted(deviceKeys, func(o *Other) *Device { return &o.Device }),
		rest: func(o *Other, p yamldoc.Pair) { o.Unread = append(o.Unread, p) },
	}
	return namedBeside("device", sectionKeys, o, func(n *Network, id string) *Other {
		n.Others = append(n.Others, Other{Device: Device{ID: id}, Section: section})
		return &n.Others[len(n.Others)-1]
	})
}

// macOrWord reads an address, or one of NetworkManager's words, which are kept.
var macOrWord = reader[Device]{
	schema: func(*schemaWriter) map[string]any {
		return either(mac.schema, map[string]any{"enum": macWords})
	},
	read: func(d *decoder, at place, n *yamldoc.Node, into *Device) {
		if slices.Contains(macWords, n.Text) {
			into.Unread = append(into.Unread, yamldoc.Pair{Key: "macaddress", Line: n.Line, Column: n.Column, Value: n})
			return
		}
		one(mac, func(d *Device) *flow.MAC { return &d.MAC }).read(d, at, n, into)
		if into.MAC[0]&1 != 0 {
			d.wrong(at, n, into.MAC.String()+" is a group's address, and no device's (is_valid_ether_addr)", "clear the lowest bit of its first byte")
		}
	},
}

var macWords = []string{"permanent", "random", "stable", "stable-ssid", "preserve"}

// gateway is a default route in netplan's older spelling.
func gateway(to string) reader[Device] {
	return reader[Device]{
		schema: func(*schemaWriter) map[string]any { return address.schema },
		read: func(d *decoder, at place, n *yamldoc.Node, into *Device) {
			a, ok := address.decode(d, at, n)
			if !ok {
				return
			}
			dst := netip.MustParsePrefix(to)
			if a.Is4() != dst.Addr().Is4() {
				d.wrong(at, n, fmt.Sprintf("%s is of the other address family", a), "")
				return
			}
			into.Routes = append(into.Routes, Route{To: dst, Via: a})
		},
	}
}
