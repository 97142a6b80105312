package fabric

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func state(t *testing.T, f Fabric, host string) netstate.Host {
	t.Helper()
	s, err := f.State(host)
	if err != nil {
		t.Fatalf("State: %v", err)
	}
	return s
}

// compare lets addresses be compared by what they print.
var compare = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
}

func TestStateContract(t *testing.T) {
	s := state(t, parse(t, "testdata/good/contract.yaml"), "rbx")
	port := func(name string) netstate.Link {
		return netstate.Link{Name: name, MTU: 9000, Up: true, Carrier: true, Speed: 25e9, Card: "c0", Master: "bond1",
			Port: &netstate.BondPort{Bond: "bond1", Active: true, MIIUp: true}}
	}
	address := netip.MustParsePrefix("10.119.250.103/16")
	want := netstate.Host{
		Name:   "rbx",
		Kernel: netstate.Kernel{OS: "linux", Release: "5.15"},
		CPU:    netstate.CPU{Cores: 48, StreamRate: 30e9},
		Links: []netstate.Link{
			port("ens2f0"), port("ens2f1"),
			{Name: "bond1", Kind: "bond", MTU: 9000, Up: true, Carrier: true, Bond: &netstate.Bond{
				Mode: netstate.LACP, HashPolicy: netstate.Layer34, LACPRate: netstate.LACPFast, Miimon: 100 * time.Millisecond,
				PacketsPerSlave: 1, TLBDynamic: true, Ports: []string{"ens2f0", "ens2f1"}}},
			{Name: "lan", Kind: "vlan", MTU: 9000, Up: true, Carrier: true, Addresses: []netip.Prefix{address}, VLAN: &netstate.VLAN{ID: 1904, Parent: "bond1"}},
		},
		Cards:  []netstate.Card{{Name: "c0", Generation: 3, Lanes: 8, MaxPayload: 256, Price: 500}},
		Routes: []netstate.Route{{Dst: address.Masked(), Link: "lan", Source: address.Addr(), Table: 254}},
		Sysctls: map[string]netstate.Sysctl{
			"net.ipv4.tcp_rmem": {Value: "4096 131072 6291456", Scope: netstate.ScopeNamespace},
			"net.ipv4.tcp_wmem": {Value: "4096 16384 4194304", Scope: netstate.ScopeNamespace},
		},
		Rate: 25e9, Cloud: &netstate.Cloud{Provider: "ibm-vpc", VCPUs: 48},
	}
	if diff := cmp.Diff(want, s, compare); diff != "" {
		t.Errorf("State (-want +got):\n%s", diff)
	}
	if got := s.UsablePorts("bond1"); len(got) != 2 {
		t.Errorf("usable ports = %v", got)
	}
}

