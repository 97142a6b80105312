package fabric

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

func TestParseSettings(t *testing.T) {
	f := parse(t, "testdata/good/settings.yaml")
	a := f.Hosts[0]
	addr := netip.MustParseAddr
	want := Settings{
		Bonding: map[string]map[string]string{"bond1": {
			"lacp_active": "off", "ad_actor_sys_prio": "100", "ad_user_port_key": "7", "coupled_control": "on",
			"ad_actor_system": "02:00:00:00:00:01", "min_links": "1", "xmit_hash_policy": "vlan+srcmac",
		}},
		Links: map[string]LinkSettings{
			"eth0": {Offloads: map[string]bool{"gro": true, "rx-gro-hw": false}, RingRx: 4096, RingTx: 4096, Port: map[string]string{"prio": "5"}},
			"eth2": {Channels: map[string]int{"combined": 8}, Coalescing: map[string]int{"rx-usecs": 16, "adaptive-rx": 0}, Qdisc: "fq maxrate 10gbit"},
			"eth3": {Qdisc: "default"},
		},
		Multipath: []MultipathRoute{{To: netip.MustParsePrefix("0.0.0.0/0"), Table: 101, Metric: 5, Hops: []netstate.NextHop{
			{Gateway: addr("10.0.2.254"), Link: "eth2", Weight: 2}, {Gateway: addr("10.0.3.254"), Link: "eth3", Weight: 1},
		}}},
		MPTCP: &netstate.MPTCP{Subflows: 8, AddAddrAccepted: 8, Endpoints: []netstate.MPTCPEndpoint{
			{Addr: addr("10.0.2.1"), Link: "eth2", Flags: netstate.MPTCPSubflow | netstate.MPTCPBackup},
			{Addr: addr("10.0.3.1"), Port: 4000, Flags: netstate.MPTCPSignal},
		}},
		Profiles: []string{"throughput"}, Roles: []string{"multihomed"}, SourceRules: []string{"eth2", "eth3"}, Absent: []string{"bond9"},
	}
	if diff := cmp.Diff(want, a.Settings, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if f.Hosts[1].Profiles == nil || len(f.Hosts[1].Profiles) != 0 {
		t.Errorf("profiles: [] was read as %#v", f.Hosts[1].Profiles)
	}
	if a.Sysctl["net.ipv4.conf.eth2/100.rp_filter"] != "2" {
		t.Errorf("sysctl of a VLAN: %v", a.Sysctl)
	}
	bond, _ := a.Network.Bond("bond1")
	for kernel, value := range want.Bonding["bond1"] {
		if !bond.Sets(kernel) || Option(bond.Options, kernel) != value {
			t.Errorf("%s of the bond is %q, set %v", kernel, Option(bond.Options, kernel), bond.Sets(kernel))
		}
	}
	eth2, _ := a.Network.Ethernet("eth2")
	servers, search := eth2.Nameservers()
	if !eth2.DHCP4() || eth2.DHCP6() || !eth2.Optional() || eth2.Activation() != "" || len(servers) != 1 || len(search) != 1 {
		t.Errorf("eth2 says dhcp4 %v, dhcp6 %v, optional %v, DNS %v %v", eth2.DHCP4(), eth2.DHCP6(), eth2.Optional(), servers, search)
	}
	if label := eth2.Label(netip.MustParsePrefix("10.0.2.1/24")); label != "eth2:1" {
		t.Errorf("label %q", label)
	}
	if diff := cmp.Diff(map[string]bool{"gro": false}, eth2.Offloads()); diff != "" {
		t.Error(diff)
	}
	if OffloadKey("lro") != "large-receive-offload" || OffloadKey("ntuple") != "" {
		t.Error("netplan's keys of offloads are wrong")
	}
}

// TestSetOption sets every option of the tables and reads it again.
func TestSetOption(t *testing.T) {
	for kernel, value := range map[string]string{
		"mode": "802.3ad", "xmit_hash_policy": "layer2+3", "lacp_rate": "fast", "miimon": "100", "updelay": "200", "downdelay": "300",
		"min_links": "2", "packets_per_slave": "0", "tlb_dynamic_lb": "0", "arp_validate": "filter", "primary": "eth0", "lacp_active": "off",
	} {
		b := kernelBond()
		if !SetOption(&b, kernel, value) || Option(b, kernel) != value {
			t.Errorf("%s set to %s is %q", kernel, value, Option(b, kernel))
		}
	}
	b := kernelBond()
	if SetOption(&b, "mode", "none") || SetOption(&b, "tlb_dynamic_lb", "5") {
		t.Error("values that are none were set")
	}
}

func TestPlaces(t *testing.T) {
	f := parse(t, "testdata/good/settings.yaml")
	p := f.Places().Host("a")
	for want, path := range map[string][]any{
		"testdata/good/settings.yaml:16": {"network", "bonds", "bond1", "addresses", 0},
		"testdata/good/settings.yaml:18": {"bonding", "bond1", "lacp_active"},
		"testdata/good/settings.yaml:24": {"multipath", 0, "hops", 1, "dev"},
	} {
		if got := p.Line(path...); got != want || !p.Has(path...) {
			t.Errorf("%v is at %s, want %s", path, got, want)
		}
	}
	if p.Has("mptcp", "endpoints", 2) || p.Has("network", "vlans") || (Places{file: "x"}).Line("a") != "x" {
		t.Error("places that are not there were found")
	}
	if problem := p.Problem("what", "hint", "absent", 0); problem.Line != 29 || problem.Column != 14 {
		t.Errorf("problem at %d:%d", problem.Line, problem.Column)
	}
}

// FuzzSettings reads a host's settings: no panic, every problem has its place,
// and what is accepted can be asked for.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"bonding: {bond1: {lacp_active: off, ns_ip6_target: 'fd00::1,fd00::2'}}", "links: {eth0: {qdisc: fq maxrate 10gbit, rings: {rx: 1}}}",
		"multipath: [{to: default, hops: [{via: 10.0.0.1, dev: eth0}, {dev: eth1}]}]", "mptcp: {endpoints: [{address: fd00::1, flags: [subflow]}]}",
		"profiles: []", "roles: [router]\n    source_rules: [eth0]\n    absent: [x]", "links: {eth0: {coalesce: {adaptive-rx: on}}}", "mptcp: ", "bonding: {bond1: }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fabric, err := Parse("f", []byte("linerate: v1\nhosts:\n  a:\n    network:\n      ethernets: {eth0: {}, eth1: {}, eth2: {}, eth3: {}}\n      bonds: {bond1: {interfaces: [eth2, eth3]}}\n    "+text+"\n"))
		if err != nil {
			for _, p := range err.(yamldoc.Problems) {
				if p.Line < 1 || p.What == "" {
					t.Fatalf("problem %q", p.Error())
				}
			}
			return
		}
		for _, h := range fabric.Hosts {
			for _, b := range h.Network.Bonds {
				for _, kernel := range b.Set {
					_ = Option(b.Options, kernel)
				}
			}
			if m := h.MPTCP; m != nil && (m.Subflows > netstate.MPTCPMax || len(m.Endpoints) > netstate.MPTCPMax) {
				t.Fatalf("MPTCP %+v", m)
			}
			for _, r := range h.Multipath {
				if len(r.Hops) < 2 || !r.To.IsValid() {
					t.Fatalf("route %+v", r)
				}
			}
		}
	})
}
