package formats

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"pgregory.net/rapid"
)

// values are a part of a fabric file by key.
type values = map[string]any

// drawer draws the parts of a fabric file.
type drawer struct{ t *rapid.T }

func (d drawer) one(label string, of ...string) string { return rapid.SampledFrom(of).Draw(d.t, label) }

// one in n is true.
func (d drawer) oneIn(n int, label string) bool {
	return rapid.IntRange(0, n-1).Draw(d.t, label) == n-1
}

// some puts one of the values below the key, one time in n.
func (d drawer) some(n int, into values, key string, of ...any) {
	if d.oneIn(n, key) {
		into[key] = rapid.SampledFrom(of).Draw(d.t, key+"'s value")
	}
}

// drawnHost is a fabric with one host, as users write them: a bond of any mode with any
// of its options, VLANs, a bridge, a dummy device, and what stands beside the network.
func drawnHost(t *rapid.T) string {
	d := drawer{t}
	ports := []string{"p0", "p1", "p2", "p3"}[:2+2*rapid.IntRange(0, 1).Draw(t, "more ports")]
	ethernets := values{"eth0": d.device("eth0", "192.0.2", "2001:db8:0:2")}
	mtu := rapid.SampledFrom([]int{0, 1500, 9000, 2000}).Draw(t, "bond MTU")
	for i, p := range ports {
		ethernets[p] = values{}
		if mtu > 0 {
			ethernets[p].(values)["mtu"] = mtu
		}
		if d.oneIn(6, "match") {
			ethernets[p].(values)["match"], ethernets[p].(values)["set-name"] = values{"macaddress": fmt.Sprintf("02:00:00:00:01:%02x", i)}, p
		}
	}
	host := values{"profiles": []string{}}
	bond := values{"interfaces": ports}
	mode := rapid.SampledFrom(netstate.BondModes()).Draw(t, "mode")
	bond["parameters"], host["bonding"] = d.bond(mode, ports)
	network := values{"version": 2, "ethernets": ethernets, "bonds": values{"b0": bond}}
	over := "b0"
	if d.oneIn(3, "addresses on the bond") {
		maps.Copy(bond, d.device("b0", "10.1.0", "2001:db8:0:1"))
	} else {
		over = d.one("VLAN", "lan", "b0.7", "vlan7")
		vlan := d.device(over, "10.1.0", "2001:db8:0:1")
		vlan["id"], vlan["link"] = 7, "b0"
		network["vlans"] = values{over: vlan}
	}
	if mtu > 0 {
		bond["mtu"] = mtu
	}
	if d.oneIn(4, "bridge") {
		ethernets["eth1"] = values{}
		bridge := d.device("br0", "10.3.0", "2001:db8:0:3")
		bridge["interfaces"] = []string{"eth1"}
		d.some(2, bridge, "parameters", values{"stp": false}, values{"stp": true, "forward-delay": 4}, values{"stp": false, "forward-delay": 0}, values{"priority": 4096, "hello-time": 1, "max-age": 12, "ageing-time": 100})
		network["bridges"] = values{"br0": bridge}
	}
	if d.oneIn(6, "dummy") {
		network["dummy-devices"] = values{"lo1": values{"addresses": []string{"198.18.255.1/32"}}}
	}
	host["network"] = network
	d.beside(host, ports, over, mode)
	text, err := json.Marshal(values{"linerate": "v1", "hosts": values{"h": host}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// bond draws netplan's parameters of a bond, and the options that netplan has no key for.
func (d drawer) bond(mode netstate.BondMode, ports []string) (parameters, beside values) {
	parameters, beside = values{"mode": mode.String()}, values{}
	watched := "miimon"
	if o, _ := bondopt.Find("arp_interval"); o.Allows(mode) && d.oneIn(3, "ARP") {
		watched = "arp_interval"
		parameters["arp-interval"], parameters["arp-ip-targets"] = 200, rapid.SampledFrom([][]string{{"10.1.0.1"}, {"10.1.0.1", "10.1.0.254"}}).Draw(d.t, "targets")
	} else {
		parameters["mii-monitor-interval"] = rapid.SampledFrom([]int{50, 100}).Draw(d.t, "miimon")
	}
	for _, o := range bondopt.Options() {
		if !o.Allows(mode) || !d.oneIn(4, o.Name) {
			continue
		}
		switch o.Name {
		case "mode", "miimon", "arp_interval", "arp_ip_target", "use_carrier":
			continue
		case "updelay", "downdelay", "peer_notif_delay":
			if watched != "miimon" {
				continue
			}
		case "ns_ip6_target", "arp_validate", "arp_missed_max", "arp_all_targets":
			if watched == "miimon" {
				continue
			}
		}
		value := d.option(o, ports)
		said, known := o.Saying(bondopt.Netplan)
		switch {
		case !known || !said.Has(value):
			beside[o.Name] = value
		case o.Switch():
			parameters[said.Name] = value == "1"
		case o.Words != nil || o.Kind != bondopt.Number:
			parameters[said.Name] = value
		default:
			parameters[said.Name] = json.Number(value)
		}
	}
	return parameters, values{"b0": beside}
}

// option draws a value of a bond's or port's option.
func (d drawer) option(o bondopt.Option, ports []string) string {
	switch {
	case o.Kind == bondopt.Port:
		return d.one(o.Name, ports...)
	case o.Kind == bondopt.IPv4List:
		return "10.1.0.9"
	case o.Kind == bondopt.IPv6List:
		return d.one(o.Name, "2001:db8::9", "2001:db8::9,2001:db8::a")
	case o.Kind == bondopt.MAC:
		return "02:00:00:00:00:01"
	case o.Words != nil:
		return d.one(o.Name, o.Words...)
	case o.Unit == bondopt.Milliseconds:
		return d.one(o.Name, "100", "200", "400")
	}
	return strconv.FormatInt(max(o.Min, min(o.Max, rapid.SampledFrom([]int64{0, 1, 2, 5, 100}).Draw(d.t, o.Name))), 10)
}

// device draws what any device may have; four is the start of its IPv4 network, six
// that of its IPv6 one.
func (d drawer) device(name, four, six string) values {
	all := values{}
	addresses := []any{four + ".5/24"}
	switch d.one("addresses", "one", "two", "both", "IPv6", "label") {
	case "two":
		addresses = append(addresses, four+".6/24")
	case "both":
		addresses = append(addresses, six+"::5/64")
	case "IPv6":
		addresses = []any{six + "::5/64", six + "::6/64"}
	case "label":
		addresses = append(addresses, values{four + ".6/24": values{"label": name + ":1"}})
	}
	all["addresses"] = addresses
	if d.oneIn(4, "dhcp4") {
		all["dhcp4"] = true
		d.some(2, all, "dhcp4-overrides", values{"route-metric": 700}, values{"use-dns": false}, values{"use-routes": false}, values{"send-hostname": false})
	}
	if d.oneIn(8, "dhcp6") {
		all["dhcp6"] = true
	}
	if name != "b0" {
		d.some(4, all, "mtu", 1400)
	}
	d.some(4, all, "accept-ra", false, true)
	d.some(6, all, "macaddress", "02:00:00:00:00:09")
	d.some(4, all, "nameservers", values{"addresses": []string{"9.9.9.9", "2620:fe::9"}, "search": []string{"a.example", "b.example"}}, values{"addresses": []string{"9.9.9.9"}}, values{"search": []string{"a.example"}})
	d.some(8, all, "optional", true)
	d.some(8, all, "link-local", []string{}, []string{"ipv4"}, []string{"ipv4", "ipv6"})
	d.some(8, all, "ipv6-privacy", true)
	d.some(8, all, "ipv6-address-generation", "eui64", "stable-privacy")
	d.some(8, all, "ipv6-mtu", 1300)
	d.some(10, all, "activation-mode", "manual", "off")
	d.some(10, all, "ignore-carrier", true)
	if name == "eth0" {
		d.some(8, all, "wakeonlan", true, false)
		d.some(8, all, "emit-lldp", true)
		d.some(8, all, "receive-checksum-offload", false, true)
		d.some(8, all, "tcp-segmentation-offload", false)
		d.some(8, all, "tcp6-segmentation-offload", false)
	}
	if addresses[0] == four+".5/24" {
		d.routes(all, four)
	}
	if routes, _ := all["routes"].([]values); slices.Contains([]int{1, 2}, len(addresses)) && strings.Contains(fmt.Sprint(addresses), six) && d.oneIn(3, "IPv6 route") {
		all["routes"] = append(routes, rapid.SampledFrom([]values{
			{"to": "default", "via": six + "::1", "metric": 300}, {"to": "2001:db8:a::/64", "via": six + "::1", "mtu": 1300}, {"to": "2001:db8:b::/64", "type": "unreachable"},
		}).Draw(d.t, "IPv6 route"))
	}
	return all
}

// routes draws routes and rules of IPv4.
func (d drawer) routes(all values, four string) {
	var routes, rules []values
	for i := range rapid.IntRange(0, 3).Draw(d.t, "routes") {
		route := values{"to": d.one("to", "default", fmt.Sprintf("10.%d.0.0/16", i+20), fmt.Sprintf("10.%d.0.7/32", i+30)), "metric": 100 + i}
		switch d.one("via", "gateway", "gateway", "own", "on-link", "scope", "blackhole") {
		case "gateway":
			route["via"] = four + ".1"
		case "own":
			route["via"] = four + ".5"
		case "on-link":
			route["via"], route["on-link"] = "10.99.0.1", true
		case "scope":
			route["scope"] = "link"
		case "blackhole":
			route["type"] = d.one("type", "blackhole", "unreachable", "prohibit", "throw")
		}
		if route["type"] == nil {
			d.some(4, route, "mtu", 1300)
			d.some(4, route, "from", four+".5")
			d.some(8, route, "congestion-window", 20)
			d.some(8, route, "advertised-receive-window", 30)
			d.some(8, route, "advertised-mss", 1200)
		}
		d.some(3, route, "table", 101)
		routes = append(routes, route)
	}
	for i := range rapid.IntRange(0, 2).Draw(d.t, "rules") {
		rule := values{"table": 101, "priority": 100 + i}
		switch d.one("rule", "from", "to", "both") {
		case "from":
			rule["from"] = four + ".5/32"
		case "to":
			rule["to"] = "10.7.0.0/16"
		case "both":
			rule["from"], rule["to"] = four+".0/24", "10.8.0.0/16"
		}
		d.some(4, rule, "mark", 7)
		d.some(8, rule, "type-of-service", 16)
		rules = append(rules, rule)
	}
	if routes != nil {
		all["routes"] = routes
	}
	if rules != nil {
		all["routing-policy"] = rules
	}
}

// beside draws what stands beside a host's network.
func (d drawer) beside(host values, ports []string, over string, mode netstate.BondMode) {
	links := values{}
	for _, name := range []string{"eth0", ports[0]} {
		link := values{}
		d.some(5, link, "rings", values{"rx": 4096, "tx": 2048}, values{"rx": 512})
		d.some(5, link, "channels", values{"combined": 8}, values{"rx": 4, "tx": 2})
		d.some(5, link, "coalesce", values{"adaptive-rx": "off", "rx-usecs": 30}, values{"adaptive-rx": "on", "tx-frames": 7})
		d.some(5, link, "offloads", values{"gro": "on", "lro": "off"}, values{"rxvlan": "off", "rx-gro-hw": "on"}, values{"tx-nocache-copy": "on"}, values{"ntuple": "on", "hw-tc-offload": "on"})
		d.some(5, link, "qdisc", "fq", "fq maxrate 10000000000bit", "fq_codel limit 1000", "pfifo limit 200", "tbf rate 1000000000bit burst 65536 latency 50000us")
		if name != "eth0" {
			for _, o := range bondopt.Ports() {
				if o.Allows(mode) && d.oneIn(4, o.Name) {
					link[o.Key] = d.option(o, ports)
				}
			}
		}
		if len(link) > 0 {
			links[name] = link
		}
	}
	if len(links) > 0 {
		host["links"] = links
	}
	d.some(4, host, "sysctl", values{"net.ipv4.tcp_rmem": "4096 131072 67108864", "net.core.rmem_max": 67108864})
	if strings.Contains(fmt.Sprint(host["network"]), "10.1.0.5") {
		d.some(5, host, "multipath", []values{{"to": "198.18.9.0/24", "metric": 7, "hops": []values{{"via": "10.1.0.1", "dev": over, "weight": 2}, {"via": "10.1.0.2", "dev": over}}}})
		d.some(5, host, "mptcp", values{"subflows": 2, "add_addr_accepted": 2, "endpoints": []values{{"address": "10.1.0.5", "dev": over, "flags": []string{"subflow", "fullmesh"}}}})
	}
	d.some(8, host, "absent", []string{"bond9"})
}
