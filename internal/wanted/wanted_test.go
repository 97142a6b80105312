package wanted_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// must is of without an error.
func must(t *testing.T, host string, exact bool) wanted.State {
	t.Helper()
	state, err := of(t, host, exact)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func link(t *testing.T, s wanted.State, name string) netstate.Link {
	t.Helper()
	l, ok := s.Host.Link(name)
	if !ok {
		t.Fatalf("no link %s is wanted", name)
	}
	return l
}

func said(t *testing.T, lines []string, want string) {
	t.Helper()
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) }) {
		t.Errorf("%q is not in %q", want, lines)
	}
}

var addresses = cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{})

// TestSilentFile: what the file does not say stays as it is.
func TestSilentFile(t *testing.T) {
	s := must(t, "    network: {ethernets: {eth0: {}, eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth3, eth2]}}}\n", false)
	if diff := cmp.Diff(running(), s.Host, addresses, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("an observed host and what is wanted of it (-observed +wanted):\n%s", diff)
	}
	steps, err := plan.Between(running(), s.Host)
	if err != nil || len(steps.Steps) > 0 {
		t.Errorf("a silent file: %v, %v", steps.Text(80), err)
	}
	said(t, s.Left, "address 10.0.0.1/24 of eth0 is not in the file and stays")
	said(t, s.Left, "route to 10.77.0.0/16 via 10.0.0.254 dev eth0 is not in the file and stays")
}

// TestLinkLocalAddress says that a link-local address of the file is not made.
func TestLinkLocalAddress(t *testing.T) {
	s := must(t, "    network: {ethernets: {eth0: {addresses: [\"fe80::1/64\", \"fe80::5/64\"]}}}\n", false)
	said(t, s.Left, "fe80::5/64 of eth0 is not added")
	if diff := cmp.Diff(prefixes("10.0.0.1/24", "fe80::1/64"), link(t, s, "eth0").Addresses, addresses); diff != "" {
		t.Error(diff)
	}
}

// TestNextHopOfLease takes a next hop that only the lease to come can tell, as
// the article's own address is where a cloud gives it by DHCP.
func TestNextHopOfLease(t *testing.T) {
	s := must(t, "    network: {ethernets: {eth4: {dhcp4: true, routes: [{to: 172.16.0.104/32, via: 172.16.0.4}]}}}\n", false)
	for _, r := range s.Host.Routes {
		if r.Dst.String() == "172.16.0.104/32" && r.Gateway.String() == "172.16.0.4" && r.Link == "eth4" {
			return
		}
	}
	t.Errorf("no such route is wanted: %v", s.Host.Routes)
}

// TestExact takes away what the file's devices have too much, and no lease,
// link-local address or other program's route, and nothing of other devices.
func TestExact(t *testing.T) {
	s := must(t, "    network: {ethernets: {eth0: {addresses: [10.0.0.9/24]}, eth1: {dhcp4: true}}}\n", true)
	if diff := cmp.Diff(prefixes("fe80::1/64", "10.0.0.9/24"), link(t, s, "eth0").Addresses, addresses); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(prefixes("10.1.0.7/24", "fe80::2/64"), link(t, s, "eth1").Addresses, addresses); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"docker0", "lan", "bond0"} {
		want, _ := running().Link(name)
		if diff := cmp.Diff(want.Addresses, link(t, s, name).Addresses, addresses); diff != "" {
			t.Error(diff)
		}
	}
	var left []string
	for _, r := range s.Host.Routes {
		if r.Protocol != "kernel" {
			left = append(left, r.Dst.String()+" "+r.Protocol)
		}
	}
	if diff := cmp.Diff([]string{"0.0.0.0/0 dhcp"}, left); diff != "" {
		t.Error(diff)
	}
}