// TestStateMatch is the article's netplan: a match that covers two ports, and
// one that covers no known link and concerns bond0 alone.
func TestStateMatch(t *testing.T) {
	f := parse(t, "testdata/ovh.yaml")
	for _, host := range []string{"lim", "rbx"} {
		s := state(t, f, host)
		if diff := cmp.Diff([]string{"ens2f0", "ens2f1"}, s.UsablePorts("bond1")); diff != "" {
			t.Errorf("%s: ports of bond1 (-want +got):\n%s", host, diff)
		}
		ports, tags, bond := s.Below("cyril-net")
		if len(ports) != 2 || tags != 1 || bond == nil || ports[0].Speed != 25e9 || ports[0].MTU != 9000 {
			t.Errorf("%s: below cyril-net: %v, %d tags, bond %v", host, ports, tags, bond)
		}
		if l, _ := s.Link("cyril-net"); l.MTU != 9000 {
			t.Errorf("%s: a VLAN without mtu has %d, not its parent's 9000", host, l.MTU)
		}
	}
	rbx := state(t, f, "rbx")
	if got := rbx.UsablePorts("bond0"); len(got) != 0 {
		t.Errorf("bond0 of rbx has ports %v", got)
	}
	wantMissing := []string{"match name ens3f* covers no known link: name them in hosts.rbx.hardware.links"}
	if diff := cmp.Diff(wantMissing, rbx.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if err := f.ResolveAlone(); err != nil {
		t.Errorf("ResolveAlone = %v, though no path uses bond0", err)
	}
}

func TestResolveAlone(t *testing.T) {
	f := parseText(t, `linerate: v1
hosts:
  a:
    network:
      network:
        ethernets: {private: {match: {name: ens2f*}}}
        bonds: {bond1: {interfaces: [private], addresses: [10.0.0.1/24]}}
  b:
    network:
      ethernets: {eth0: {addresses: [10.0.0.2/24]}}
  c: {reach: "local:"}
paths:
  - {between: [a, b]}
  - {between: [a, c]}
`)
	err := f.ResolveAlone()
	want := "fabric.yaml:6:38: match name ens2f* covers no known link: name them in hosts.a.hardware.links\n" +
		"fabric.yaml:11:6: hosts.c has no network: its links are unknown until it is observed"
	if err == nil || err.Error() != want {
		t.Errorf("ResolveAlone = %v\nwant %s", err, want)
	}
	if s := state(t, f, "a"); len(s.Links) != 1 || len(s.Links[0].Bond.Ports) != 0 || len(s.Links[0].Addresses) != 1 {
		t.Errorf("state of a = %+v", s.Links)
	}
}

func TestStateKernelDefaults(t *testing.T) {
	for release, want := range map[string]string{
		"4.19": "4096 87380 6291456", "4.20": "4096 131072 6291456", "5.15.0-47-generic": "4096 131072 6291456",
		"6.15.9": "4096 131072 6291456", "6.16": "4096 131072 33554432", "7.0": "4096 131072 33554432", "": "", "unknown": "",
	} {
		f := parseText(t, host(release))
		if got := state(t, f, "a").Sysctls["net.ipv4.tcp_rmem"].Value; got != want {
			t.Errorf("tcp_rmem of %q = %q, want %q", release, got, want)
		}
	}
}

func host(release string) string {
	if release == "" {
		return "linerate: v1\nhosts: {a: {reach: \"local:\"}}\n"
	}
	return "linerate: v1\nhosts: {a: {reach: \"local:\", kernel: " + release + "}}\n"
}

func TestStateNetplan(t *testing.T) {
	f := parseText(t, `linerate: v1
hosts:
  a:
    network:
      renderer: networkd
      ethernets:
        renderer: networkd
        eth0: {match: {macaddress: "52:54:00:00:00:01"}, set-name: lan0, mtu: 9000, dhcp4: no, optional: true, wakeonlan: true}
        eth1: {match: {macaddress: "52:54:00:00:00:02"}}
        eth2:
        eth3: {addresses: ["172.16.0.4/24", {"172.16.1.4/24": {label: "eth3:x", lifetime: 0}}], gateway4: 172.16.0.1,
               routes: [{to: 172.16.0.104/32, via: 172.16.0.4}, {to: 10.9.0.0/16, via: 172.16.0.9, table: 101, metric: 7, on-link: true}],
               routing-policy: [{from: 172.16.0.4, table: 101, priority: 100}]}
      bonds:
        backup: {interfaces: [eth1, eth2], parameters: {mode: active-backup, primary: eth2, mii-monitor-interval: 1s, up-delay: "200", arp-ip-targets: [10.0.0.1, 10.0.0.2], all-slaves-active: yes, packets-per-slave: 0}}
      bridges:
        br0: {interfaces: [backup.7, lan], addresses: [10.7.0.1/24], parameters: {stp: false}}
      vlans:
        backup.7: {id: 7, link: backup}
        lan: {id: 8, link: eth0, mtu: 1400}
      dummy-devices:
        dm0: {addresses: [192.168.7.1/32]}
      tunnels:
        gre1: {mode: gre, local: 10.7.0.1, remote: 10.7.0.2}
`)
	s := state(t, f, "a")
	link := func(name string) netstate.Link {
		l, ok := s.Link(name)
		if !ok {
			t.Fatalf("no link %s in %v", name, s.Links)
		}
		return l
	}
	mac := flow.MAC{0x52, 0x54, 0, 0, 0, 1}
	if l := link("lan0"); l.PermanentMAC != mac || l.MTU != 9000 {
		t.Errorf("lan0 = %+v", l)
	}
	b := link("backup")
	want := &netstate.Bond{Mode: netstate.ActiveBackup, Miimon: time.Second, UpDelay: 200 * time.Millisecond, TLBDynamic: true, Active: "eth2", Ports: []string{"eth1", "eth2"},
		Options: map[string]string{"primary": "eth2", "arp_ip_target": "10.0.0.1,10.0.0.2", "all_slaves_active": "1"}}
	if diff := cmp.Diff(want, b.Bond); diff != "" {
		t.Errorf("backup (-want +got):\n%s", diff)
	}
	if got := s.UsablePorts("backup"); len(got) != 1 || got[0] != "eth2" {
		t.Errorf("active-backup uses %v", got)
	}
	if b.MAC != (flow.MAC{0x52, 0x54, 0, 0, 0, 2}) {
		t.Errorf("bond's MAC = %s, not its first port's", b.MAC)
	}
	if l := link("br0"); l.MTU != 1400 || l.Kind != "bridge" {
		t.Errorf("br0 = %+v, want its smallest port's MTU", l)
	}
	if l := link("lan"); l.VLAN.Parent != "lan0" || l.Master != "br0" || l.MTU != 1400 {
		t.Errorf("lan = %+v", l)
	}
	wantRoutes := []netstate.Route{
		{Dst: netip.MustParsePrefix("172.16.0.0/24"), Link: "eth3", Source: netip.MustParseAddr("172.16.0.4"), Table: 254},
		{Dst: netip.MustParsePrefix("172.16.1.0/24"), Link: "eth3", Source: netip.MustParseAddr("172.16.1.4"), Table: 254},
		{Dst: netip.MustParsePrefix("10.7.0.0/24"), Link: "br0", Source: netip.MustParseAddr("10.7.0.1"), Table: 254},
		{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("172.16.0.1"), Link: "eth3", Table: 254},
		{Dst: netip.MustParsePrefix("172.16.0.104/32"), Link: "eth3", Table: 254},
		{Dst: netip.MustParsePrefix("10.9.0.0/16"), Gateway: netip.MustParseAddr("172.16.0.9"), Link: "eth3", Table: 101, Metric: 7},
	}
	if diff := cmp.Diff(wantRoutes, s.Routes, compare); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]netstate.Rule{{Priority: 100, From: netip.MustParsePrefix("172.16.0.4/32"), Table: 101}}, s.Rules, compare); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	e, _ := f.Hosts[0].Network.Ethernet("eth0")
	var kept []string
	for _, p := range e.Unread {
		kept = append(kept, p.Key+"="+p.Value.Text)
	}
	if got := strings.Join(kept, " "); got != "dhcp4=no optional=true wakeonlan=true" {
		t.Errorf("unread keys = %s", got)
	}
}

