package fabric

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric/topology"
)

// TestSwitches: the switches are read as they stand, and each path has them and what
// they hash.
func TestSwitches(t *testing.T) {
	f := parse(t, "testdata/good/switches.yaml")
	leaf := f.Topology.Switches[0]
	if diff := cmp.Diff(topology.Balance{Hash: "src-dst-ip-port", Seed: "0x1f"}, leaf.Balance); diff != "" {
		t.Errorf("hash (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&topology.MLAG{Peer: "leaf2", Link: "port-channel1", Spread: true}, leaf.MLAG); diff != "" {
		t.Errorf("pair (-want +got):\n%s", diff)
	}
	if p, ok := f.Topology.Port(topology.At{Switch: "leaf2", Port: "Ethernet1/54"}); !ok || p.Switch != "leaf1" {
		t.Errorf("the other end of a cable is %+v, %v", p, ok)
	}
	p := f.Paths[0]
	if p.Switches != f.Topology || p.HashTowards("store") != "src-dst-ip-port" || p.HashTowards("web") != "" {
		t.Errorf("a path has %v, %q to store, %q to web", p.Switches, p.HashTowards("store"), p.HashTowards("web"))
	}
	if got := p.LearnedTowards("store"); len(got) != 1 || got[0].To != "store" {
		t.Errorf("learned of the way to store: %+v", got)
	}
	p.SwitchHash = "layer2"
	if p.HashTowards("store") != "layer2" {
		t.Error("the path's own word counts")
	}
}

// TestSwitchHashOnce: a path that says another hash than the switch is refused.
func TestSwitchHashOnce(t *testing.T) {
	const file = `linerate: v1
hosts:
  a: {network: {ethernets: {e0: {addresses: [10.0.0.1/24]}}}}
  b: {network: {ethernets: {e0: {}, e1: {}}, bonds: {bond0: {interfaces: [e0, e1], addresses: [10.0.0.2/24]}}}}
switches:
  s1: {ports: {p0: {host: a, link: e0}, p1: {host: b, link: e0}, p2: {host: b, link: e1}}, channels: {c: {members: [p1, p2], hash: layer2}}}
paths:
  - {between: [a, b], switch_hash: WORD}
`
	for word, want := range map[string]string{
		"layer2":   "",
		"layer3+4": "f:8:36: paths[0].switch_hash: the channels under switches that lead to b have layer2",
	} {
		_, err := Parse("f", []byte(strings.ReplaceAll(file, "WORD", word)))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q; want %q", word, got, want)
		}
	}
}