// TestLeaseMoves: a lease goes with its link into a bond that asks for leases.
func TestLeaseMoves(t *testing.T) {
	s := must(t, "    network: {ethernets: {eth4: {}, eth1: {}}, bonds: {b1: {interfaces: [eth4, eth1], dhcp4: true, accept-ra: false}}}\n", false)
	bond, port := link(t, s, "b1"), link(t, s, "eth1")
	if diff := cmp.Diff(prefixes("10.1.0.7/24"), bond.Leases, addresses); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(prefixes("10.1.0.7/24"), bond.Addresses, addresses); diff != "" {
		t.Error(diff)
	}
	was, _ := running().Link("eth1")
	if bond.MAC != was.MAC {
		t.Errorf("the bond has %v; the lease is %v's", bond.MAC, was.MAC)
	}
	if len(port.Addresses)+len(port.Leases) > 0 || port.Master != "b1" {
		t.Errorf("the port keeps %v of %s", port.Addresses, port.Master)
	}
	for _, r := range s.Host.Routes {
		if r.Link == "eth1" || r.Protocol == "dhcp" && r.Link != "b1" {
			t.Errorf("route %+v", r)
		}
	}
	if s := must(t, "    network: {ethernets: {eth4: {}, eth1: {}}, bonds: {b1: {interfaces: [eth4, eth1], dhcp4: true, macaddress: \"02:00:00:00:00:99\"}}}\n", false); true {
		said(t, s.Warnings, "the lease 10.1.0.7/24 may change")
	}
}

