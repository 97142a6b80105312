package plan

import (
	"slices"
	"testing"

	"github.com/linerate/linerate/netstate"
)

// TestPartnerIsNotWaitedFor: a bond that becomes LACP has no carrier before its
// partner changes too, where it wants more than one link.
func TestPartnerIsNotWaitedFor(t *testing.T) {
	for _, tt := range []struct {
		name      string
		mode, was netstate.BondMode
		minLinks  int
		up, back  bool // waited for on the way there and on the way back
	}{
		{"one link is enough", netstate.LACP, netstate.ActiveBackup, 1, true, true},
		{"two are wanted", netstate.LACP, netstate.ActiveBackup, 2, false, true},
		{"from LACP", netstate.BalanceXOR, netstate.LACP, 2, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bond := func(m netstate.BondMode) *netstate.Bond {
				return &netstate.Bond{Mode: m, Miimon: 1e8, MinLinks: tt.minLinks, Ports: []string{"eth0"}}
			}
			host := netstate.Host{Links: []netstate.Link{
				{Name: "eth0", MTU: 1500, Up: true, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0"}},
				{Name: "bond0", Kind: "bond", MTU: 1500, Up: true, Bond: bond(tt.was)},
			}}
			want := host.Clone()
			want.Links[1].Bond = bond(tt.mode)
			p, err := Between(host, want)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.Steps {
				if s.Kind != LinkState || s.Link != "bond0" {
					continue
				}
				if got := slices.Contains(s.Ready, "bond0"); s.New == Up && got != tt.up {
					t.Errorf("waits on the way there: %v", got)
				}
				if got := slices.Contains(s.ReadyRolledBack, "bond0"); s.New == Down && got != tt.back {
					t.Errorf("waits on the way back: %v", got)
				}
			}
		})
	}
}

// TestWaitsForWhatCanCarry: a bond without ports, or with fewer than LACP is to
// have, is not waited for; nor is a VLAN on one.
func TestWaitsForWhatCanCarry(t *testing.T) {
	host := func(ports ...string) netstate.Host {
		h := netstate.Host{Links: []netstate.Link{
			{Name: "bond0", Kind: "bond", MTU: 1500, Bond: &netstate.Bond{Mode: netstate.LACP, Miimon: 1e8, MinLinks: 2, Ports: ports}},
			{Name: "bond0.7", Kind: "vlan", MTU: 1500, VLAN: &netstate.VLAN{Parent: "bond0", ID: 7}},
		}}
		for _, p := range ports {
			h.Links = append(h.Links, netstate.Link{Name: p, MTU: 1500, Up: true, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0"}})
		}
		return h
	}
	for _, tt := range []struct {
		name  string
		ports []string
		waits bool
	}{
		{"no ports", nil, false},
		{"fewer than min_links", []string{"eth0"}, false},
		{"enough", []string{"eth0", "eth1"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			observed := host(tt.ports...)
			want := observed.Clone()
			want.Links[0].Up, want.Links[1].Up = true, true
			p, err := Between(observed, want)
			if err != nil || len(p.Steps) != 2 {
				t.Fatalf("%d steps, %v; want 2", len(p.Steps), err)
			}
			for _, s := range p.Steps {
				if got := len(s.Ready) > 0; got != tt.waits {
					t.Errorf("%s: waits is %v, want %v", s.Change(), got, tt.waits)
				}
			}
		})
	}
}

// TestArpMonitorDisturbs: a bond that begins to ask its targets, or asks sooner,
// counts its ports as down until they answer; the way back does not.
func TestArpMonitorDisturbs(t *testing.T) {
	for _, tt := range []struct {
		from, to    string
		there, back Disruption
	}{
		{"0", "200", BondDown, Online},
		{"200", "0", Online, BondDown},
		{"500", "200", BondDown, Online},
		{"200", "500", Online, BondDown},
	} {
		t.Run(tt.from+" to "+tt.to, func(t *testing.T) {
			host := func(interval string) netstate.Host {
				return netstate.Host{Links: []netstate.Link{
					{Name: "eth0", MTU: 1500, Up: true, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0"}},
					{Name: "bond0", Kind: "bond", MTU: 1500, Up: true, Bond: &netstate.Bond{Mode: netstate.BalanceXOR, Ports: []string{"eth0"},
						Options: map[string]string{"arp_interval": interval, "arp_ip_target": "10.0.0.1"}}},
				}}
			}
			p, err := Between(host(tt.from), host(tt.to))
			if err != nil {
				t.Fatal(err)
			}
			if there, back := p.Worst(), p.Rollback().Worst(); there != tt.there || back != tt.back {
				t.Errorf("there %s and back %s, want %s and %s", there, back, tt.there, tt.back)
			}
		})
	}
}

// TestActivePortsAddress: with fail_over_mac a bond that has ports takes no
// address, so that none is planned, nor given back after the ports came anew.
func TestActivePortsAddress(t *testing.T) {
	port := func(name string, last byte) netstate.Link {
		m := [6]byte{2, 0, 0, 0, 0, last}
		return netstate.Link{Name: name, MTU: 1500, Up: true, Master: "bond0", MAC: m, PermanentMAC: m, Port: &netstate.BondPort{Bond: "bond0"}}
	}
	host := netstate.Host{Links: []netstate.Link{port("eth0", 1), {Name: "bond0", Kind: "bond", MTU: 1500, Up: true, MAC: [6]byte{2, 0, 0, 0, 0, 9},
		Bond: &netstate.Bond{Mode: netstate.BalanceXOR, Miimon: 1e8, Ports: []string{"eth0"}, Options: map[string]string{"fail_over_mac": "active"}}}}}
	want := host.Clone()
	want.Links[1].Bond.Mode = netstate.ActiveBackup
	p, err := Between(host, want)
	if err != nil {
		t.Fatal(err)
	}
	taken := false
	for _, s := range p.Steps {
		taken = taken || s.Kind == PortMaster && s.New == "bond0"
		if taken && s.Kind == LinkMAC {
			t.Errorf("after the port is in: %s", s.Change())
		}
	}
}

// TestQueuesOfPorts: no two ports of a bond have one queue, at no time, and two
// that want one are refused.
func TestQueuesOfPorts(t *testing.T) {
	host := func(queues ...int) netstate.Host {
		bond := &netstate.Bond{Mode: netstate.BalanceXOR, Miimon: 1e8}
		h := netstate.Host{}
		for i, q := range queues {
			name := string(rune('a' + i))
			bond.Ports = append(bond.Ports, name)
			h.Links = append(h.Links, netstate.Link{Name: name, MTU: 1500, Up: true, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0", QueueID: q}})
		}
		h.Links = append(h.Links, netstate.Link{Name: "bond0", Kind: "bond", MTU: 1500, Up: true, Bond: bond})
		return h
	}
	if p, err := Between(host(1, 2, 0), host(2, 1, 3)); err != nil || len(p.Steps) != 5 {
		t.Errorf("queues that change places: %d steps, %v; want 5 (two of them to let go)", len(p.Steps), err)
	}
	if _, err := Between(host(1, 2), host(2, 2)); err == nil {
		t.Error("two ports with one queue are not refused")
	}
}
