package fabric

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/subnets"
	"github.com/linerate/linerate/netstate"
)

// useLink is a link of a host as it might be observed: "ens1 10.1.1.11/24".
func useLink(text string, set ...func(*netstate.Link)) netstate.Link {
	words := strings.Fields(text)
	l := netstate.Link{Name: words[0], Up: true, Carrier: true, MTU: 1500}
	for _, w := range words[1:] {
		l.Addresses = append(l.Addresses, netip.MustParsePrefix(w))
	}
	if l.Name == "lo" {
		l.Kind = "loopback"
	}
	for _, f := range set {
		f(&l)
	}
	return l
}

func kindOf(kind string) func(*netstate.Link) {
	return func(l *netstate.Link) { l.Kind = kind }
}

func masterOf(name string) func(*netstate.Link) {
	return func(l *netstate.Link) { l.Master = name }
}

func vlanOn(parent string) func(*netstate.Link) {
	return func(l *netstate.Link) { l.Kind, l.VLAN = "vlan", &netstate.VLAN{ID: 7, Parent: parent} }
}

func portOf(bond string) func(*netstate.Link) {
	return func(l *netstate.Link) { l.Master, l.Port = bond, &netstate.BondPort{Bond: bond} }
}

func bondOf(ports ...string) func(*netstate.Link) {
	return func(l *netstate.Link) { l.Kind, l.Bond = "bond", &netstate.Bond{Ports: ports} }
}

func defaultBy(links ...string) netstate.Route {
	r := netstate.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Link: links[0], Table: MainTable}
	if len(links) > 1 {
		r.Link = ""
		for _, l := range links {
			r.Hops = append(r.Hops, netstate.NextHop{Link: l})
		}
	}
	return r
}