// TestRequests is a table of single wishes and what comes of them.
func TestRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		check func(t *testing.T, s wanted.State)
	}{
		"static address moves": {"    network: {ethernets: {eth0: {}, eth4: {}}, bonds: {b1: {interfaces: [eth0, eth4], addresses: [10.0.0.1/24], routes: [{to: 10.77.0.0/16, via: 10.0.0.254}]}}}\n", func(t *testing.T, s wanted.State) {
			if diff := cmp.Diff(prefixes("10.0.0.1/24"), link(t, s, "b1").Addresses, addresses); diff != "" {
				t.Error(diff)
			}
			if len(link(t, s, "eth0").Addresses) > 0 {
				t.Errorf("eth0 keeps %v", link(t, s, "eth0").Addresses)
			}
		}},
		"another prefix length": {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/16]}}}\n", func(t *testing.T, s wanted.State) {
			if diff := cmp.Diff(prefixes("fe80::1/64", "10.0.0.1/16"), link(t, s, "eth0").Addresses, addresses); diff != "" {
				t.Error(diff)
			}
		}},
		"bond option alone": {"    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3], parameters: {primary: eth3}}}}\n    bonding: {bond0: {resend_igmp: 5}}\n", func(t *testing.T, s wanted.State) {
			b := *link(t, s, "bond0").Bond
			if b.Mode != netstate.ActiveBackup || b.Miimon != 100e6 || b.Options["primary"] != "eth3" || b.Options["resend_igmp"] != "5" || b.Options["primary_reselect"] != "always" {
				t.Errorf("bond %+v", b)
			}
			if r := s.Reasons["bond0 resend_igmp"]; r.By != "f.yaml:6" {
				t.Errorf("reason %+v", r)
			}
		}},
		"a port goes, one comes": {"    network: {ethernets: {eth3: {}, eth4: {}}, bonds: {bond0: {interfaces: [eth4, eth3]}}}\n", func(t *testing.T, s wanted.State) {
			if diff := cmp.Diff([]string{"eth3", "eth4"}, link(t, s, "bond0").Bond.Ports); diff != "" {
				t.Error(diff)
			}
			if l := link(t, s, "eth2"); l.Master != "" || l.Port != nil {
				t.Errorf("eth2 is still %s's", l.Master)
			}
			if !link(t, s, "bond0").MAC.IsZero() || !link(t, s, "lan").MAC.IsZero() {
				t.Error("addresses that follow from the ports are kept")
			}
		}},
		"bond MTU": {"    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3], mtu: 9000}}}\n", func(t *testing.T, s wanted.State) {
			if link(t, s, "bond0").MTU != 9000 || link(t, s, "eth2").MTU != 9000 || link(t, s, "lan").MTU != 1500 {
				t.Errorf("MTUs %d %d %d", link(t, s, "bond0").MTU, link(t, s, "eth2").MTU, link(t, s, "lan").MTU)
			}
		}},
		"MTU down": {"    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3], mtu: 1400}}}\n", func(t *testing.T, s wanted.State) {
			if link(t, s, "lan").MTU != 1400 {
				t.Errorf("lan has %d above its parent's 1400", link(t, s, "lan").MTU)
			}
			said(t, s.Warnings, "lan goes down to MTU 1400 with bond0")
		}},
		"VLAN inherits": {"    network: {ethernets: {eth4: {mtu: 9000}}, vlans: {v: {id: 7, link: eth4}}}\n", func(t *testing.T, s wanted.State) {
			if link(t, s, "v").MTU != 9000 {
				t.Errorf("v has %d", link(t, s, "v").MTU)
			}
		}},
		"miimon by itself": {"    network: {ethernets: {eth4: {}, eth5: {optional: true}}, bonds: {b1: {interfaces: [eth4, eth5], parameters: {mode: 802.3ad}}}}\n", func(t *testing.T, s wanted.State) {
			if b := link(t, s, "b1").Bond; b.Miimon != 100e6 || len(b.Ports) != 1 {
				t.Errorf("bond %+v", b)
			}
			said(t, s.Left, "eth5 is not there (optional)")
		}},
		"no monitoring": {"    network: {ethernets: {eth4: {}, eth5: {optional: true}}, bonds: {b1: {interfaces: [eth4, eth5]}}}\n", func(t *testing.T, s wanted.State) {
			said(t, s.Warnings, "b1 watches no port")
		}},
		"absent": {"    network: {ethernets: {eth0: {}}}\n    absent: [lan, bond0, bond7]\n", func(t *testing.T, s wanted.State) {
			if diff := cmp.Diff([]string{"lan", "bond0"}, s.Host.Absent); diff != "" {
				t.Error(diff)
			}
			if l := link(t, s, "eth2"); l.Master != "" {
				t.Errorf("eth2 is still %s's", l.Master)
			}
			said(t, s.Warnings, "bond0 goes, and its address 10.2.0.1/24 with it")
		}},
		"route gives way": {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/24], routes: [{to: 10.77.0.0/16, via: 10.0.0.253, mtu: 1400, advertised-mss: 1300}]}}}\n", func(t *testing.T, s wanted.State) {
			var got []netstate.Route
			for _, r := range s.Host.Routes {
				if r.Dst.String() == "10.77.0.0/16" {
					got = append(got, r)
				}
			}
			want := []netstate.Route{{Dst: netip.MustParsePrefix("10.77.0.0/16"), Gateway: netip.MustParseAddr("10.0.0.253"), Link: "eth0", Table: 254, Protocol: "static", MTU: 1400, Metrics: map[string]string{"advmss": "1300"}}}
			if diff := cmp.Diff(want, got, addresses); diff != "" {
				t.Error(diff)
			}
		}},
		"own address as next hop": {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/24], routes: [{to: 10.99.0.1/32, via: 10.0.0.1}, {to: 10.98.0.0/16, type: blackhole, scope: host}]}}}\n", func(t *testing.T, s wanted.State) {
			for _, r := range s.Host.Routes {
				if r.Dst.String() == "10.99.0.1/32" && (r.Gateway.IsValid() || r.Link != "eth0") || r.Type != "" && (r.Type != "blackhole" || r.Link != "") {
					t.Errorf("route %+v", r)
				}
			}
		}},
		"rules": {"    network: {ethernets: {eth0: {routing-policy: [{from: 10.0.0.1, table: 101}, {to: 10.8.0.0/16, table: 102, priority: 50, mark: 7}]}}}\n", func(t *testing.T, s wanted.State) {
			from, to := netip.MustParsePrefix("10.0.0.1/32"), netip.MustParsePrefix("10.8.0.0/16")
			want := []netstate.Rule{
				{Priority: 32765, From: from, Table: 101, Family: "ipv4", Protocol: "static"},
				{Priority: 50, To: to, Table: 102, Family: "ipv4", Selectors: "fwmark 0x7", Protocol: "static"},
			}
			if diff := cmp.Diff(want, s.Host.Rules[len(running().Rules):], addresses); diff != "" {
				t.Error(diff)
			}
		}},
		"source table over a lease": {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}, eth1: {dhcp4: true}}}\n    source_rules: [eth1]\n", func(t *testing.T, s wanted.State) {
			var got []string
			for _, r := range s.Host.Routes {
				if r.Table == 10001 {
					got = append(got, fmt.Sprintf("%s %s %s", r.Dst, r.Gateway, r.Protocol))
				}
			}
			if diff := cmp.Diff([]string{"10.1.0.0/24 invalid IP static", "0.0.0.0/0 10.1.0.254 static"}, got); diff != "" {
				t.Error(diff)
			}
			said(t, s.Warnings, "the source rule of eth1 holds for its lease 10.1.0.7/24 only")
		}},
		"qdisc and offloads": {"    network: {ethernets: {eth0: {generic-receive-offload: false}}}\n    links: {eth0: {qdisc: fq maxrate 1gbit, offloads: {tso: off}}}\n", func(t *testing.T, s wanted.State) {
			l := link(t, s, "eth0")
			if l.Offloads["gro"] || l.Offloads["tso"] || len(l.Qdiscs) != 1 || l.Qdiscs[0].Kind != "fq" || l.Qdiscs[0].FlowRate != 1e9 {
				t.Errorf("offloads %v, qdiscs %+v", l.Offloads, l.Qdiscs)
			}
		}},
		"activation": {"    network: {ethernets: {eth0: {activation-mode: \"off\"}, eth4: {activation-mode: manual}}}\n", func(t *testing.T, s wanted.State) {
			if link(t, s, "eth0").Up || link(t, s, "eth4").Up {
				t.Error("activation-mode counts for nothing")
			}
		}},
		"endpoint of another kind": {"    network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}}}\n    mptcp: {endpoints: [{address: 10.0.0.1, flags: [signal]}]}\n", func(t *testing.T, s wanted.State) {
			if m := s.Host.MPTCP; m.Subflows != 2 || len(m.Endpoints) != 1 || m.Endpoints[0].Flags != netstate.MPTCPSignal {
				t.Errorf("MPTCP %+v", m)
			}
		}},
		"a new link's sysctl": {"    network: {ethernets: {eth4: {}}, vlans: {eth4.7: {id: 7, link: eth4}}}\n    sysctl: {net.ipv4.conf.eth4/7.rp_filter: 2}\n", func(t *testing.T, s wanted.State) {
			if v := s.Host.Sysctls["net.ipv4.conf.eth4/7.rp_filter"].Value; v != "2" {
				t.Errorf("it is %q", v)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) { tt.check(t, must(t, tt.text, false)) })
	}
}

