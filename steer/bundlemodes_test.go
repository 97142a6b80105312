package steer

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func TestFramesLeftOnTheActiveLink(t *testing.T) {
	tcp := between(t, frame("10.0.0.1", "10.0.0.2", 40000, 5201))
	six := between(t, frame("fd00::1", "fd00::2", 40000, 5201))
	with := func(f flow.Frame, change func(*flow.Frame)) flow.Frame {
		change(&f)
		return f
	}
	const tlb, alb = netstate.BalanceTLB, netstate.BalanceALB
	for _, tt := range []struct {
		name   string
		mode   netstate.BondMode
		f      flow.Frame
		active bool
	}{
		{"tcp", tlb, tcp, false},
		{"tcp", alb, tcp, false},
		{"multicast", tlb, with(tcp, func(f *flow.Frame) { f.DstMAC[0] = 1 }), true},
		{"multicast", alb, with(tcp, func(f *flow.Frame) { f.DstMAC[0] = 1 }), false},
		{"broadcast", alb, with(tcp, func(f *flow.Frame) { f.DstMAC = flow.MAC{255, 255, 255, 255, 255, 255} }), true},
		{"broadcast address", alb, with(tcp, func(f *flow.Frame) { f.Dst = netip.MustParseAddr("255.255.255.255") }), true},
		{"IGMP", alb, with(tcp, func(f *flow.Frame) { f.Proto = 2 }), true},
		{"all nodes", alb, with(six, func(f *flow.Frame) { f.DstMAC = flow.MAC{0x33, 0x33, 0, 0, 0, 1} }), true},
		{"no address yet", alb, with(six, func(f *flow.Frame) { f.Src = netip.MustParseAddr("::") }), true},
		{"neighbour discovery", tlb, with(six, func(f *flow.Frame) { f.Proto, f.ICMP = flow.ICMPv6, &flow.ICMPHeader{Type: 136} }), true},
		{"neighbour discovery", alb, with(six, func(f *flow.Frame) { f.Proto, f.ICMP = flow.ICMPv6, &flow.ICMPHeader{Type: 135} }), true},
		{"LLDP", tlb, with(tcp, func(f *flow.Frame) { f.EtherType = 0x88cc }), true},
		{"LLDP", alb, with(tcp, func(f *flow.Frame) { f.EtherType = 0x88cc }), true},
		{"ARP", tlb, with(tcp, func(f *flow.Frame) { f.EtherType = 0x0806 }), true},
		{"ARP", alb, with(tcp, func(f *flow.Frame) { f.EtherType = 0x0806 }), false},
	} {
		for _, static := range []bool{false, true} {
			b := Bundle{Mode: tt.mode, Policy: netstate.Layer34, Ports: []string{"a", "b", "c"}, Active: "c", TLBStatic: static}
			if p := b.Place(tt.f); (p.Known && p.Link == "c" && p.Hash == nil) != tt.active {
				t.Errorf("%s, %s, static %t: %+v, want the active link %t", tt.name, tt.mode, static, p, tt.active)
			}
			b.Active = ""
			if p := b.Place(tt.f); tt.active && (p.Known || !strings.Contains(p.Why, "not given")) {
				t.Errorf("%s, %s without an active link: %+v", tt.name, tt.mode, p)
			}
		}
	}
	solicitation := with(six, func(f *flow.Frame) { f.Proto, f.ICMP = flow.ICMPv6, &flow.ICMPHeader{Type: 135} })
	for _, mode := range []netstate.BondMode{tlb, alb} {
		for release, want := range map[string]string{
			"6.1.0-57-amd64": "active", "5.18.0": "active", "5.10.0-46-amd64": "hash", "5.15.153": "hash", "5.15.0-105-generic": "hash",
			"4.18.0-553.el8_10.x86_64": "unknown", "5.14.0-427.el9": "unknown",
		} {
			b := Bundle{Mode: mode, Policy: netstate.VLANSrcMAC, Ports: []string{"a", "b", "c"}, Active: "c", TLBStatic: true}.OfKernel(release)
			got := "hash"
			switch p := b.Place(solicitation); {
			case !p.Known && strings.Contains(p.Why, "5.18"):
				got = "unknown"
			case p.Known && p.Hash == nil && p.Link == "c":
				got = "active"
			case !p.Known || p.Hash == nil:
				got = p.Why
			}
			if got != want {
				t.Errorf("%s, kernel %s: %s, want %s", mode, release, got, want)
			}
		}
	}
	arp := with(tcp, func(f *flow.Frame) { f.EtherType = 0x0806 })
	if p := (Bundle{Mode: alb, Ports: []string{"a", "b"}, TLBStatic: true}).Place(arp); p.Known || !strings.Contains(p.Why, "ARP") {
		t.Errorf("ARP under static balance-alb: %+v, want unknown", p)
	}
}