// TestA2UseDecidesWhatIsNamed is the one function that decides what is used:
// on hosts as they are met, the links and addresses left.
func TestA2UseDecidesWhatIsNamed(t *testing.T) {
	three := []netstate.Link{useLink("lo 127.0.0.1/8 10.9.0.1/32"), useLink("ens1 10.1.1.11/24"), useLink("ens2 10.1.2.11/24"), useLink("mgmt0 192.0.2.11/24")}
	named := "network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}, ens2: {addresses: [10.1.2.11/24]}, mgmt0: {addresses: [192.0.2.11/24]}}}"
	without := "network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}, ens2: {addresses: [10.1.2.11/24]}}}"
	bonded := func(more ...netstate.Link) []netstate.Link {
		return append([]netstate.Link{useLink("eno1", portOf("bond0")), useLink("eno2", portOf("bond0")), useLink("bond0 10.3.0.1/24", bondOf("eno1", "eno2"))}, more...)
	}
	bond := "ethernets: {eno1: {}, eno2: {}, ens9: {addresses: [192.0.2.11/24]}}, bonds: {bond0: {interfaces: [eno1, eno2], addresses: [10.3.0.1/24]}}"
	for _, tt := range []struct {
		name, file string
		links      []netstate.Link
		at         string // of the ssh connection
		routes     []netstate.Route
		want       string // "links; addresses from which may be sent"
		line       string
	}{
		{"the address in reach is the management's", "reach: ssh://root@192.0.2.11, " + named, three, "", nil,
			"ens1 ens2; 10.1.1.11 10.1.2.11", "h: mgmt0 is left out: `reach` has its address; `use:` includes it"},
		{"ssh's own address, whatever reach says", "reach: ssh://root@storage1, " + named, three, "192.0.2.11", nil,
			"ens1 ens2; 10.1.1.11 10.1.2.11", "h: mgmt0 is left out: ssh comes in by it; `use:` includes it"},
		{"an ssh address mapped to IPv6", "reach: ssh://root@storage1, " + named, three, "::ffff:192.0.2.11", nil,
			"ens1 ens2; 10.1.1.11 10.1.2.11", "h: mgmt0 is left out: ssh comes in by it; `use:` includes it"},
		{"the default route, where nothing else tells", "reach: 'nats:h', " + named, three, "", []netstate.Route{defaultBy("mgmt0")},
			"ens1 ens2; 10.1.1.11 10.1.2.11", "h: mgmt0 is left out: the default route leaves by it; `use:` includes it"},
		{"ssh by a tunnel to itself: the default route", "reach: ssh://root@jump, " + named, three, "127.0.0.1", []netstate.Route{defaultBy("mgmt0")},
			"ens1 ens2; 10.1.1.11 10.1.2.11", "h: mgmt0 is left out: the default route leaves by it; `use:` includes it"},
		{"a default route over several links tells nothing", "reach: 'nats:h', " + named, three, "", []netstate.Route{defaultBy("ens1", "ens2")},
			"ens1 ens2 mgmt0; 10.1.1.11 10.1.2.11 192.0.2.11", ""},
		{"ssh to an address of lo: no link is the management's", "reach: ssh://root@10.9.0.1, " + named, three, "10.9.0.1", []netstate.Route{defaultBy("mgmt0")},
			"ens1 ens2 mgmt0; 10.1.1.11 10.1.2.11 192.0.2.11", ""},
		{"nobody reaches it", named, three, "", []netstate.Route{defaultBy("mgmt0")}, "ens1 ens2 mgmt0; 10.1.1.11 10.1.2.11 192.0.2.11", ""},
		{"not named in the file", "reach: ssh://root@192.0.2.11, " + without, three, "192.0.2.11", nil, "ens1 ens2; 10.1.1.11 10.1.2.11", ""},
		{"use includes it", "reach: ssh://root@192.0.2.11, use: [ens1, mgmt0], " + named, three, "192.0.2.11", nil, "ens1 mgmt0; 10.1.1.11 192.0.2.11", ""},
		{"use is empty", "reach: ssh://root@192.0.2.11, use: [], " + named, three, "192.0.2.11", nil, ";", ""},
		{"no network in the file: all there are", "reach: ssh://root@192.0.2.11", three, "192.0.2.11", nil,
			"ens1 ens2; 10.9.0.1 10.1.1.11 10.1.2.11", "h: mgmt0 is left out: ssh comes in by it; `use:` includes it"},
		{"an address of lo that the file names", "reach: ssh://root@192.0.2.11, network: {ethernets: {lo: {addresses: [10.9.0.1/32]}, ens1: {addresses: [10.1.1.11/24]}, ens2: {}}}", three, "192.0.2.11", nil,
			"ens1 ens2; 10.9.0.1 10.1.1.11 10.1.2.11", ""},
		{"an alias that the file does not name", "reach: 'local:', network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}}}", []netstate.Link{useLink("ens1 10.1.1.11/24 10.1.1.99/24 fd00::9/64")}, "", nil,
			"ens1; 10.1.1.11", ""},
		{"what DHCP gives where the file asks", "reach: 'local:', network: {ethernets: {ens1: {addresses: [10.1.1.11/24], dhcp4: true}}}", []netstate.Link{useLink("ens1 10.1.1.11/24 10.1.1.99/24")}, "", nil,
			"ens1; 10.1.1.11 10.1.1.99", ""},
		{"the host has other addresses: its word counts", "reach: 'local:', network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}}}", []netstate.Link{useLink("ens1 10.7.7.7/24")}, "", nil,
			"ens1; 10.7.7.7", ""},
		{"one NIC is the only one", "reach: ssh://root@10.1.1.11, network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}}}", []netstate.Link{useLink("ens1 10.1.1.11/24")}, "10.1.1.11", nil,
			"ens1; 10.1.1.11", ""},
		{"one NIC beside containers and a VPN", "reach: ssh://root@10.1.1.11", []netstate.Link{useLink("ens1 10.1.1.11/24"), useLink("docker0 172.17.0.1/16", kindOf("bridge")), useLink("veth1", kindOf("veth"), masterOf("docker0")),
			useLink("cali1 10.200.0.1/32", kindOf("veth")), useLink("wg0 10.8.0.1/24", kindOf("wireguard"))}, "10.1.1.11", nil,
			"ens1 docker0 veth1 cali1 wg0; 10.1.1.11 172.17.0.1 10.200.0.1 10.8.0.1", ""},
		{"a second NIC without an address", "reach: ssh://root@10.1.1.11, network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}, ens2: {}}}", []netstate.Link{useLink("ens1 10.1.1.11/24"), useLink("ens2")}, "10.1.1.11", nil,
			"ens1 ens2; 10.1.1.11", ""},
		{"a namespace has cables only", "reach: 'netns:h', " + named, []netstate.Link{useLink("ens1 10.1.1.11/24", kindOf("veth")), useLink("ens2 10.1.2.11/24", kindOf("veth")), useLink("mgmt0 192.0.2.11/24", kindOf("veth"))}, "", []netstate.Route{defaultBy("mgmt0")},
			"ens1 ens2; 10.1.1.11 10.1.2.11", "h: mgmt0 is left out: the default route leaves by it; `use:` includes it"},
		{"a bond beside the management", "reach: ssh://root@192.0.2.11, network: {" + bond + "}", bonded(useLink("ens9 192.0.2.11/24")), "192.0.2.11", nil,
			"eno1 eno2 bond0; 10.3.0.1", "h: ens9 is left out: ssh comes in by it; `use:` includes it"},
		{"the management is a VLAN of the bond", "reach: ssh://root@10.4.0.1, network: {ethernets: {eno1: {}, eno2: {}}, bonds: {bond0: {interfaces: [eno1, eno2], addresses: [10.3.0.1/24]}}, vlans: {mg: {id: 7, link: bond0, addresses: [10.4.0.1/24]}}}",
			bonded(useLink("mg 10.4.0.1/24", vlanOn("bond0"))), "10.4.0.1", nil, "eno1 eno2 bond0 mg; 10.3.0.1 10.4.0.1", ""},
		{"the management is the bond below a VLAN", "reach: ssh://root@10.3.0.1, network: {ethernets: {eno1: {}, eno2: {}}, bonds: {bond0: {interfaces: [eno1, eno2], addresses: [10.3.0.1/24]}}, vlans: {lan: {id: 7, link: bond0, addresses: [10.4.0.1/24]}}}",
			bonded(useLink("lan 10.4.0.1/24", vlanOn("bond0"))), "10.3.0.1", nil, "eno1 eno2 bond0 lan; 10.3.0.1 10.4.0.1", ""},
		{"use names the VLAN alone: what it rides on may be changed, not sent from", "reach: ssh://root@10.3.0.1, use: [lan], network: {ethernets: {eno1: {}, eno2: {}}, bonds: {bond0: {interfaces: [eno1, eno2], addresses: [10.3.0.1/24]}}, vlans: {lan: {id: 7, link: bond0, addresses: [10.4.0.1/24]}}}",
			bonded(useLink("lan 10.4.0.1/24", vlanOn("bond0"))), "10.3.0.1", nil, "eno1 eno2 bond0 lan; 10.4.0.1", ""},
		{"use names the ports", "reach: ssh://root@192.0.2.11, use: [eno1, eno2], network: {" + bond + "}", bonded(useLink("ens9 192.0.2.11/24")), "192.0.2.11", nil, "eno1 eno2 bond0; 10.3.0.1", ""},
		{"the management is a bridge with its port", "reach: ssh://root@192.0.2.11, network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}, ens9: {}}, bridges: {br0: {interfaces: [ens9], addresses: [192.0.2.11/24]}}}",
			[]netstate.Link{useLink("ens1 10.1.1.11/24"), useLink("ens9", masterOf("br0")), useLink("br0 192.0.2.11/24", kindOf("bridge"))}, "192.0.2.11", nil,
			"ens1; 10.1.1.11", "h: br0 is left out: ssh comes in by it; `use:` includes it"},
		{"a bridge port carries the traffic", "reach: ssh://root@192.0.2.11, use: [ens9], network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}, ens9: {}}, bridges: {br0: {interfaces: [ens9], addresses: [192.0.2.11/24]}}}",
			[]netstate.Link{useLink("ens1 10.1.1.11/24"), useLink("ens9", masterOf("br0")), useLink("br0 192.0.2.11/24", kindOf("bridge"))}, "192.0.2.11", nil, "ens9 br0; 192.0.2.11", ""},
		{"a match stands for several", "reach: ssh://root@192.0.2.11, use: [data], network: {ethernets: {data: {match: {name: 'ens*'}}, mgmt0: {}}}, hardware: {links: {ens1: {speed: 1G}, ens2: {speed: 1G}}}", three, "192.0.2.11", nil,
			"ens1 ens2; 10.1.1.11 10.1.2.11", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h: {"+tt.file+"}\n"))
			if err != nil {
				t.Fatal(err)
			}
			observed := netstate.Host{Name: "h", Links: tt.links, Routes: tt.routes, ManagedAt: tt.at}
			merged, _ := Merge(state(t, f, "h"), f.Hosts[0], observed)
			var links, addresses []string
			for _, l := range merged.Links {
				if l.Unused == "" && !l.Loopback() {
					links = append(links, l.Name)
				}
				for _, p := range l.Addresses {
					if subnets.Connects(p) && l.MaySend(p.Addr()) {
						addresses = append(addresses, p.Addr().String())
					}
				}
			}
			if got := strings.TrimRight(strings.Join(links, " ")+"; "+strings.Join(addresses, " "), " "); got != tt.want {
				t.Errorf("in use %q, want %q", got, tt.want)
			}
			if got := strings.Join(LeftOut([]netstate.Host{merged}), "\n"); got != tt.line {
				t.Errorf("it says %q, want %q", got, tt.line)
			}
			if slices.ContainsFunc(observed.Links, func(l netstate.Link) bool { return l.Unused != "" }) {
				t.Error("the observed host was changed")
			}
		})
	}
}

