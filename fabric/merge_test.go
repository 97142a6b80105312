package fabric

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/netstate"
)

// observedRbx is the contract's host as it might really be.
func observedRbx() netstate.Host {
	port := func(name string) netstate.Link {
		return netstate.Link{Name: name, MTU: 1500, Up: true, Carrier: true, Speed: 10e9, Card: "0000:17:00", Master: "bond1",
			Port: &netstate.BondPort{Bond: "bond1", Active: true, MIIUp: true, AggregatorID: 1}}
	}
	return netstate.Host{
		Name:   "lejav-scale3-rbx",
		Kernel: netstate.Kernel{OS: "linux", Release: "5.15.0-47-generic", Arch: "amd64"},
		CPU:    netstate.CPU{Cores: 96, Model: "EPYC"},
		Cards:  []netstate.Card{{Name: "0000:17:00", Generation: 4, Lanes: 8}},
		Links: []netstate.Link{
			port("ens2f0"), port("ens2f1"),
			{Name: "bond1", Kind: "bond", MTU: 1500, Up: true, Carrier: true, Bond: &netstate.Bond{
				Mode: netstate.LACP, HashPolicy: netstate.Layer2, LACPRate: netstate.LACPFast, Miimon: 100 * time.Millisecond,
				PacketsPerSlave: 1, TLBDynamic: true, Ports: []string{"ens2f1", "ens2f0"}}},
			{Name: "lan", Kind: "vlan", MTU: 9000, Up: true, Carrier: true, Addresses: []netip.Prefix{netip.MustParsePrefix("10.119.250.104/16"), netip.MustParsePrefix("fe80::1/64")}, VLAN: &netstate.VLAN{ID: 1904, Parent: "bond1"}},
		},
		Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_rmem": {Value: "4096\t131072\t33554432"}},
	}
}

func TestMerge(t *testing.T) {
	f := parse(t, "testdata/good/contract.yaml")
	rbx, _ := f.Host("rbx")
	observed := observedRbx()
	got, differences := Merge(state(t, f, "rbx"), rbx, observed)
	type short struct{ What, File, Observed, Used string }
	var have []short
	for _, d := range differences {
		if d.Host != "rbx" {
			t.Errorf("difference of host %q", d.Host)
		}
		have = append(have, short{d.What, d.File, d.Observed, d.Used})
	}
	want := []short{
		{"speed of ens2f0", "25.0 Gbit/s", "10.0 Gbit/s", "25.0 Gbit/s"},
		{"PCIe of card c0, generation", "3", "4", "4"},
		{"speed of ens2f1", "25.0 Gbit/s", "10.0 Gbit/s", "25.0 Gbit/s"},
		{"PCIe of card c0, generation", "3", "4", "4"},
		{"CPU cores", "48", "96", "48"},
		{"MTU of ens2f0", "9000", "1500", "1500"},
		{"MTU of ens2f1", "9000", "1500", "1500"},
		{"MTU of bond1", "9000", "1500", "1500"},
		{"ports of bond1", "ens2f0, ens2f1", "ens2f1, ens2f0", "ens2f1, ens2f0"},
		{"xmit_hash_policy of bond1", "layer3+4", "layer2", "layer2"},
		{"addresses of lan", "10.119.250.103/16", "10.119.250.104/16", "10.119.250.104/16"},
		{"sysctl net.ipv4.tcp_rmem", "4096 131072 6291456", "4096 131072 33554432", "4096 131072 33554432"},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if l, _ := got.Link("ens2f0"); l.Speed != 25e9 || l.MTU != 1500 || l.Card != "c0" {
		t.Errorf("merged ens2f0 = %+v", l)
	}
	if l, _ := got.Link("bond1"); l.Bond.HashPolicy != netstate.Layer2 {
		t.Errorf("the file overrode the host's bond: %+v", l.Bond)
	}
	if got.Rate != 25e9 || got.CPU.Cores != 48 || got.CPU.StreamRate != 30e9 || got.CPU.Model != "EPYC" || got.Kernel.Release != "5.15.0-47-generic" {
		t.Errorf("merged host = %+v", got)
	}
	if got.Name != "rbx" {
		t.Errorf("name = %q, want the fabric's", got.Name)
	}
	if diff := cmp.Diff(observedRbx(), observed, compare); diff != "" {
		t.Errorf("Merge changed what it was given:\n%s", diff)
	}
	card := got.Cards[len(got.Cards)-1]
	if diff := cmp.Diff(netstate.Card{Name: "c0", Generation: 4, Lanes: 8, MaxPayload: 256, Price: 500}, card); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
}

// TestMergeSame finds no difference where the file says nothing.
func TestMergeSame(t *testing.T) {
	f := parseText(t, `linerate: v1
hosts:
  a:
    network:
      ethernets: {all: {match: {name: eth*}}}
      bonds: {bond0: {interfaces: [all], parameters: {mode: 802.3ad}}}
`)
	a, _ := f.Host("a")
	observed := netstate.Host{Name: "a", Links: []netstate.Link{
		{Name: "eth0", MTU: 9000, Speed: 1e9, Master: "bond0"}, {Name: "eth1", MTU: 9000, Speed: 1e9, Master: "bond0"},
		{Name: "bond0", Kind: "bond", MTU: 9000, Bond: &netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, Ports: []string{"eth0", "eth1"}}},
	}, Sysctls: map[string]netstate.Sysctl{}}
	got, differences := Merge(state(t, f, "a"), a, observed)
	if len(differences) != 0 {
		t.Errorf("differences = %v", differences)
	}
	if diff := cmp.Diff(observed, got, compare); diff != "" {
		t.Errorf("merged (-observed +got):\n%s", diff)
	}
}

