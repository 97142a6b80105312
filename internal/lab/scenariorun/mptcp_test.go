package scenariorun

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// backup is the built-in scenario's network, by another hash on hosts and switch.
func backup(t *testing.T, policy string) (scenario.Scenario, predict.Fabric) {
	t.Helper()
	s, _, err := scenario.Named("backup-lacp")
	if err != nil {
		t.Fatal(err)
	}
	if s, _, err = s.Changed("switch_hash=" + policy); err != nil {
		t.Fatal(err)
	}
	f := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: s.Fabric.Paths}
	for _, h := range s.Fabric.Hosts {
		state, err := s.Fabric.State(h.Name)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range state.Links {
			if l.Bond != nil {
				if err := state.Links[i].Bond.HashPolicy.UnmarshalText([]byte(policy)); err != nil {
					t.Fatal(err)
				}
				state.Links[i].MAC[5] = byte(len(h.Name))
			}
		}
		f.Hosts[h.Name] = state
	}
	return s, f
}

// TestSubflows: one alias for the second link, in the bond's subnet, taken by
// nobody; with it one connection is predicted to use both links, and hosts that
// are set up so and back are as they were.
func TestSubflows(t *testing.T) {
	s, f := backup(t, "layer2+3")
	m := scenario.Measurement{Tool: scenario.Linerate, From: "client", To: "server", Protocol: scenario.ProtocolMPTCP, Direction: "forward"}
	taken := append(addresses(s.Fabric), netip.MustParseAddr("10.4.0.3"), netip.MustParseAddr("10.4.0.4"))
	plan, bonds, err := subflows(f, m, taken)
	if err != nil {
		t.Fatal(err)
	}
	if bonds != [2]string{"bond0", "bond0"} || len(plan.AddNear) != 1 || len(plan.AddFar) != 0 || len(plan.Flows) != 2 || !plan.Even {
		t.Fatalf("%v of %v", plan, bonds)
	}
	alias := plan.AddNear[0]
	if !netip.MustParsePrefix("10.4.0.0/24").Contains(alias) || slices.Contains(taken, alias) {
		t.Errorf("alias %s", alias)
	}
	client := f.Hosts["client"].Clone()
	before := client.Clone()
	if err := withSubflows(&client, "bond0", plan.AddNear, nil, plan.Client); err != nil {
		t.Fatal(err)
	}
	if l, _ := client.Link("bond0"); !slices.Contains(l.Addresses, netip.PrefixFrom(alias, 24)) || len(client.MPTCP.Endpoints) != 1 || client.MPTCP.Endpoints[0].Addr != alias {
		t.Errorf("%v, %+v", l.Addresses, client.MPTCP)
	}
	alone, err := predict.Predict(f, traffic(m, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	f.Hosts["client"] = client
	with, err := predict.Predict(f, traffic(m, 1)[0])
	if err != nil || with.Rate < 1.99*alone.Rate {
		t.Errorf("one connection: %v, with an alias %v, %v", alone.Rate, with.Rate, err)
	}
	if err := withSubflows(&client, "bond0", nil, plan.AddNear, netstate.MPTCP{Subflows: 2}); err != nil {
		t.Fatal(err)
	}
	was, _ := before.Link("bond0")
	if l, _ := client.Link("bond0"); !slices.Equal(l.Addresses, was.Addresses) || len(client.MPTCP.Endpoints) != 0 || client.MPTCP.Subflows != 2 {
		t.Errorf("taken back: %v, %+v", l.Addresses, client.MPTCP)
	}
	if err := withSubflows(&client, "bond7", nil, nil, netstate.MPTCP{}); err == nil {
		t.Error("a bond that is gone")
	}
}

// TestSubflowsOfOneLink: where MAC addresses alone decide, nothing helps, and
// that is said.
func TestSubflowsOfOneLink(t *testing.T) {
	_, f := backup(t, "layer2")
	_, _, err := subflows(f, scenario.Measurement{From: "client", To: "server"}, nil)
	if err == nil {
		t.Error("subflows over one link were planned")
	}
}
