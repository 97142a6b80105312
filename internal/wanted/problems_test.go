package wanted_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
)

func prefixes(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, a := range all {
		out = append(out, netip.MustParsePrefix(a))
	}
	return out
}

// running is a host that somebody set up: a static address, a lease with its
// route, a bond with a VLAN, and a bridge of containers.
func running() netstate.Host {
	h := bare(netstate.Host{Name: "h", Links: []netstate.Link{{Name: "eth0"}, {Name: "eth1"}, {Name: "eth2"}, {Name: "eth3"}, {Name: "eth4"}}})
	set := func(name string, f func(*netstate.Link)) {
		l, _ := h.Link(name)
		l.Up = true
		f(&l)
		h.SetLink(l)
	}
	set("eth0", func(l *netstate.Link) { l.Addresses = prefixes("10.0.0.1/24", "fe80::1/64") })
	set("eth1", func(l *netstate.Link) {
		l.Addresses, l.Leases = prefixes("10.1.0.7/24", "fe80::2/64"), prefixes("10.1.0.7/24")
	})
	for _, name := range []string{"eth2", "eth3"} {
		set(name, func(l *netstate.Link) {
			l.Master, l.Port = "bond0", &netstate.BondPort{Bond: "bond0", MIIUp: true, Active: true}
		})
	}
	h.SetLink(netstate.Link{Name: "bond0", Kind: "bond", MTU: 1500, MAC: flow.MAC{2, 0, 0, 0, 0, 3}, Up: true, Addresses: prefixes("10.2.0.1/24"),
		Bond: &netstate.Bond{Mode: netstate.ActiveBackup, Miimon: 100e6, PacketsPerSlave: 1, TLBDynamic: true, Ports: []string{"eth2", "eth3"}, Active: "eth2", Options: map[string]string{"primary_reselect": "always"}}})
	h.SetLink(netstate.Link{Name: "lan", Kind: "vlan", MTU: 1500, Up: true, VLAN: &netstate.VLAN{ID: 5, Parent: "bond0"}, Addresses: prefixes("10.5.0.1/24")})
	h.SetLink(netstate.Link{Name: "docker0", Kind: "bridge", MTU: 1500, Up: true, Addresses: prefixes("172.17.0.1/16")})
	defaults(&h)
	route := func(dst, via, link, protocol string) {
		r := netstate.Route{Dst: netip.MustParsePrefix(dst), Link: link, Table: 254, Protocol: protocol}
		if via != "" {
			r.Gateway = netip.MustParseAddr(via)
		}
		h.Routes = append(h.Routes, r)
	}
	for _, name := range []string{"eth0", "eth1", "bond0", "lan", "docker0"} {
		l, _ := h.Link(name)
		h.Routes = append(h.Routes, netstate.Route{Dst: l.Addresses[0].Masked(), Link: name, Source: l.Addresses[0].Addr(), Table: 254, Protocol: "kernel"})
	}
	route("0.0.0.0/0", "10.1.0.254", "eth1", "dhcp")
	route("10.77.0.0/16", "10.0.0.254", "eth0", "static")
	return h
}

// of is what a host's text makes of the running one.
func of(t *testing.T, host string, exact bool) (wanted.State, error) {
	t.Helper()
	return ofRequest(t, running(), host, exact)
}

// ofObserved is of another observed host.
func ofObserved(t *testing.T, observed netstate.Host, host string) (wanted.State, error) {
	t.Helper()
	return ofRequest(t, observed, host, false)
}

