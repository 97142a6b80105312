package predict

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// ovsPair is two hosts with a bond of Open vSwitch each, over two links of 10G.
func ovsPair(t *testing.T, mode, lacp, vlans string) Fabric {
	t.Helper()
	host := func(n string) string {
		return `
  h` + n + `:
    hardware: {links: {eno1: {speed: 10G}, eno2: {speed: 10G}}}
    network:
      version: 2
      ethernets: {eno1: {}, eno2: {}}
      bonds: {bond0: {interfaces: [eno1, eno2], parameters: {mode: ` + mode + `}, openvswitch: {lacp: ` + lacp + `}}}
      bridges: {br0: {interfaces: [bond0], openvswitch: {}, addresses: [10.0.0.` + n + `/24]}}
` + strings.ReplaceAll(vlans, "N", n)
	}
	f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:"+host("1")+host("2")+"paths: [{between: [h1, h2], rtt: 100us, switch_hash: layer3+4}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	out := Fabric{Hosts: map[string]netstate.Host{}, Paths: f.Paths}
	for _, h := range f.Hosts {
		if out.Hosts[h.Name], err = f.State(h.Name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func ovsPrediction(t *testing.T, f Fabric, streams int) Prediction {
	t.Helper()
	p, err := Predict(f, Traffic{From: "h1", To: "h2", Direction: flow.Forward, Streams: streams})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// One host is one MAC address: whatever the number of streams, one link, and the limit
// says what gives more.
func TestOVSBySource(t *testing.T) {
	p := ovsPrediction(t, ovsPair(t, "balance-slb", "off", ""), 8)
	if p.Limit != record.SingleLink || p.Rate < 9.3e9 || p.Rate > 9.5e9 {
		t.Errorf("%s at %s", p.Limit, p.Rate)
	}
	if why := p.Limits[0].Why; !strings.Contains(why, "all flows of one MAC address in one VLAN share one link") || !strings.Contains(why, "balance-tcp with LACP") {
		t.Errorf("why: %s", why)
	}
	if p.Ceiling < 18.7e9 {
		t.Errorf("ceiling %s", p.Ceiling)
	}
	const lanes = `      vlans:
        v10: {id: 10, link: br0, addresses: [10.0.10.N/24]}
`
	if p := ovsPrediction(t, ovsPair(t, "balance-slb", "off", lanes), 8); p.Rate < 18.6e9 {
		t.Errorf("lanes of two VLANs: %s at %s: %s", p.Limit, p.Rate, p.Limits[0].Why)
	}
}

// Nobody computes balance-tcp's hash: flows land by chance.
func TestOVSByFlow(t *testing.T) {
	f := ovsPair(t, "balance-tcp", "active", "")
	p := ovsPrediction(t, f, 2)
	if p.Limit != record.HashImbalance || p.Rate < 11e9 || p.Rate > 18e9 || !strings.Contains(p.Limits[0].Why, "by chance") {
		t.Errorf("%s at %s: %s", p.Limit, p.Rate, p.Limits[0].Why)
	}
	if one := ovsPrediction(t, f, 1); one.Limit != record.SingleLink || one.Rate > 9.5e9 {
		t.Errorf("one flow: %s at %s", one.Limit, one.Rate)
	}
	if many := ovsPrediction(t, f, 64); many.Rate < 16e9 {
		t.Errorf("64 flows: %s", many.Rate)
	}
	_, err := Predict(ovsPair(t, "balance-tcp", "\"off\"", ""), Traffic{From: "h1", To: "h2", Direction: flow.Forward, Streams: 1})
	if !errors.Is(err, ErrNoLink) || !strings.Contains(err.Error(), "openvswitch: {lacp: active}") {
		t.Errorf("balance-tcp without LACP: %v", err)
	}
}

func TestOVSStandby(t *testing.T) {
	p := ovsPrediction(t, ovsPair(t, "active-backup", "active", ""), 8)
	if p.Limit != record.SingleLink || !strings.Contains(p.Limits[0].Why, "1 more stands by") {
		t.Errorf("%s: %s", p.Limit, p.Limits[0].Why)
	}
}