// TestMergeSpeeds finds the link that a declared speed is meant for.
func TestMergeSpeeds(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		link netstate.Link
	}{
		"name":     {`{network: {ethernets: {eth0: {}}}, hardware: {links: {eth0: {speed: 1G}}}}`, netstate.Link{Name: "eth0"}},
		"match":    {`{network: {ethernets: {lan: {match: {name: "eth*"}}}}, hardware: {links: {lan: {speed: 1G}}}}`, netstate.Link{Name: "eth7"}},
		"mac":      {`{network: {ethernets: {lan: {match: {macaddress: "02:00:00:00:00:01"}}}}, hardware: {links: {lan: {speed: 1G}}}}`, netstate.Link{Name: "enp1", PermanentMAC: [6]byte{2, 0, 0, 0, 0, 1}}},
		"driver":   {`{network: {ethernets: {lan: {match: {driver: "mlx*"}}}}, hardware: {links: {lan: {speed: 1G}}}}`, netstate.Link{Name: "enp1", Driver: "mlx5_core"}},
		"set-name": {`{network: {ethernets: {x: {match: {name: ens2f0}, set-name: lan0}}}, hardware: {links: {ens2f0: {speed: 1G}}}}`, netstate.Link{Name: "lan0"}},
		"glob":     {`{reach: "local:", hardware: {links: {"ens*": {speed: 1G}}}}`, netstate.Link{Name: "ens3"}},
		"names":    {`{reach: "local:", hardware: {links: {ens2f0: {speed: 1G}}}, names: {ens2f0: ent0}}`, netstate.Link{Name: "ent0"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := parseText(t, "linerate: v1\nhosts: {a: "+c.file+"}\n")
			h, _ := f.Host("a")
			got, _ := Merge(state(t, f, "a"), h, netstate.Host{Links: []netstate.Link{c.link, {Name: "other", Kind: "veth"}}})
			if got.Links[0].Speed != 1e9 || got.Links[1].Speed != 0 {
				t.Errorf("speeds = %v, %v", got.Links[0].Speed, got.Links[1].Speed)
			}
		})
	}
}
