package procfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func mac(t *testing.T, s string) flow.MAC {
	t.Helper()
	m, err := flow.ParseMAC(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The texts under testdata/bonding were read from a 6.1 kernel, as root and
// (.user) without any capability.
func TestParseBondingLACP(t *testing.T) {
	partner := mac(t, "a2:6a:63:11:63:ed")
	port := func(name, permanent string) BondingPort {
		return BondingPort{Name: name, Speed: 10 * unit.Gbps, Duplex: "full", PermanentMAC: mac(t, permanent), MIIStatus: "up",
			Port: netstate.BondPort{ActorChurn: "monitoring", PartnerChurn: "monitoring", PartnerMAC: partner, PartnerKey: 15,
				Active: true, MIIUp: true, AggregatorID: 1, ActorState: 63, PartnerState: 63}}
	}
	want := Bonding{
		MIIUp: true,
		Bond: netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, LACPRate: netstate.LACPFast,
			Miimon: 100 * time.Millisecond, UpDelay: 200 * time.Millisecond, DownDelay: 300 * time.Millisecond,
			MinLinks: 1, Ports: []string{"a1", "a0"},
			AD:      &netstate.Aggregator{ID: 1, Ports: 2, ActorKey: 15, PartnerKey: 15, PartnerMAC: partner},
			Options: map[string]string{"lacp_active": "on", "ad_select": "bandwidth", "peer_notif_delay": "0", "ad_actor_sys_prio": "65535"}},
		Ports: []BondingPort{port("a1", "d6:58:ac:de:21:38"), port("a0", "fe:9c:77:8c:b8:d4")},
	}
	if diff := cmp.Diff(want, parseBondingFile(t, "802.3ad.root")); diff != "" {
		t.Errorf("as root (-want +got)\n%s", diff)
	}
	want.Bond.AD = nil
	delete(want.Bond.Options, "ad_actor_sys_prio")
	for i := range want.Ports {
		p := &want.Ports[i]
		p.Port.PartnerMAC, p.Port.PartnerKey, p.Port.ActorState, p.Port.PartnerState = flow.MAC{}, 0, 0, 0
	}
	if diff := cmp.Diff(want, parseBondingFile(t, "802.3ad.user")); diff != "" {
		t.Errorf("without capabilities (-want +got)\n%s", diff)
	}
}

func parseBondingFile(t *testing.T, name string) Bonding {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "bonding", name))
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseBonding(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

func TestParseBondingModes(t *testing.T) {
	type summary struct {
		Mode   netstate.BondMode
		Policy netstate.HashPolicy
		Active string
		Ports  []string
		Usable []bool
		Option map[string]string
	}
	for file, want := range map[string]summary{
		"802.3ad-no-partner.root": {Mode: netstate.LACP, Ports: []string{"u0", "u1"}, Usable: []bool{true, false}},
		"active-backup.root": {Mode: netstate.ActiveBackup, Active: "p0", Ports: []string{"p1", "p0"}, Usable: []bool{false, true},
			Option: map[string]string{"primary": "p0", "fail_over_mac": "active"}},
		"balance-rr.root":      {Mode: netstate.BalanceRR, Ports: []string{"r0"}, Usable: []bool{false}},
		"balance-xor-arp.root": {Mode: netstate.BalanceXOR, Policy: netstate.Encap23, Option: map[string]string{"arp_interval": "100"}},
		"broadcast.root":       {Mode: netstate.Broadcast},
		"balance-tlb.root":     {Mode: netstate.BalanceTLB, Policy: netstate.VLANSrcMAC},
		"balance-alb.root":     {Mode: netstate.BalanceALB},
	} {
		b := parseBondingFile(t, file)
		got := summary{Mode: b.Bond.Mode, Policy: b.Bond.HashPolicy, Active: b.Bond.Active, Ports: b.Bond.Ports}
		for _, p := range b.Ports {
			got.Usable = append(got.Usable, p.Port.Active && p.Port.MIIUp)
		}
		for k := range want.Option {
			if got.Option == nil {
				got.Option = make(map[string]string)
			}
			got.Option[k] = b.Bond.Options[k]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", file, diff)
		}
	}
}

func TestParseBondingRefuses(t *testing.T) {
	for _, text := range []string{"", "Bonding Mode: quantum\n", "Slave Interface: eth0\nMII Status: up\n",
		"Bonding Mode: load balancing (xor)\nTransmit Hash Policy: astrology (9)\n"} {
		if b, err := ParseBonding([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, b)
		}
	}
}

func FuzzParseBonding(f *testing.F) {
	files, _ := filepath.Glob("testdata/bonding/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := ParseBonding(text)
		if err != nil {
			return
		}
		if len(b.Bond.Ports) != len(b.Ports) {
			t.Errorf("%d names of %d ports", len(b.Bond.Ports), len(b.Ports))
		}
		if b.Bond.Mode > netstate.BalanceALB || b.Bond.Miimon < 0 || b.Bond.MinLinks < 0 {
			t.Errorf("out of range: %+v", b.Bond)
		}
	})
}
