package steer

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func legs(weights ...int) []Hop {
	var all []Hop
	for i, w := range weights {
		all = append(all, Hop{Link: fmt.Sprintf("eth%d", i), Weight: w})
	}
	return all
}

func routedTCP(src, dst string, sport, dport uint16) flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: sport, Dport: dport}}
}

// What Linux 6.18.44 answered to `ip route get` for seed 12345 and two equal
// next hops.
func TestMultipathVectors(t *testing.T) {
	m := Multipath{Policy: MultipathL4, Seed: 12345, Hops: legs(1, 1)}
	var got []int
	var hashes []uint32
	for port := range 16 {
		p := m.Place(routedTCP("192.0.2.1", "198.51.100.7", 40000+uint16(port), 5201))
		if !p.Known || p.Hash == nil || p.Link != fmt.Sprintf("eth%d", p.Index) {
			t.Fatalf("port %d: %+v", 40000+port, p)
		}
		got = append(got, p.Index)
		hashes = append(hashes, *p.Hash)
	}
	if diff := cmp.Diff([]int{0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0}, got); diff != "" {
		t.Errorf("next hops (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]uint32{0x03005894, 0xd745f1c4, 0x67ca4745, 0xae8cd6e2}, hashes[:4]); diff != "" {
		t.Errorf("hashes (-want +got):\n%s", diff)
	}
}

func TestUpperBounds(t *testing.T) {
	for _, tt := range []struct {
		weights []int
		want    []uint32
	}{
		{[]int{1, 1}, []uint32{1073741823, 2147483647}},
		{[]int{1, 2, 3}, []uint32{357913940, 1073741823, 2147483647}},
		{[]int{0, 0}, []uint32{1073741823, 2147483647}},
		{[]int{256, 256}, []uint32{1073741823, 2147483647}},
	} {
		if diff := cmp.Diff(tt.want, (Multipath{Hops: legs(tt.weights...)}).upperBounds()); diff != "" {
			t.Errorf("weights %v (-want +got):\n%s", tt.weights, diff)
		}
	}
}

// Both directions of a flow hash alike, whatever the era, the family and the
// byte order: that is what putting the ends in order is for.
func TestMultipathIsSymmetric(t *testing.T) {
	for _, bigEndian := range []bool{false, true} {
		for _, era := range []MultipathEra{MultipathHashed, MultipathJoint} {
			for _, policy := range []MultipathPolicy{MultipathL3, MultipathL4, MultipathInner, MultipathFields} {
				m := Multipath{Policy: policy, Fields: 0x37, Seed: 77, Hops: legs(1, 2, 3, 4, 5), Era: era, BigEndian: bigEndian}
				for port := range uint16(200) {
					for _, pair := range [][2]string{{"10.0.0.9", "10.0.0.1"}, {"250.1.2.3", "4.0.0.1"}, {"2001:db8::9", "2001:db8::1"}, {"10.0.0.1", "10.0.0.1"}} {
						there := routedTCP(pair[0], pair[1], 256+port, 443)
						back := flow.Frame{Tuple: there.Reverse()}
						if a, b := m.Place(there), m.Place(back); a.Index != b.Index || !a.Known {
							t.Fatalf("%s %s %v: %v %+v, and back %+v", era, policy, bigEndian, there, a, b)
						}
					}
				}
			}
		}
	}
}

// A port that is not given is none that a route's hash can take.
func TestMultipathNeedsPorts(t *testing.T) {
	forwarded := routedTCP("10.0.0.1", "10.1.0.1", 0, 443)
	forwarded.Forwarded = true
	for _, tt := range []struct {
		name  string
		m     Multipath
		frame flow.Frame
		why   string // "" is known
	}{
		{"l4", Multipath{Policy: MultipathL4}, routedTCP("10.0.0.1", "10.1.0.1", 0, 443), "takes the source port, which is not given"},
		{"l4 both", Multipath{Policy: MultipathL4}, routedTCP("fd00::1", "fd01::1", 0, 0), "source and destination ports"},
		{"l3", Multipath{Policy: MultipathL3}, routedTCP("10.0.0.1", "10.1.0.1", 0, 0), ""},
		{"the field", Multipath{Policy: MultipathFields, Fields: FieldSport}, routedTCP("10.0.0.1", "10.1.0.1", 0, 443), "source port"},
		{"another field", Multipath{Policy: MultipathFields, Fields: FieldDport}, routedTCP("10.0.0.1", "10.1.0.1", 0, 443), ""},
		{"forwarded", Multipath{Policy: MultipathFields, Fields: FieldSrc | FieldSport}, forwarded, "source port"},
	} {
		tt.m.Seed, tt.m.Hops = 7, legs(1, 1)
		p := tt.m.Place(unported(tt.frame))
		if p.Known != (tt.why == "") || !strings.Contains(p.Why, tt.why) {
			t.Errorf("%s: %+v, want %q", tt.name, p, tt.why)
		}
	}
}

// The eras differ where only one of addresses and ports is out of order.
func TestMultipathErasDisagree(t *testing.T) {
	each := Multipath{Policy: MultipathL4, Seed: 9, Hops: legs(1, 1, 1, 1), Era: MultipathHashed}
	joint, doubt := each, each
	joint.Era = MultipathJoint
	doubt.Doubt = []MultipathEra{MultipathJoint}
	differ := 0
	for port := range uint16(400) {
		f := routedTCP("10.0.0.9", "10.0.0.1", 30000+port, 443)
		a, b, c := each.Place(f), joint.Place(f), doubt.Place(f)
		if a.Index != b.Index {
			differ++
		}
		if c.Known != (a.Index == b.Index) || !c.Known && (c.Index != -1 || !strings.Contains(c.Why, "5.13 and older")) {
			t.Fatalf("%v: %d, %d, in doubt %+v", f, a.Index, b.Index, c)
		}
	}
	if differ == 0 || differ == 400 {
		t.Errorf("the eras place %d of 400 flows apart", differ)
	}
}

func TestMultipathSource(t *testing.T) {
	m := Multipath{Policy: MultipathL4, Seed: 5, Hops: legs(1, 1, 1)}
	for i, a := range []string{"10.0.1.1", "10.0.2.1", "10.0.3.1"} {
		m.Hops[i].Source = netip.MustParseAddr(a)
	}
	seen := map[string]map[int]bool{}
	for _, era := range []MultipathEra{MultipathScored, MultipathSourceFirst, MultipathHashed} {
		for _, src := range []string{"10.0.2.1", "192.0.2.1"} {
			m.Era = era
			used := map[int]bool{}
			for port := range uint16(100) {
				p := m.Place(routedTCP(src, "198.51.100.7", 40000+port, 443))
				if !p.Known {
					t.Fatalf("%s from %s: %+v", era, src, p)
				}
				used[p.Index] = true
			}
			seen[era.String()+" from "+src] = used
		}
	}
	all := map[int]bool{0: true, 1: true, 2: true}
	want := map[string]map[int]bool{
		"6.18.4 and newer from 10.0.2.1":  {1: true},
		"6.18.4 and newer from 192.0.2.1": all,
		"6.16 to 6.18.3 from 10.0.2.1":    {1: true},
		"6.16 to 6.18.3 from 192.0.2.1":   {2: true},
		"5.14 to 6.15 from 10.0.2.1":      all,
		"5.14 to 6.15 from 192.0.2.1":     all,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("next hops used (-want +got):\n%s", diff)
	}
	// The address alone decides, so the random key does not matter.
	m.Era, m.Seed = MultipathScored, 0
	if p := m.Place(routedTCP("10.0.2.1", "198.51.100.7", 1, 2)); !p.Known || p.Index != 1 || p.Why == "" {
		t.Errorf("without the seed, from a next hop's address: %+v", p)
	}
}

func TestMultipathUnknown(t *testing.T) {
	seeded := Multipath{Policy: MultipathL4, Seed: 1, Hops: legs(1, 1)}
	random := Multipath{Policy: MultipathL4, Hops: legs(1, 1)}
	opaque := seeded
	opaque.Opaque = "an object"
	tcp := routedTCP("10.0.0.1", "10.0.0.2", 1, 2)
	with := func(change func(f *flow.Frame)) flow.Frame { f := tcp; change(&f); return f }
	for name, tt := range map[string]struct {
		m    Multipath
		f    flow.Frame
		why  string
		here bool
	}{
		"no seed":         {random, tcp, "fib_multipath_hash_seed", false},
		"no seed, fields": {Multipath{Policy: MultipathFields, Hops: legs(1, 1)}, tcp, "not what a socket gets", false},
		"no hops":         {Multipath{}, tcp, "no usable next hop", false},
		"one hop":         {Multipath{Hops: legs(1), Opaque: "x"}, tcp, "", true},
		"opaque":          {opaque, tcp, "an object", false},
		"no address":      {seeded, flow.Frame{}, "both IP addresses", false},
		"mixed":           {seeded, with(func(f *flow.Frame) { f.Dst = netip.MustParseAddr("::1") }), "different families", false},
		"newer policy":    {Multipath{Policy: 9, Seed: 1, Hops: legs(1, 1)}, tcp, "newer than this program", false},
		"icmp":            {seeded, with(func(f *flow.Frame) { f.Proto = flow.ICMP }), "ICMP type", false},
		"icmp echo":       {seeded, with(func(f *flow.Frame) { f.Proto, f.ICMP = flow.ICMP, &flow.ICMPHeader{Type: 8} }), "", true},
		"icmp error":      {seeded, with(func(f *flow.Frame) { f.Proto, f.ICMP = flow.ICMP, &flow.ICMPHeader{Type: 3} }), "packet that it answers", false},
		"esp":             {seeded, with(func(f *flow.Frame) { f.Proto = protoESP }), "of protocol", false},
		"tunnel":          {seeded, with(func(f *flow.Frame) { f.Proto = 4 }), "tunnel device", false},
		"forwarded l4":    {seeded, with(func(f *flow.Frame) { f.Forwarded = true }), "receiving card", false},
		"nothing hashed":  {Multipath{Policy: MultipathFields, Fields: FieldInnerSrc, Hops: legs(1, 1)}, tcp, "", true},
	} {
		if p := tt.m.Place(tt.f); p.Known != tt.here || !strings.Contains(p.Why, tt.why) || tt.why == "" && p.Why != "" {
			t.Errorf("%s: %+v, want known %v, why %q", name, p, tt.here, tt.why)
		}
	}
}

func TestMultipathReach(t *testing.T) {
	for name, tt := range map[string]struct {
		m    Multipath
		want Reach
	}{
		"none":      {Multipath{}, Reach{}},
		"one":       {Multipath{Hops: legs(1)}, Reach{}},
		"l3":        {Multipath{Seed: 1, Hops: legs(1, 1)}, Reach{Addresses: true, Chosen: true}},
		"l3 random": {Multipath{Hops: legs(1, 1)}, Reach{Addresses: true}},
		"l4":        {Multipath{Policy: MultipathL4, Seed: 1, Hops: legs(1, 1)}, Reach{Ports: true, Addresses: true, Chosen: true}},
		"opaque":    {Multipath{Policy: MultipathL4, Seed: 1, Hops: legs(1, 1), Opaque: "x"}, Reach{Ports: true, Addresses: true}},
		"sport":     {Multipath{Policy: MultipathFields, Fields: FieldSport, Seed: 1, Hops: legs(1, 1)}, Reach{Ports: true, Chosen: true}},
		"default":   {Multipath{Policy: MultipathFields, Seed: 1, Hops: legs(1, 1)}, Reach{Addresses: true, Chosen: true}},
		"inner":     {Multipath{Policy: MultipathFields, Fields: FieldInnerSport, Seed: 1, Hops: legs(1, 1)}, Reach{}},
	} {
		got := tt.m.Reach()
		if got.Why == "" {
			t.Errorf("%s: no reason", name)
		}
		got.Why = ""
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMultipathPolicyWords(t *testing.T) {
	for i, word := range multipathWords {
		p, fields, err := ParseMultipathPolicy(word)
		if err != nil || p != MultipathPolicy(i) || fields != 0 || p.String() != word {
			t.Errorf("%s: %v %#x %v", word, p, fields, err)
		}
	}
	if p, fields, err := ParseMultipathPolicy("fields=0x37"); err != nil || p != MultipathFields || fields != 0x37 {
		t.Errorf("fields=0x37: %v %#x %v", p, fields, err)
	}
	if name := (Multipath{Policy: MultipathFields}).Name(); name != "ecmp fields=0x7" {
		t.Errorf("default fields: %q", name)
	}
	for _, bad := range []string{"", "l5", "l4=1", "fields=", "fields=0", "fields=0x1000", "fields=x", "fields=-1"} {
		if _, _, err := ParseMultipathPolicy(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestMultipathErasOf(t *testing.T) {
	for release, want := range map[string][]MultipathEra{
		"6.18.44-fc":           {MultipathScored},
		"6.18.4":               {MultipathScored, MultipathSourceFirst},
		"6.18.0-12-generic":    {MultipathScored, MultipathSourceFirst},
		"6.18.1":               {MultipathSourceFirst},
		"6.17.9-arch1":         {MultipathSourceFirst},
		"6.17.0-8-generic":     {MultipathSourceFirst, MultipathScored},
		"7.1":                  {MultipathScored},
		"6.12.48+deb13-amd64":  {MultipathHashed},
		"6.12.0-55.el10":       {MultipathHashed, MultipathSourceFirst, MultipathScored},
		"5.10.0-30-amd64":      {MultipathJoint, MultipathHashed},
		"not a kernel release": nil,
	} {
		if diff := cmp.Diff(want, MultipathErasOf(release)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", release, diff)
		}
	}
}

func TestMultipathOf(t *testing.T) {
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	h := netstate.Host{
		Kernel: netstate.Kernel{OS: "linux", Release: "6.18.44"},
		Links: []netstate.Link{
			{Name: "lo", Addresses: []netip.Prefix{prefix("127.0.0.1/8"), prefix("192.0.2.1/32")}},
			{Name: "eth0", Addresses: []netip.Prefix{prefix("10.9.0.1/24"), prefix("10.0.0.1/24")}},
			{Name: "eth1"},
		},
		Sysctls: map[string]netstate.Sysctl{
			"net.ipv4.fib_multipath_hash_policy": {Value: "3"}, "net.ipv4.fib_multipath_hash_fields": {Value: "55"},
			"net.ipv4.fib_multipath_hash_seed": {Value: "4294967295"}, "net.ipv6.fib_multipath_hash_policy": {Value: "1"},
		},
	}
	route := netstate.Route{Dst: prefix("0.0.0.0/0"), Hops: []netstate.NextHop{
		{Gateway: addr("10.0.0.254"), Link: "eth0", Weight: 1}, {Gateway: addr("10.0.0.253"), Link: "eth0", Weight: 2},
		{Gateway: addr("10.1.0.254"), Link: "eth1", Weight: 3}, {Gateway: addr("10.2.0.254"), Link: "eth2", Weight: 4, Dead: true},
	}}
	got, err := MultipathOf(h, route)
	if err != nil {
		t.Fatal(err)
	}
	want := Multipath{Policy: MultipathFields, Fields: 0x37, Seed: 4294967295, Doubt: []MultipathEra{}, Hops: []Hop{
		{Link: "eth0 via 10.0.0.254", Weight: 1, Source: addr("10.0.0.1")}, {Link: "eth0 via 10.0.0.253", Weight: 2, Source: addr("10.0.0.1")},
		{Link: "eth1", Weight: 3, Source: addr("192.0.2.1")},
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	route6 := route
	route6.Dst = prefix("::/0")
	if got, err := MultipathOf(h, route6); err != nil || got.Policy != MultipathL4 || got.Fields != 0 || got.Seed == 0 {
		t.Errorf("IPv6: %+v, %v", got, err)
	}
	route.Object = 7
	if got, _ := MultipathOf(h, route); !strings.Contains(got.Opaque, "object 7") {
		t.Errorf("with a nexthop object: %+v", got)
	}
	route.Group = netstate.Resilient
	if got, _ := MultipathOf(h, route); !strings.Contains(got.Opaque, "resilient") {
		t.Errorf("with a resilient group: %+v", got)
	}
	route.Group = netstate.HashThreshold
	if got, _ := MultipathOf(h, route); got.Opaque != "" || got.Era != MultipathHashed || len(got.Doubt) != 0 {
		t.Errorf("with a group: %+v", got)
	}
	h.Kernel.Release = "5.4.0"
	if got, _ := MultipathOf(h, route); got.Opaque != "" || !slices.Equal(got.eras(), []MultipathEra{MultipathHashed, MultipathJoint}) {
		t.Errorf("with a group of an old kernel: %+v", got)
	}
	if got, _ := MultipathOf(netstate.Host{}, route6); got.Opaque == "" || len(got.Doubt) != 2 {
		t.Errorf("of an unread host: %+v", got)
	}
	if _, err := MultipathOf(h, netstate.Route{Type: "blackhole"}); !errors.Is(err, ErrNotMultipath) {
		t.Errorf("blackhole: %v", err)
	}
	if _, err := MultipathOf(netstate.Host{Kernel: netstate.Kernel{OS: "aix"}}, route); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("AIX: %v", err)
	}
}

func TestTable(t *testing.T) {
	a, b := routedTCP("10.0.0.1", "10.0.0.2", 1, 9), routedTCP("10.0.0.1", "10.0.0.2", 2, 9)
	table := NewTable([]string{"x", "y"}, []Sighting{{a, 1}, {b, 0}, {routedTCP("10.0.0.1", "10.0.0.2", 3, 9), 7}}, "not seen")
	if p := table.Place(a); !p.Known || p.Index != 1 || p.Link != "y" {
		t.Errorf("seen: %+v", p)
	}
	if p := table.Place(routedTCP("10.0.0.1", "10.0.0.2", 3, 9)); p.Known || p.Index != -1 || p.Why != "not seen" {
		t.Errorf("not seen: %+v", p)
	}
	if r := table.Reach(); !r.Ports || r.Addresses || !r.Chosen {
		t.Errorf("reach %+v, want ports", r)
	}
	lanes := NewTable(table.Links(), []Sighting{{a, 1}, {routedTCP("10.0.0.3", "10.0.0.2", 1, 9), 0}}, "")
	if r := lanes.Reach(); r.Ports || !r.Addresses {
		t.Errorf("reach %+v, want addresses", r)
	}
	if !slices.Equal(lanes.Links(), []string{"x", "y"}) {
		t.Errorf("links %v", lanes.Links())
	}
}

func BenchmarkMultipath(b *testing.B) {
	m := Multipath{Policy: MultipathL4, Seed: 12345, Hops: legs(1, 2, 3)}
	f := routedTCP("192.0.2.1", "198.51.100.7", 40000, 5201)
	for b.Loop() {
		f.Sport++
		m.Place(f)
	}
}