func TestQueueOverride(t *testing.T) {
	h := host("6.1.0", netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, PacketsPerSlave: 3})
	l, _ := h.Link("ens3f0")
	l.Port.QueueID = 2
	b, err := BundleOf(h, "bond1")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"ens3f0"}, b.Queued); d != "" || b.PacketsPerSlave != 3 {
		t.Errorf("packets_per_slave %d, queued (-want +got):\n%s", b.PacketsPerSlave, d)
	}
	f := frame("10.0.0.1", "10.0.0.2", 40000, 5201)
	if p := b.Place(f); !p.Known || !strings.Contains(p.Why, "queue_id of ens3f0") {
		t.Errorf("a socket's frame: %+v, want known on a condition", p)
	}
	f.Forwarded = true
	if p := b.Place(f); p.Known || !strings.Contains(p.Why, "queue_id") {
		t.Errorf("a forwarded frame: %+v, want unknown", p)
	}
}

func TestBroadcastNeighbor(t *testing.T) {
	h := host("6.17.0", netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, Options: map[string]string{"broadcast_neighbor": "on"}})
	b, err := BundleOf(h, "bond1")
	if err != nil {
		t.Fatal(err)
	}
	f := between(t, frame("fd00::1", "fd00::2", 40000, 5201))
	if p := b.Place(f); !p.Known || p.Index < 0 {
		t.Errorf("tcp: %+v, want one link", p)
	}
	f.Proto, f.ICMP = flow.ICMPv6, &flow.ICMPHeader{Type: 136}
	if p := b.Place(f); !p.Known || p.Index != -1 || p.Hash != nil {
		t.Errorf("neighbour advertisement: %+v, want every link", p)
	}
	b.BroadcastNeighbor = false
	if p := b.Place(f); !p.Known || p.Index < 0 {
		t.Errorf("neighbour advertisement without the option: %+v, want one link", p)
	}
}

func TestRotationText(t *testing.T) {
	for n, want := range map[int]string{0: "at random", 1: "rotates packets over all links: a flow", 8: "8 at a time"} {
		b := Bundle{Ports: []string{"a", "b"}, PacketsPerSlave: n}
		if p := b.Place(flow.Frame{}); p.Known || !strings.Contains(p.Why, want) {
			t.Errorf("packets_per_slave %d: %q, want %q", n, p.Why, want)
		}
	}
}

func TestReceive(t *testing.T) {
	two := []string{"a", "b"}
	peers := func(words ...string) (all []netip.Addr) {
		for _, w := range words {
			all = append(all, netip.MustParseAddr(w))
		}
		return all
	}
	alb := Bundle{Mode: netstate.BalanceALB, Ports: two}
	for _, tt := range []struct {
		name  string
		b     Bundle
		peers []netip.Addr
		links int
		share []int
		why   string
	}{
		{"one peer", alb, peers("10.0.0.2"), 1, []int{0}, "one address arrives on one link"},
		{"two peers", alb, peers("10.0.0.2", "10.0.0.3", "10.0.0.2"), 2, []int{0, 1, 0}, "more addresses"},
		{"more peers than links", alb, peers("10.0.0.2", "10.0.0.3", "10.0.0.4"), 2, []int{0, 1, 2}, ""},
		{"one place in the table", alb, peers("10.0.1.2", "10.0.2.1"), 1, []int{0, 0}, ""},
		{"IPv6", alb, peers("fd00::1", "fd00::2"), 1, []int{0, 0}, "only IPv4"},
		{"tlb", Bundle{Mode: netstate.BalanceTLB, Ports: two}, peers("10.0.0.2"), 1, nil, "active link"},
		{"active-backup", Bundle{Mode: netstate.ActiveBackup, Ports: two}, nil, 1, nil, "active link"},
		{"802.3ad", Bundle{Mode: netstate.LACP, Ports: two}, nil, 0, nil, "far side"},
		{"one link", Bundle{Mode: netstate.LACP, Ports: two[:1]}, nil, 1, nil, "one link"},
		{"no link", Bundle{}, nil, 0, nil, "no usable link"},
	} {
		r := tt.b.Receive(tt.peers)
		if d := cmp.Diff(tt.share, r.Peers); d != "" || r.Links != tt.links || !strings.Contains(r.Why, tt.why) {
			t.Errorf("%s: %d links %q, want %d %q; shares (-want +got):\n%s", tt.name, r.Links, r.Why, tt.links, tt.why, d)
		}
	}
}
