package formats

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
)

// TestCloudInit: what a cloud's file of version 1 says is netplan's of version 2.
func TestCloudInit(t *testing.T) {
	for _, c := range []struct{ name, first, second string }{
		{"a card by its address, a lease", `
- {type: physical, name: eth0, mac_address: "AA:BB:cc:dd:ee:00", mtu: 9000, accept-ra: no, subnets: [{type: dhcp}, {type: ipv6_slaac}]}
`, `
ethernets:
  eth0: {match: {macaddress: "aa:bb:cc:dd:ee:00"}, set-name: eth0, mtu: 9000, accept-ra: false, dhcp4: true, dhcp6: true}
`},
		{"masks in every form", `
- type: physical
  name: eth0
  subnets:
    - {type: static, address: 192.0.2.5, netmask: 255.255.255.128}
    - {type: static, address: 198.51.100.5/255.255.240.0}
    - {type: static, address: 203.0.113.5, prefix: 26}
    - {type: static, address: 10.0.0.5}
    - {type: static6, address: "2001:db8::5", netmask: "ffff:ffff:ffff:8000::"}
    - {type: static6, address: "2001:db8:1::5"}
`, `
ethernets:
  eth0: {addresses: ["192.0.2.5/25", "198.51.100.5/20", "203.0.113.5/26", "10.0.0.5/24", "2001:db8::5/49", "2001:db8:1::5/64"]}
`},
		{"a bond with every spelling of an option, a VLAN above it", `
- {type: physical, name: eth0}
- {type: physical, name: eth1}
- type: bond
  name: bond0
  mac_address: aa:bb:cc:dd:ee:ff
  bond_interfaces: [eth0, eth1]
  params: {bond-mode: 4, bond_miimon: 100, bond-xmit_hash_policy: layer3+4, bond-lacp-rate: fast, bond-min-links: 2, bond-num_unsol_na: 3}
- {type: vlan, name: bond0.7, vlan_link: bond0, vlan_id: 7, subnets: [{type: static, address: 192.0.2.1/24, mtu: 1400}]}
`, `
ethernets:
  eth0: {}
  eth1: {}
bonds:
  bond0: {macaddress: "aa:bb:cc:dd:ee:ff", interfaces: [eth0, eth1], parameters: {mode: 802.3ad, mii-monitor-interval: 100, transmit-hash-policy: layer3+4, lacp-rate: fast, min-links: 2, gratuitous-arp: 3}}
vlans:
  bond0.7: {id: 7, link: bond0, addresses: ["192.0.2.1/24"], mtu: 1400}
`},
		{"a bridge", `
- {type: physical, name: eth0}
- {type: bridge, name: br0, bridge_interfaces: [eth0], params: {bridge_stp: 'off', bridge_fd: 2, bridge_pathcost: [eth0 50], bridge_portprio: eth0 28, bridge_waitport: 1 eth0}}
`, `
ethernets:
  eth0: {}
bridges:
  br0: {interfaces: [eth0], parameters: {stp: false, forward-delay: 2, path-cost: {eth0: 50}, port-priority: {eth0: 28}}}
`},
		{"routes: a subnet's, and the host's to the narrowest network of its gateway", `
- type: physical
  name: eth0
  subnets:
    - {type: static, address: 10.0.0.2/8, gateway: 10.0.0.1, routes: [{network: 172.16.0.0, netmask: 255.240.0.0, gateway: 10.0.0.9, metric: 3}]}
- {type: physical, name: eth1, subnets: [{type: static, address: 10.1.0.2/16}, {type: static6, address: "2001:db8::2/64"}]}
- {type: route, destination: 192.168.0.0/16, gateway: 10.1.0.1}
- {type: route, destination: "::", netmask: "::", gateway: "2001:db8::1"}
`, `
ethernets:
  eth0:
    addresses: ["10.0.0.2/8"]
    routes: [{to: default, via: "10.0.0.1"}, {to: "172.16.0.0/12", via: "10.0.0.9", metric: 3}]
  eth1:
    addresses: ["10.1.0.2/16", "2001:db8::2/64"]
    routes: [{to: "192.168.0.0/16", via: "10.1.0.1"}, {to: default, via: "2001:db8::1"}]
`},
		{"name servers: a subnet's, an interface's, the host's", `
- {type: physical, name: eth0, subnets: [{type: static, address: 10.0.0.2/8, dns_nameservers: [10.0.0.53], dns_search: a.example b.example}]}
- {type: physical, name: eth1}
- {type: nameserver, interface: eth1, address: 10.0.0.54}
- {type: nameserver, address: [10.0.0.55, 10.0.0.53], search: c.example}
`, `
ethernets:
  eth0: {addresses: ["10.0.0.2/8"], nameservers: {addresses: [10.0.0.53, 10.0.0.55], search: [a.example, b.example, c.example]}}
  eth1: {nameservers: {addresses: [10.0.0.54]}}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := cloudFacts(t, "network-config", "version: 1\nconfig:"+c.first)
			if diff := cmp.Diff(cloudFacts(t, "second.yaml", "version: 2"+c.second), got); diff != "" {
				t.Errorf("version 1 is not what version 2 says (-second +first):\n%s", diff)
			}
			// Below a key, as cloud.cfg.d has it.
			below := cloudFacts(t, "50.yaml", "network:\n  version: 1\n  config:"+strings.ReplaceAll(c.first, "\n", "\n    "))
			if diff := cmp.Diff(got, below); diff != "" {
				t.Errorf("below the key network it says otherwise:\n%s", diff)
			}
		})
	}
}

// cloudFacts are what is read of a host, a line each, lists in their order.
func cloudFacts(t *testing.T, file, text string) []string {
	t.Helper()
	found, err := Read(render.FormatNetplan, map[string]string{file: text})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var all []string
	var walk func(at string, n *yamldoc.Node)
	walk = func(at string, n *yamldoc.Node) {
		if n.Kind == yamldoc.ScalarNode {
			all = append(all, at+" = "+n.Text)
		}
		for _, p := range n.Pairs {
			walk(at+"."+p.Key, p.Value)
		}
		for i, item := range n.Items {
			walk(at+"."+strconv.Itoa(i), item)
		}
		if len(n.Pairs)+len(n.Items) == 0 && n.Kind != yamldoc.ScalarNode {
			all = append(all, at)
		}
	}
	walk("", found.Keys)
	slices.Sort(all)
	return all
}

// TestCloudInitUnread: what is not read is one line at its place, and the rest is read.
func TestCloudInitUnread(t *testing.T) {
	found, err := Read(render.FormatNetplan, map[string]string{"cloud/network-config": `version: 1
config:
  - {type: physical, name: eth0, surprise: 1, subnets: [{type: static, address: 10.0.0.2/8}, {type: static, address: nowhere}, {type: pppoe}]}
  - type: tunnel
    name: tun0
  - type: bond
    name: bond0
    bond_interfaces: [eth0]
    params: {bond-mode: magic, bond-colour: red}
  - {type: route, destination: 192.168.0.0/16, gateway: 203.0.113.1}
  - {type: nameserver, interface: eth9, address: 10.0.0.1}
  - {type: route, destination: "::/0", gateway: 10.0.0.1}
`})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range found.Unread {
		got = append(got, u.Path+":"+strconv.Itoa(u.Line)+":"+strconv.Itoa(u.Column)+" "+u.Key)
	}
	want := []string{
		"cloud/network-config:3:34 surprise", "cloud/network-config:3:118 address", "cloud/network-config:3:128 type pppoe",
		"cloud/network-config:4:5 type tunnel", "cloud/network-config:9:25 bond-mode", "cloud/network-config:9:45 bond-colour",
		"cloud/network-config:10:5 route", "cloud/network-config:11:35 interface", "cloud/network-config:12:49 gateway",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
	if text := string(found.FabricFile("h")); !strings.Contains(text, "10.0.0.2/8") || !strings.Contains(text, "bond0") {
		t.Errorf("the rest is not read:\n%s", text)
	}
}

// FuzzCloudInit: no text makes the reader fail otherwise than by an error.
func FuzzCloudInit(f *testing.F) {
	f.Add("version: 1\nconfig:\n- {type: bond, name: b, params: {bond-mode: 1, bond_x: [1]}, subnets: [{type: static, address: 1.2.3.4/33, routes: [{}]}]}\n- {type: route}\n- {type: nameserver}\n- 3\n")
	f.Add("version: 1\nconfig: {a: 1}\n")
	f.Add("version: 1\nconfig:\n- {type: bridge, name: b, bridge_interfaces: {a: b}, params: {bridge_pathcost: {a: b}, bridge_stp: [1]}, subnets: {a: b}}\n- {type: vlan, name: v, vlan_id: [1], mac_address: {}}\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = Read(render.FormatNetplan, map[string]string{"network-config": text})
	})
}
