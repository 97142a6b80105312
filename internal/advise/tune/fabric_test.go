package tune

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// bonded is a host with one bond of 500 Mbit/s links, as the demo's.
type bonded struct {
	mode   netstate.BondMode
	policy netstate.HashPolicy
	links  int
	mtu    int
	maxMTU int
	vlans  []int // addresses sit on these VLANs of the bond
}

func (b bonded) host(name string, number int) netstate.Host {
	h := netstate.Host{Name: name, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}, Sysctls: map[string]netstate.Sysctl{
		rmemKey: {Value: "4096 131072 6291456", Scope: netstate.ScopeNamespace}, wmemKey: {Value: "4096 16384 4194304", Scope: netstate.ScopeNamespace},
	}}
	bond := netstate.Link{Name: "bond0", Kind: "bond", MTU: b.mtu, MaxMTU: 65535, Up: true, Carrier: true, Bond: &netstate.Bond{Mode: b.mode, HashPolicy: b.policy}}
	for i := range b.links {
		l := netstate.Link{Name: fmt.Sprintf("eth%d", i), MTU: b.mtu, MaxMTU: b.maxMTU, Up: true, Carrier: true, Speed: 500e6, Framing: netstate.FramingL2, Master: "bond0",
			Port: &netstate.BondPort{Bond: "bond0", Active: b.mode != netstate.ActiveBackup || i == 0, MIIUp: true}}
		bond.Bond.Ports = append(bond.Bond.Ports, l.Name)
		h.Links = append(h.Links, l)
	}
	if len(b.vlans) == 0 {
		bond.Addresses = []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.0.0.%d/24", number))}
	}
	h.Links = append(h.Links, bond)
	for _, id := range b.vlans {
		h.Links = append(h.Links, netstate.Link{Name: fmt.Sprintf("vlan%d", id), Kind: "vlan", MTU: b.mtu, MaxMTU: 65535, Up: true, Carrier: true,
			VLAN: &netstate.VLAN{ID: id, Parent: "bond0"}, Addresses: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.0.%d.%d/24", id, number))}})
	}
	return h
}

// state is where a campaign begins: one stream, ports left to the kernel.
func state(a, b netstate.Host) State {
	return State{
		Fabric: predict.Fabric{
			Hosts: map[string]netstate.Host{a.Name: a, b.Name: b},
			Paths: []fabric.Path{{From: a.Name, To: b.Name, RTT: 9 * time.Millisecond, SwitchHash: "layer3+4", Declared: true}},
		},
		Load:  Load{Traffic: predict.Traffic{From: a.Name, To: b.Name, Direction: flow.Forward, Streams: 1, Protocol: "tcp", Ports: "kernel"}},
		Tried: make(map[Name]bool),
	}
}

func pairOf(b bonded) State { return state(b.host("alpha", 1), b.host("beta", 2)) }

// demo is the demo's start: LACP at the driver's defaults.
var demo = bonded{mode: netstate.LACP, links: 2, mtu: 1500, maxMTU: 65535}

// waiting is a trial whose streams waited for the window that share of the
// time, at half the ceiling.
func waiting(share float64) record.Trial {
	t := record.Trial{From: "alpha", To: "beta", Direction: flow.Forward, Goodput: 4e9, Ceiling: 8e9}
	t.Lanes = []record.Lane{{Goodput: 4e9, TCP: record.TCP{SndMSS: 1448, RwndLimited: share, RTTMS: 20}}}
	return t
}

func names(proposals []Proposal) []Name {
	var all []Name
	for _, p := range proposals {
		all = append(all, p.Name)
	}
	return all
}

func measured(goodput, half unit.BitRate) record.Trial {
	return record.Trial{Goodput: goodput, GoodputLow: goodput - half, GoodputHigh: goodput + half}
}
