package steer

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// bonded is a host with one bond, its address on a VLAN.
func bonded() netstate.Host {
	port := &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true}
	return netstate.Host{Name: "alpha", Links: []netstate.Link{
		{Name: "eth0", Up: true, Carrier: true, Master: "bond0", Port: port},
		{Name: "eth1", Up: true, Carrier: true, Master: "bond0", Port: port},
		{Name: "bond0", Kind: "bond", Up: true, Carrier: true, Bond: &netstate.Bond{Mode: netstate.BalanceXOR, HashPolicy: netstate.VLANSrcMAC, Ports: []string{"eth0", "eth1"}}},
		{Name: "lan", Kind: "vlan", Up: true, Carrier: true, MAC: flow.MAC{2, 0, 0, 0, 1, 0x11}, VLAN: &netstate.VLAN{ID: 7, Parent: "bond0"}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}},
	}}
}

// What the host knows of its own address need not be said.
func TestFlowsAreCompletedFromTheHost(t *testing.T) {
	h := bonded()
	frames := []flow.Frame{{Tuple: flow.Tuple{Src: netip.MustParseAddr("10.0.0.1")}}, {Tuple: flow.Tuple{Src: netip.MustParseAddr("10.0.0.9")}}}
	b, err := steer.BundleOf(h, "bond0")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&flowFlags{}).complete(frames, b, &h); err != nil {
		t.Fatal(err)
	}
	if frames[0].SrcMAC.IsZero() || frames[0].VLAN != 7 {
		t.Errorf("frame of an address here: %+v, want its MAC address and tag", frames[0])
	}
	if !frames[1].SrcMAC.IsZero() || frames[1].VLAN != 0 {
		t.Errorf("frame of an address elsewhere: %+v, want it left alone", frames[1])
	}
}

func TestOnlyBond(t *testing.T) {
	h := bonded()
	if name, err := onlyBond(h); err != nil || name != "bond0" {
		t.Errorf("one bond: %q, %v", name, err)
	}
	if _, err := onlyBond(netstate.Host{Links: []netstate.Link{{Name: "br0", Kind: netstate.KindOVSBridge}}}); err == nil || !strings.Contains(console.HintFor(err), "--bond-show") {
		t.Errorf("Open vSwitch alone: %v, hint %q", err, console.HintFor(err))
	}
	h.Links = append(h.Links, netstate.Link{Name: "bond1", Bond: &netstate.Bond{}})
	if _, err := onlyBond(h); err == nil || !strings.Contains(console.HintFor(err), "bond0, bond1") {
		t.Errorf("two bonds: %v, hint %q", err, console.HintFor(err))
	}
	if _, err := onlyBond(netstate.Host{Name: "alpha"}); err == nil || console.Status(err) != console.ExitUsage || !strings.Contains(console.HintFor(err), "--policy") {
		t.Errorf("no bond: %v, hint %q", err, console.HintFor(err))
	}
}

// Without a bond no port chooses a link: addresses do.
func TestNoBondHint(t *testing.T) {
	_, err := onlyBond(netstate.Host{Name: "a", Links: []netstate.Link{{Name: "eth0"}}})
	if hint := console.HintFor(err); !strings.Contains(hint, "give each stream its own addresses") {
		t.Errorf("%v: %q", err, hint)
	}
}