// TestRoutedPaths: hosts with routers between them have a path; beside others that
// share a subnet nobody is joined by a mere default route.
func TestRoutedPaths(t *testing.T) {
	const behind = `{network: {ethernets: {eth0: {addresses: [%s], routes: [{to: default, via: %s}]}}}}`
	routed := func(names ...string) []netstate.Host {
		text := "linerate: v1\nhosts:\n"
		for i, n := range names {
			at := fmt.Sprintf("10.%d.0.2/24", i)
			if strings.HasPrefix(n, "near") {
				at = fmt.Sprintf("10.9.0.%d/24", 2+i)
			}
			text += "  " + n + ": " + fmt.Sprintf(behind, at, strings.Replace(at[:strings.LastIndex(at, ".")], "/24", "", 1)+".1") + "\n"
		}
		f := parseText(t, text)
		var hosts []netstate.Host
		for _, h := range f.Hosts {
			hosts = append(hosts, state(t, f, h.Name))
		}
		return hosts
	}
	for _, c := range []struct {
		names []string
		want  []Path
	}{
		{[]string{"a", "b"}, []Path{{From: "a", To: "b"}}},
		{[]string{"near1", "near2"}, []Path{{From: "near1", To: "near2"}}},
		{[]string{"near1", "near2", "c"}, []Path{{From: "near1", To: "near2"}, {From: "near1", To: "c"}, {From: "near2", To: "c"}}},
	} {
		if diff := cmp.Diff(c.want, PathsBetween(routed(c.names...))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.names, diff)
		}
	}
	alone := routed("a", "b")
	alone[0].Routes = nil
	if got := PathsBetween(alone); len(got) > 0 {
		t.Errorf("a host without a route has %v", got)
	}
}

func TestEffectivePaths(t *testing.T) {
	f := parseText(t, `linerate: v1
hosts:
  a: {network: {ethernets: {eth0: {addresses: [10.0.0.1/24, "fd00::1/64", "fe80::1/64", 127.0.0.2/8]}}}}
  b: {network: {ethernets: {eth0: {addresses: [10.0.0.2/24, "fd00::2/64", "fe80::2/64", 127.0.0.3/8]}}}}
  c: {network: {ethernets: {eth0: {addresses: [10.1.0.3/24, "fd00::3/64", "fe80::3/64"]}}}}
  d: {network: {ethernets: {eth0: {addresses: [10.2.0.4/32, "fe80::4/64"]}}}}
`)
	want := []Path{{From: "a", To: "b"}, {From: "a", To: "c", Family: "ipv6"}, {From: "b", To: "c", Family: "ipv6"}}
	if diff := cmp.Diff(want, f.Paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	var hosts []netstate.Host
	for _, h := range f.Hosts {
		hosts = append(hosts, state(t, f, h.Name))
	}
	if diff := cmp.Diff(want, PathsBetween(hosts)); diff != "" {
		t.Errorf("PathsBetween (-want +got):\n%s", diff)
	}
	for i := range hosts { // a container's network that is called alike on both joins nothing
		if name := hosts[i].Name; name == "a" || name == "d" {
			hosts[i].SetLink(netstate.Link{Name: "dummy0", Kind: "dummy", Up: true, Carrier: true, Addresses: []netip.Prefix{netip.MustParsePrefix("172.18." + fmt.Sprint(i) + ".1/16")}})
			hosts[i].SetLink(netstate.Link{Name: "br7", Kind: "bridge", Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix("172.19." + fmt.Sprint(i) + ".1/16")}})
		}
	}
	if diff := cmp.Diff(want, PathsBetween(hosts)); diff != "" {
		t.Errorf("PathsBetween with addresses that lead nowhere (-want +got):\n%s", diff)
	}
}

func TestStateUnknownHost(t *testing.T) {
	_, err := parse(t, "testdata/ovh.yaml").State("lin")
	if err == nil || !strings.Contains(err.Error(), "nearest: lim") {
		t.Errorf("State of an unknown host = %v", err)
	}
}
