package describe

import (
	stdcmp "cmp"
	"flag"
	"maps"
	"net/netip"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

var rewrite = flag.Bool("update", false, "write the described file anew")

// byText lets addresses be compared by what they print.
var byText = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func readFabric(t *testing.T, file string) fabric.Fabric { return parsed(t, file, contents(t, file)) }

func parsed(t *testing.T, name string, text []byte) fabric.Fabric {
	t.Helper()
	f, err := fabric.Parse(name, text)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return f
}

func stateOf(t *testing.T, f fabric.Fabric, host string) netstate.Host {
	t.Helper()
	s, err := f.State(host)
	if err != nil {
		t.Fatalf("State: %v", err)
	}
	return s
}

func linkWith(text string, set ...func(*netstate.Link)) netstate.Link {
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

// TestBecome: the key goes along with the reach, there and back.
func TestBecome(t *testing.T) {
	f, err := fabric.Parse("f", []byte("linerate: v1\nhosts:\n  a: {become: sudo, reach: \"ssh://ann@192.0.2.1:2222\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "ssh://ann@192.0.2.1:2222?become=sudo"
	if got := f.Hosts[0].Reach; got != want {
		t.Fatalf("reach %q, want %q", got, want)
	}
	text := string(Write([]netstate.Host{{Name: "a"}}, nil, map[string]string{"a": want}, fabric.Measure{}))
	if !strings.Contains(text, "reach: ssh://ann@192.0.2.1:2222\n") || !strings.Contains(text, "become: sudo\n") {
		t.Errorf("described as\n%s", text)
	}
	again, err := fabric.Parse("f", []byte(text))
	if err != nil || again.Hosts[0].Reach != want {
		t.Errorf("read back: %v\n%s", err, text)
	}
}

// TestDescribeRoundTrip writes states as a file and reads them back.
func TestDescribeRoundTrip(t *testing.T) {
	for _, file := range []string{"../testdata/good/contract.yaml", "../testdata/good/many.yaml", "../testdata/good/clouds.yaml"} {
		t.Run(file, func(t *testing.T) {
			f := readFabric(t, file)
			var hosts []netstate.Host
			reach := map[string]string{}
			for _, h := range f.Hosts {
				hosts = append(hosts, stateOf(t, f, h.Name))
				reach[h.Name] = h.Reach
			}
			text := Write(hosts, f.Paths, reach, f.Measure)
			again, err := fabric.Parse("described.yaml", text)
			if err != nil {
				t.Fatalf("Parse: %v\n%s", err, text)
			}
			for i, h := range hosts {
				if diff := cmp.Diff(settled(h), settled(stateOf(t, again, h.Name)), byText); diff != "" {
					t.Errorf("state of %s (-was +read back):\n%s\n%s", h.Name, diff, text)
				}
				if got := again.Hosts[i].Reach; got != reach[h.Name] {
					t.Errorf("reach of %s = %q", h.Name, got)
				}
			}
			for i := range again.Paths {
				again.Paths[i].Declared = f.Paths[i].Declared
			}
			if diff := cmp.Diff(f.Paths, again.Paths); diff != "" {
				t.Errorf("paths (-was +read back):\n%s", diff)
			}
			if diff := cmp.Diff(f.Measure, again.Measure); diff != "" {
				t.Errorf("measure (-was +read back):\n%s", diff)
			}
		})
	}
}

// settled is a state in an order that the sections' order does not change.
func settled(h netstate.Host) netstate.Host {
	h = h.Clone()
	sort.Slice(h.Links, func(i, j int) bool { return h.Links[i].Name < h.Links[j].Name })
	h.Routes = append([]netstate.Route(nil), h.Routes...)
	sort.Slice(h.Routes, func(i, j int) bool {
		return h.Routes[i].Dst.String()+h.Routes[i].Link < h.Routes[j].Dst.String()+h.Routes[j].Link
	})
	for i := range h.Links {
		h.Links[i].MAC, h.Links[i].PermanentMAC = flow.MAC{}, flow.MAC{}
	}
	return h
}

// TestDescribeObserved writes what real hosts have beside the links that
// matter, and must leave out what is theirs alone.
func TestDescribeObserved(t *testing.T) {
	prefix := netip.MustParsePrefix
	host := func(name, address string) netstate.Host {
		return netstate.Host{
			Name:   name,
			Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0-32-amd64"},
			CPU:    netstate.CPU{Cores: 2},
			Links: []netstate.Link{
				{Name: "lo", Up: true, Carrier: true, MTU: 65536, Addresses: []netip.Prefix{prefix("127.0.0.1/8"), prefix("::1/128")}},
				{Name: "eth0", Up: true, Carrier: true, MTU: 1500, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true},
					Speed: 10e9, Qdiscs: []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: 500e6}}},
				{Name: "eth1", Up: true, MTU: 1500, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0"}},
				{Name: "bond0", Kind: "bond", Up: true, Carrier: true, MTU: 1500, Bond: &netstate.Bond{Mode: netstate.LACP, PacketsPerSlave: 1, TLBDynamic: true, Ports: []string{"eth0", "eth1"},
					Options: map[string]string{"ad_select": "bandwidth 1", "primary_reselect": "always 0", "lacp_active": "on 1"}}, Addresses: []netip.Prefix{prefix(address), prefix("fe80::1/64")}},
				{Name: "eth2", Up: true, Carrier: true, MTU: 9000, Master: "bond1", Port: &netstate.BondPort{Bond: "bond1", Active: true, MIIUp: true}},
				{Name: "bond1", Kind: "bond", Up: true, Carrier: true, MTU: 9000, Bond: &netstate.Bond{Ports: []string{"eth2"}}},
				{Name: "bond1.5", Kind: "vlan", Up: true, Carrier: true, MTU: 9000, VLAN: &netstate.VLAN{ID: 5, Parent: "bond1"}, Addresses: []netip.Prefix{prefix(strings.Replace(address, "10.0.0", "10.5.0", 1))}},
				{Name: "docker0", Kind: "bridge", Up: true, MTU: 1500, Addresses: []netip.Prefix{prefix("172.17.0.1/16")}},
				{Name: "wg0", Kind: "wireguard", Up: true, MTU: 1420, Addresses: []netip.Prefix{prefix(strings.Replace(address, "10.0.0", "10.8.0", 1))}},
				{Name: "eth9", Up: true, Carrier: true, MTU: 1500},
			},
			Routes: []netstate.Route{
				{Dst: prefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "bond0", Table: 254},
				{Dst: prefix("10.0.0.0/24"), Link: "bond0", Table: 254},
				{Dst: prefix("10.0.0.1/32"), Link: "bond0", Table: 255},
				{Dst: prefix("10.77.0.0/16"), Gateway: netip.MustParseAddr("10.5.0.9"), Link: "bond1.5", Table: 100},
			},
			Rules:   []netstate.Rule{{Priority: 0, Table: 255}, {Priority: 32766, Table: 254}, {Priority: 50, Table: 100, From: prefix("10.5.0.0/24")}, {Priority: 60, Table: 200}},
			Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_rmem": {Value: "4096\t131072\t6291456"}},
			Missing: []string{"LLDP: operation not permitted"},
		}
	}
	paths := []fabric.Path{{From: "a", To: "b", RTT: 210 * time.Microsecond}, {From: "b", To: "a", Directed: true, Family: "ipv6"}}
	text := string(Write([]netstate.Host{host("a", "10.0.0.1/24"), host("b", "10.0.0.2/24")}, paths, map[string]string{"a": "ssh://root@a", "b": "netns:b"}, fabric.Measure{Streams: []int{1, 8}}))
	golden := "../testdata/described.yaml"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(contents(t, golden)), text); diff != "" {
		t.Errorf("described (-want +got):\n%s", diff)
	}
	f := parsed(t, "described.yaml", []byte(text))
	s := stateOf(t, f, "a")
	if l, _ := s.Link("eth0"); l.Speed != 10e9 || !strings.Contains(text, "# eth0: a queueing discipline lets through 500 Mbit/s of it") {
		t.Errorf("a shaped card was read back as %+v", l)
	}
	for _, absent := range []string{"lo", "docker0", "wg0", "eth9"} {
		if _, ok := s.Link(absent); ok {
			t.Errorf("%s was written", absent)
		}
	}
	if l, _ := s.Link("bond1.5"); l.VLAN == nil || l.VLAN.Parent != "bond1" || l.MTU != 9000 {
		t.Errorf("VLAN on a bond with one port = %+v", l)
	}
}

// TestA4HintsAreReadyToUncomment: the lines that discover leaves for the user
// read back as what they say once their "# " is gone, whether some of the speeds
// are known or none.
func TestA4HintsAreReadyToUncomment(t *testing.T) {
	for _, known := range []unit.BitRate{0, unit.Gbps} {
		h := netstate.Host{Name: "192.0.2.11", CPU: netstate.CPU{Cores: 2}, Links: []netstate.Link{
			{Name: "ens1", Up: true, MTU: 1500, Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.1.11/24")}},
			{Name: "ens2", Up: true, MTU: 1500, Speed: known, Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.2.11/24")}},
		}}
		text := string(Write([]netstate.Host{h}, nil, map[string]string{"192.0.2.11": "ssh://root@192.0.2.11"}, fabric.Measure{}))
		f, err := fabric.Parse("discovered.yaml", []byte(text))
		if err != nil || len(f.Hosts[0].Profiles) > 0 {
			t.Fatalf("%v: profiles %v\n%s", err, f.Hosts[0].Profiles, text)
		}
		var open []string
		for _, line := range strings.Split(text, "\n") {
			if hint := strings.TrimLeft(line, " "); strings.HasPrefix(hint, "# ") && (strings.Contains(hint, "{speed") || strings.Contains(hint, "profiles:") || strings.HasSuffix(hint, "links:")) {
				line = strings.Replace(line, "# ", "", 1)
			}
			open = append(open, line)
		}
		f, err = fabric.Parse("uncommented.yaml", []byte(strings.Join(open, "\n")))
		if err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(open, "\n"))
		}
		want := map[string]fabric.HardwareLink{"ens1": {Speed: 25 * unit.Gbps}, "ens2": {Speed: stdcmp.Or(known, 25*unit.Gbps)}}
		if got := f.Hosts[0].Hardware.Links; !maps.Equal(got, want) || !slices.Equal(f.Hosts[0].Profiles, []string{"throughput"}) {
			t.Errorf("links %v, profiles %v\n%s", got, f.Hosts[0].Profiles, text)
		}
	}
}

// TestA2DescribeSaysWhatIsLeftOut: the line for the link over which a host is
// managed is one to uncomment.
func TestA2DescribeSaysWhatIsLeftOut(t *testing.T) {
	h := fabric.InUse(fabric.Host{Name: "h", Reach: "ssh://root@192.0.2.11"}, netstate.Host{Name: "h", Links: []netstate.Link{linkWith("ens1 10.1.1.11/24"), linkWith("mgmt0 192.0.2.11/24")}})
	text := string(Write([]netstate.Host{h}, nil, map[string]string{"h": "ssh://root@192.0.2.11"}, fabric.Measure{}))
	const want = "    # use: [ens1, mgmt0]  # without it mgmt0 is left out: `reach` has its address\n    network:\n"
	if !strings.Contains(text, want) {
		t.Fatalf("want %q in\n%s", want, text)
	}
	f, err := fabric.Parse("f.yaml", []byte(strings.Replace(text, "# use:", "use:", 1)))
	if err != nil || !slices.Equal(f.Hosts[0].Use, []string{"ens1", "mgmt0"}) {
		t.Errorf("use %v: %v", f.Hosts[0].Use, err)
	}
}

// TestA1DescribeNamesLo: lo is written for the addresses that lead to the host,
// without what is everyone's, and reads back as the loopback it is.
func TestA1DescribeNamesLo(t *testing.T) {
	lo := linkWith("lo 127.0.0.1/8 10.9.0.1/32 ::1/128")
	lo.MTU = 65536
	h := netstate.Host{Name: "h", Links: []netstate.Link{lo, linkWith("ens1 10.1.1.11/24")}}
	text := string(Write([]netstate.Host{h}, nil, nil, fabric.Measure{}))
	if !strings.Contains(text, "        lo:\n          addresses: [10.9.0.1/32]\n") || strings.Contains(text, "lo: {speed") {
		t.Errorf("\n%s", text)
	}
	f, err := fabric.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if l, _ := stateOf(t, f, "h").Link("lo"); l.Kind != "loopback" || l.MTU != 65536 {
		t.Errorf("read back as %+v", l)
	}
	h.Links[0] = linkWith("lo 127.0.0.1/8 ::1/128")
	if text := string(Write([]netstate.Host{h}, nil, nil, fabric.Measure{})); strings.Contains(text, "lo") {
		t.Errorf("lo, which has nothing of its own:\n%s", text)
	}
}

// TestDescribeMacvlan: what rides on another link is as fast as that, whose speed is
// the one to write; on one of another namespace it is unknown.
func TestDescribeMacvlan(t *testing.T) {
	host := func(parent string) netstate.Host {
		return netstate.Host{Name: "a", CPU: netstate.CPU{Cores: 1}, Links: []netstate.Link{
			{Name: "eth0", MTU: 1500, Up: true, Carrier: true, Speed: unit.Gbps},
			{Name: "mv0", Kind: "macvlan", MTU: 1500, Up: true, Carrier: true, Extra: map[string]string{"link": parent}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.9.0.1/24")}},
		}}
	}
	for parent, want := range map[string][]string{
		"eth0":                   {"eth0: {}", "eth0: {speed: 1G}", "mv0: {speed: 1G}"},
		"7 in another namespace": {"# unknown: write its speed here"},
	} {
		text := string(Write([]netstate.Host{host(parent)}, nil, nil, fabric.Measure{}))
		for _, words := range want {
			if !strings.Contains(text, words) {
				t.Errorf("on %s: no %q:\n%s", parent, words, text)
			}
		}
	}
}