// ofHost is ofObserved without an error.
func ofHost(t *testing.T, observed netstate.Host, host string) wanted.State {
	t.Helper()
	state, err := ofObserved(t, observed, host)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func ofRequest(t *testing.T, observed netstate.Host, host string, exact bool) (wanted.State, error) {
	t.Helper()
	f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h:\n    profiles: []\n"+host))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: observed, Exact: exact})
}

// TestProblems holds Of to refusing what cannot be had, each with its line.
func TestProblems(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no such link":          {"    network: {ethernets: {eht0: {}}}\n", "f.yaml:5:33: h: no link eht0 was observed (nearest: eth0)"},
		"match of nothing":      {"    network: {ethernets: {x: {match: {name: \"ens*\"}}}}\n", "match name ens* covers no observed link"},
		"two IDs, one link":     {"    network: {ethernets: {eth0: {}, x: {match: {name: eth0}}}}\n", "eth0 is eth0's already"},
		"static on a port":      {"    network: {ethernets: {eth0: {}, eth4: {}}, bonds: {b1: {interfaces: [eth0, eth4]}}}\n", "eth0 has the address 10.0.0.1/24 and would lose it as a port of b1"},
		"route of a port":       {"    network: {ethernets: {eth0: {}, eth4: {}}, bonds: {b1: {interfaces: [eth0, eth4], addresses: [10.0.0.1/24]}}}\n", "the route to 10.77.0.0/16 via 10.0.0.254 dev eth0 would be lost"},
		"lease of a port":       {"    network: {ethernets: {eth1: {}, eth4: {}}, bonds: {b1: {interfaces: [eth1, eth4]}}}\n", "eth1 has the leased address 10.1.0.7/24 and would lose it"},
		"address on a port":     {"    network: {ethernets: {eth2: {addresses: [10.9.0.1/24]}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3]}}}\n", "eth2 is a port of bond0, and a port's addresses are not used"},
		"leased elsewhere":      {"    network: {ethernets: {eth4: {addresses: [10.1.0.7/24]}}}\n", "10.1.0.7 is leased to eth1"},
		"mode":                  {"    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3], parameters: {lacp-rate: fast}}}}\n", "f.yaml:5:114: h: lacp_rate is not for mode active-backup of bond0"},
		"VLAN above parent":     {"    network: {ethernets: {eth4: {mtu: 1500}}, vlans: {v: {id: 7, link: eth4, mtu: 9000}}}\n", "v is to have MTU 9000, more than the 1500 of eth4"},
		"MTU of the driver":     {"    network: {ethernets: {eth4: {mtu: 9700}}}\n", "eth4 can have 9600 at most (IFLA_MAX_MTU), not 9700"},
		"bond MTU of a port":    {"    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3], mtu: 9700}}}\n", "bond0 can have 9600 at most: its port eth2 can have no more"},
		"VLAN of another ID":    {"    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3]}}, vlans: {lan: {id: 6, link: bond0}}}\n", "lan is VLAN 5 on bond0, and a VLAN's number and parent cannot be changed to 6 on bond0"},
		"bond over a device":    {"    network: {ethernets: {eth4: {}, eth0: {}}, bonds: {docker0: {interfaces: [eth4, eth0]}}}\n", "docker0 is there already and is a bridge"},
		"long name":             {"    network: {ethernets: {eth4: {}}, vlans: {a-name-that-is-long: {id: 7, link: eth4}}}\n", "a link's name has at most 15 bytes"},
		"bridge to make":        {"    network: {ethernets: {eth4: {}}, bridges: {br9: {interfaces: [eth4]}}}\n", "br9 is not there, and bridges are not made here"},
		"absent device":         {"    network: {ethernets: {eth0: {}}}\n    absent: [eth4]\n", "eth4 is a physical device and cannot be deleted"},
		"absent with a VLAN":    {"    network: {ethernets: {eth0: {}}}\n    absent: [bond0]\n", "bond0 carries the VLAN lan, which would go with it"},
		"gateway off lease":     {"    network: {ethernets: {eth4: {addresses: [10.4.0.1/24], dhcp6: true, routes: [{to: 10.8.0.0/16, via: 10.44.0.254}]}}}\n", "next hop 10.44.0.254 is in no network of eth4"},
		"gateway elsewhere":     {"    network: {ethernets: {eth4: {addresses: [10.4.0.1/24], routes: [{to: 10.8.0.0/16, via: 10.44.0.254}]}}}\n", "next hop 10.44.0.254 is in no network of eth4"},
		"foreign source":        {"    network: {ethernets: {eth4: {addresses: [10.4.0.1/24], routes: [{to: 10.8.0.0/16, via: 10.4.0.254, from: 10.66.0.1}]}}}\n", "source 10.66.0.1 is no address of the host"},
		"another's route":       {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/24], routes: [{to: default, via: 10.0.0.254}]}}}\n", "the route to 0.0.0.0/0 via 10.1.0.254 dev eth1 is there already, and is dhcp's"},
		"two routes":            {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/24], routes: [{to: 10.8.0.0/16, via: 10.0.0.254}, {to: 10.8.0.0/16, via: 10.0.0.253}]}}}\n", "the file has a route to 10.8.0.0/16 via 10.0.0.254 dev eth0 already"},
		"kind of route":         {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/24], routes: [{to: 10.8.0.0/16, via: 10.0.0.254, type: nat}]}}}\n", "routes of type nat are not made here"},
		"MAC and fail_over_mac": {"    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3], macaddress: 02:00:00:00:00:77, parameters: {fail-over-mac-policy: active}}}}\n", "with fail_over_mac active its address is its active port's"},
		"MAC of a new bond":     {"    network: {ethernets: {eth4: {}}, bonds: {b1: {interfaces: [eth4], macaddress: 02:00:00:00:00:77, parameters: {mode: active-backup, fail-over-mac-policy: follow}}}}\n", "with fail_over_mac follow its address is its active port's"},
		"sysctl":                {"    network: {ethernets: {eth0: {}}}\n    sysctl: {net.ipv4.tcp_tw_recycle: 1, net.ipv4.tcp_rnem: 1 2 3}\n", "f.yaml:6:61: h: sysctl net.ipv4.tcp_rnem does not exist on Linux 6.1.0-32-amd64 (nearest: net.ipv4.tcp_rmem)"},
		"obsolete sysctl":       {"    network: {ethernets: {eth0: {}}}\n    sysctl: {net.ipv4.tcp_tw_recycle: 1}\n", "f.yaml:6:39: h: sysctl net.ipv4.tcp_tw_recycle does not exist on Linux 6.1.0-32-amd64"},
		"offload":               {"    network: {ethernets: {eth0: {}}}\n    links: {eth0: {offloads: {grro: on}}}\n", "eth0 has no offload grro (nearest: gro)"},
		"ring":                  {"    network: {ethernets: {eth0: {}}}\n    links: {eth0: {rings: {rx: 8192}}}\n", "eth0 has rx rings of 4096 at most, not 8192"},
		"channels":              {"    network: {ethernets: {eth0: {}}}\n    links: {eth0: {channels: {combined: 2}}}\n", "eth0 has no channels that can be set"},
		"coalescing":            {"    network: {ethernets: {eth0: {}}}\n    links: {eth0: {coalesce: {rx-usecs: 2}}}\n", "eth0 has no interrupt moderation that can be set"},
		"qdisc":                 {"    network: {ethernets: {eth0: {}}}\n    links: {eth0: {qdisc: htbb}}\n", "htbb"},
		"endpoint":              {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}}}\n    mptcp: {endpoints: [{address: 10.0.9.9}]}\n", "endpoint 10.0.9.9 is no address of the host"},
		"several behind one":    {"    network: {ethernets: {all: {match: {name: \"eth[01]\"}, addresses: [10.9.0.1/24]}}}\n", "all stands for eth0, eth1, one device is needed"},
		"network's address":     {"    network: {ethernets: {eth4: {addresses: [10.4.0.0/24]}}}\n", "it is its network's own"},
		"broadcast address":     {"    network: {ethernets: {eth4: {addresses: [10.4.0.255/24]}}}\n", "it is its network's broadcast address"},
		"multicast":             {"    network: {ethernets: {eth4: {addresses: [224.0.0.9/24]}}}\n", "it is the address of no single host"},
		"multicast of IPv6":     {"    network: {ethernets: {eth4: {addresses: [\"ff02::9/64\"]}}}\n", "it is the address of no single host"},
		"loopback elsewhere":    {"    network: {ethernets: {eth4: {addresses: [127.0.0.9/8]}}}\n", "it is a loopback address"},
		"no address":            {"    network: {ethernets: {eth4: {addresses: [0.0.0.0/8]}}}\n", "it is no address"},
		"everything's network":  {"    network: {ethernets: {eth4: {addresses: [10.4.0.1/0]}}}\n", "its network would be all there is"},
		"IPv6 on a small link":  {"    network: {ethernets: {eth4: {mtu: 1200, addresses: [\"fd00::1/64\"]}}}\n", "eth4 has an MTU of 1200, and IPv6 needs 1280"},
		"kernel's priority":     {"    network: {ethernets: {eth4: {addresses: [10.4.0.1/24], routing-policy: [{from: 10.4.0.1, table: 5, priority: 32766}]}}}\n", "priority 32766 is of the kernel's own rule"},
		"name of all":           {"    network: {dummy-devices: {all: {}}}\n", "all: no link can be told by that name"},
		"VLAN 0":                {"    network: {ethernets: {eth4: {}}, vlans: {v: {id: 0, link: eth4}}}\n", "VLAN ID 0 of v is outside 1 to 4094"},
		"absent bridge":         {"    network: {ethernets: {eth0: {}}}\n    absent: [docker0]\n", "docker0 is a bridge and cannot be deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			state, err := of(t, tt.text, false)
			var ps yamldoc.Problems
			if !errors.As(err, &ps) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Of: %v\nwant %q", err, tt.want)
			}
			for _, p := range ps {
				if p.Line == 0 || p.Column == 0 || strings.Contains(p.Error(), "\n") {
					t.Errorf("problem without a place, or of several lines: %q", p.Error())
				}
			}
			if len(state.Host.Links) > 0 {
				t.Error("something came with the error")
			}
		})
	}
	if _, err := wanted.Of(wanted.Request{Host: "nobody"}); err == nil {
		t.Error("a host that is not in the file was taken")
	}
}