// TestA2UseRefusesWhatIsNotThere names the nearest link, and refuses lo.
func TestA2UseRefusesWhatIsNotThere(t *testing.T) {
	for file, want := range map[string]string{
		"use: [ens1, esn2], network: {ethernets: {ens1: {}, ens2: {}}}": `hosts.h.use[1]: link "esn2" is not named in the file (nearest: ens2)`,
		"use: [lo], network: {ethernets: {ens1: {}}}":                   "hosts.h.use[0]: lo is no link",
		"use: [ens1, ens1], network: {ethernets: {ens1: {}}}":           "named twice",
		"uses: [ens1], network: {ethernets: {ens1: {}}}":                "use",
	} {
		_, err := Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h: {"+file+"}\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

// TestA2UseDeclared: predict goes by the file alone, and comes to the same set.
func TestA2UseDeclared(t *testing.T) {
	f, err := Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h: {reach: ssh://root@192.0.2.11, network: {ethernets: {ens1: {addresses: [10.1.1.11/24]}, mgmt0: {addresses: [192.0.2.11/24]}}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := state(t, f, "h")
	if l, _ := h.Link("mgmt0"); l.Unused != netstate.UnusedReach {
		t.Errorf("mgmt0 is %q", l.Unused)
	}
	if l, _ := h.AllUsed().Link("mgmt0"); l.Unused != "" {
		t.Errorf("of all used, mgmt0 is %q", l.Unused)
	}
}

// TestA2LeftOutIsOneLine for hosts that are alike.
func TestA2LeftOutIsOneLine(t *testing.T) {
	var hosts []netstate.Host
	for _, name := range []string{"a", "b"} {
		l := useLink("mgmt0 192.0.2.1/24")
		l.Unused = netstate.UnusedSSH
		hosts = append(hosts, netstate.Host{Name: name, Links: []netstate.Link{l}})
	}
	want := []string{"a, b: mgmt0 is left out: ssh comes in by it; `use:` includes it"}
	if got := LeftOut(hosts); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