// TestSourceTablesStay: a second time the links keep their tables, whatever the
// order in which the file names them.
func TestSourceTablesStay(t *testing.T) {
	const network = "linerate: v1\nhosts:\n  h:\n    profiles: []\n    network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}, eth4: {addresses: [10.0.0.4/24]}}}\n"
	observed := running()
	observed.Routes = append(observed.Routes, netstate.Route{Dst: netip.MustParsePrefix("10.50.0.0/16"), Link: "docker0", Table: 10001, Protocol: "bird"})
	tables := func(rules string) map[int]string {
		f, err := fabric.Parse("f", []byte(network+"    source_rules: ["+rules+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: observed})
		if err != nil {
			t.Fatal(err)
		}
		observed = s.Host
		got := map[int]string{}
		for _, r := range s.Host.Rules {
			if r.Table > 10000 {
				got[r.Table] += r.From.String()
			}
		}
		return got
	}
	first := tables("eth4, eth0")
	if diff := cmp.Diff(map[int]string{10002: "10.0.0.1/32", 10003: "10.0.0.4/32"}, first); diff != "" {
		t.Errorf("table 10001 is taken:\n%s", diff)
	}
	if diff := cmp.Diff(first, tables("eth0, eth4")); diff != "" {
		t.Error(diff)
	}
}

// TestNamespace leaves out what is the whole machine's.
func TestNamespace(t *testing.T) {
	f, err := fabric.Parse("f", []byte("linerate: v1\nhosts:\n  h:\n    network: {ethernets: {eth0: {}}}\n    profiles: [throughput, security]\n    sysctl: {net.core.rmem_max: 1000000, net.ipv4.tcp_sack: 0}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: running(), InNamespace: true})
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range s.Host.Sysctls {
		if old := running().Sysctls[key]; old.Scope == netstate.ScopeGlobal && old.Value != v.Value {
			t.Errorf("%s would be %s", key, v.Value)
		}
	}
	said(t, s.Left, "sysctl net.core.rmem_max: it is the whole machine's")
	said(t, s.Left, "profile security: kernel.panic: it is the whole machine's")
	if s.Host.Sysctls["net.ipv4.tcp_sack"].Value != "0" {
		t.Error("a profile changed what the file says")
	}
}
