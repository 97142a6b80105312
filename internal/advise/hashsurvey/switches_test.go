package hashsurvey

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func TestTied(t *testing.T) {
	mac := func(n byte) flow.MAC { return flow.MAC{2, 0, 0, 0, 0, n} }
	hosts := []netstate.Host{
		{Name: "a", Links: []netstate.Link{{Name: "eth0", MAC: mac(9), PermanentMAC: mac(1)}, {Name: "eth1", MAC: mac(9), PermanentMAC: mac(2)}, {Name: "bond0", Kind: "bond", MAC: mac(9)}}},
		{Name: "b", Links: []netstate.Link{{Name: "ens1", MAC: mac(3)}}},
	}
	member := func(names ...string) (all []switchstate.Member) {
		for _, n := range names {
			all = append(all, switchstate.Member{Port: n})
		}
		return all
	}
	asked := []Asked{
		{Reach: "snmp://192.0.2.1", State: switchstate.Switch{Name: "leaf1",
			Ports:    []switchstate.Port{{Name: "swp1"}, {Name: "swp2"}, {Name: "swp9", Speed: unit.Gbps}},
			Channels: []switchstate.Channel{{Port: switchstate.Port{Name: "po1"}, Protocol: switchstate.LACP, Members: member("swp1", "swp2", "swp3")}, {Port: switchstate.Port{Name: "po2"}, Members: member("swp9")}},
			Neighbors: []netstate.Neighbor{
				{Link: "swp1", MAC: mac(1), SystemName: "x"},
				{Link: "swp2", MAC: mac(2)},
				{Link: "swp3", MAC: mac(9), SystemName: "z"},              // the bond's address: which port nobody knows
				{Link: "swp4", SystemName: "other", Port: "eth0"},         // no host of these
				{Link: "swp9", SystemName: "leaf2", PortDescription: "e"}, // the other switch
			}}},
		{State: switchstate.Switch{Name: "leaf2", Ports: []switchstate.Port{{Name: "e"}, {Name: "f"}},
			Neighbors: []netstate.Neighbor{{Link: "f", SystemName: "b.example.net", PortDescription: "ens1"}}}},
	}
	want := []topology.Switch{
		{Name: "leaf1", Reach: "snmp://192.0.2.1", Ports: []topology.Port{
			{Name: "swp1", Host: "a", Link: "eth0"}, {Name: "swp2", Host: "a", Link: "eth1"}, {Name: "swp9", Switch: "leaf2", Port: "e", Speed: unit.Gbps}},
			Channels: []topology.Channel{{Name: "po1", Members: []string{"swp1", "swp2"}, Mode: "lacp"}}},
		{Name: "leaf2", Ports: []topology.Port{{Name: "f", Host: "b", Link: "ens1"}}},
	}
	if diff := cmp.Diff(want, Tied(hosts, asked)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
