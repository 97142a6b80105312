package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
)

const bonded = `
linerate: v1
hosts:
  a:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}, eth2: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.1/24], parameters: {mode: 802.3ad, lacp-rate: fast, mii-monitor-interval: 100}}}
    hardware: {links: {eth0: {speed: 10G}, eth1: {speed: 10G}, eth2: {speed: 5G}}}
  b:
    network:
      version: 2
      ethernets: {p0: {}, p1: {}}
      bonds: {bond0: {interfaces: [p0, p1], addresses: [10.9.0.2/24], parameters: {mode: 802.3ad, mii-monitor-interval: 100}}}
    hardware: {links: {p0: {speed: 10G}, p1: {speed: 10G}}}
paths:
  - {between: [a, b], switch_hash: layer2+3}
scenario:
  name: n
  steps:
`

// bond is a host's, as a lab would build it.
func bond(t *testing.T, s Scenario, host string) netstate.Bond {
	t.Helper()
	h, err := s.Fabric.State(host)
	if err != nil {
		t.Fatal(err)
	}
	l, ok := h.Link("bond0")
	if !ok || l.Bond == nil {
		t.Fatalf("%s has no bond", host)
	}
	return *l.Bond
}

// TestStructure: ports, modes and the switch's hash change in a copy.
func TestStructure(t *testing.T) {
	s := parse(t, bonded[1:]+"    - {name: s, measure: []}\n")
	now, with, err := s.After(Step{With: "mode=balance-rr,links=3,mtu=9000,switch_hash=layer3+4"})
	if err != nil {
		t.Fatal(err)
	}
	if with != "mtu=9000" {
		t.Errorf("left for hosts: %q", with)
	}
	for host, want := range map[string][]string{"a": {"eth0", "eth1", "eth3"}, "b": {"p0", "p1", "p2"}} {
		if b := bond(t, now, host); b.Mode != netstate.BalanceRR || b.LACPRate != netstate.LACPSlow || !slices.Equal(b.Ports, want) {
			t.Errorf("%s: %v with %v, want %v", host, b.Mode, b.Ports, want)
		}
		if b := bond(t, s, host); b.Mode != netstate.LACP || len(b.Ports) != 2 {
			t.Errorf("%s: what was given has changed: %v with %v", host, b.Mode, b.Ports)
		}
	}
	if h, _ := now.Fabric.State("b"); len(h.Links) != 4 {
		t.Errorf("b has %d links, want three ports and a bond", len(h.Links))
	} else if l, _ := h.Link("p2"); l.Speed != 10e9 {
		t.Errorf("the added port's speed is %v", l.Speed)
	}
	if now.Fabric.Paths[0].SwitchHash != "layer3+4" || s.Fabric.Paths[0].SwitchHash != "layer2+3" {
		t.Errorf("switches hash by %q, and %q before", now.Fabric.Paths[0].SwitchHash, s.Fabric.Paths[0].SwitchHash)
	}
	if now, _, err = s.After(Step{Hosts: []string{"a"}, Ports: []string{"eth2"}}); err != nil {
		t.Fatal(err)
	}
	if got := bond(t, now, "a").Ports; !slices.Equal(got, []string{"eth2"}) {
		t.Errorf("a's bond has %v", got)
	}
	if got := bond(t, now, "b").Ports; len(got) != 2 {
		t.Errorf("b's bond has %v", got)
	}
	if got := BondPorts(now.Fabric.Hosts); !slices.Equal(got, []string{"a.eth2", "b.p0", "b.p1"}) {
		t.Errorf("ports of the bonds: %v", got)
	}
	if got := BondPorts(nil); got != nil {
		t.Errorf("of no host: %v", got)
	}
	if now, _, err = s.After(Step{With: "links=1"}); err != nil || len(bond(t, now, "a").Ports) != 1 {
		t.Fatalf("one link: %v", err)
	}
	if again, _, err := now.After(Step{With: "links=2"}); err != nil || !slices.Equal(bond(t, again, "b").Ports, []string{"p0", "p1"}) {
		t.Errorf("two links again: %v", err)
	}
}

// TestRebuilds: a lab is built anew for what is joined otherwise, and for
// nothing else.
func TestRebuilds(t *testing.T) {
	for with, want := range map[string]bool{"": false, "mtu=9000,policy=layer2": false, "rtt=3ms,links=2": true, "mode=802.3ad": true, "switch_hash=layer2": true} {
		if got := (Step{With: with}).Rebuilds(); got != want {
			t.Errorf("%q: %v", with, got)
		}
	}
	if !(Step{Ports: []string{"eth0"}}).Rebuilds() {
		t.Error("other ports need no lab built anew")
	}
}

// TestStructureRefused: what has no place is said with its place in the file,
// also where only an earlier step makes it so.
func TestStructureRefused(t *testing.T) {
	spread := strings.Replace(bonded[1:], "  name: n\n", "  name: n\n  switches: [{name: x, ports: [a.eth0, b.p0]}, {name: y, ports: [a.eth1, a.eth2, b.p1]}]\n", 1)
	for _, c := range []struct{ text, want string }{
		{bonded[1:] + "    - {name: s, ports: [eth0, eth1], measure: []}\n", "ports: eth0 is no port of b"},
		{spread + "    - {name: s, with: 'links=1', measure: []}\n    - {name: t, with: 'links=3', measure: []}\n", "22:23: scenario: links=3: bond0 of a: the file says which ports are in which switch"},
	} {
		if _, err := Parse("x.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
