package ovs

import (
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func mac(t *testing.T, s string) flow.MAC {
	t.Helper()
	m, err := flow.ParseMAC(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What ovs-appctl bond/hash of Debian's Open vSwitch 3.1.0 (amd64) prints, and what
// hash_uint64_basis of lib/hash.h prints where a compiler is told of SSE4.2.
func TestBucket(t *testing.T) {
	for _, c := range []struct {
		mac   string
		vlan  uint16
		basis uint32
		want  [2]uint8
	}{
		{"00:16:3e:00:00:01", 0, 0, [2]uint8{222, 70}},
		{"00:16:3e:00:00:02", 0, 0, [2]uint8{217, 30}},
		{"00:16:3e:00:00:01", 20, 0, [2]uint8{189, 109}},
		{"00:16:3e:00:00:01", 20, 7, [2]uint8{254, 136}},
	} {
		for _, h := range []Hash{Portable, CRC32C} {
			if got := h.Bucket(mac(t, c.mac), c.vlan, c.basis); got != c.want[h] {
				t.Errorf("%s %s vlan %d basis %d: bucket %d, want %d", h, c.mac, c.vlan, c.basis, got, c.want[h])
			}
		}
	}
}

func TestPlace(t *testing.T) {
	one := flow.Frame{SrcMAC: mac(t, "00:16:3e:00:00:01")}
	two := []string{"eno1", "eno2"}
	for name, c := range map[string]struct {
		bond  Bond
		frame flow.Frame
		hash  bool
		link  string
	}{
		"bucket without its member":    {Bond{Mode: netstate.OVSBalanceSLB, Members: two}, one, true, ""},
		"bucket with its member":       {Bond{Mode: netstate.OVSBalanceSLB, Members: two, Has: map[uint8]string{222: "eno2"}}, one, true, "eno2"},
		"bucket that is not listed":    {Bond{Mode: netstate.OVSBalanceSLB, Members: two, Has: map[uint8]string{1: "eno2"}}, one, true, ""},
		"bucket on a member gone":      {Bond{Mode: netstate.OVSBalanceSLB, Members: two, Has: map[uint8]string{222: "eno3"}}, one, true, ""},
		"no MAC address":               {Bond{Mode: netstate.OVSBalanceSLB, Members: two, Has: map[uint8]string{222: "eno2"}}, flow.Frame{}, false, ""},
		"balance-tcp":                  {Bond{Mode: netstate.OVSBalanceTCP, LACP: "active", Members: two}, one, false, ""},
		"active-backup":                {Bond{Mode: netstate.OVSActiveBackup, Members: two, Active: "eno2"}, one, false, "eno2"},
		"active-backup, which is open": {Bond{Mode: netstate.OVSActiveBackup, Members: two}, one, false, ""},
		"one member is left":           {Bond{Mode: netstate.OVSBalanceTCP, Members: two[:1]}, one, false, "eno1"},
		"none is":                      {Bond{Mode: netstate.OVSBalanceSLB}, one, true, ""},
	} {
		p := c.bond.Place(c.frame)
		if p.Link != c.link || p.Known != (c.link != "") || (p.Hash != nil) != c.hash || !p.Known && p.Why == "" || p.Known != (p.Index >= 0) {
			t.Errorf("%s: %+v", name, p)
		}
		if p.Hash != nil && *p.Hash != 222 {
			t.Errorf("%s: bucket %d", name, *p.Hash)
		}
	}
}

func TestReach(t *testing.T) {
	two := []string{"eno1", "eno2"}
	if r := (Bond{Mode: netstate.OVSBalanceSLB, Members: two}).Reach(); r.Ports || r.Addresses || r.Why == "" {
		t.Errorf("balance-slb: %+v", r)
	}
	if r := (Bond{Mode: netstate.OVSBalanceTCP, Members: two}).Reach(); !r.Ports || r.Chosen {
		t.Errorf("balance-tcp: %+v", r)
	}
}

func TestOf(t *testing.T) {
	up := func(name string) netstate.Link { return netstate.Link{Name: name, Up: true, Carrier: true} }
	h := netstate.Host{Links: []netstate.Link{up("eno1"), up("eno2"),
		{Name: "bond0", Kind: netstate.KindOVSBond, OVS: &netstate.OVSBond{Mode: netstate.OVSBalanceSLB, Ports: []string{"eno1", "eno2"}, Disabled: []string{"eno1"}}}}}
	b, err := Of(h, "bond0")
	if err != nil || len(b.Members) != 1 || b.Members[0] != "eno2" {
		t.Errorf("%+v %v", b, err)
	}
	if _, err := Of(h, "eno1"); err == nil {
		t.Error("eno1 is a bond")
	}
	h.Links[2].OVS.Mode, h.Links[2].OVS.LACP = netstate.OVSBalanceTCP, netstate.OVSLACPOff
	if b, _ := Of(h, "bond0"); len(b.Members) > 0 {
		t.Errorf("balance-tcp without LACP sends on %v", b.Members)
	}
}
