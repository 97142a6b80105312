package hashsurvey

import (
	"slices"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func TestCables(t *testing.T) {
	mac := func(n byte) flow.MAC { return flow.MAC{2, 0, 0, 0, 0, n} }
	hosts := []netstate.Host{
		{Name: "a", Links: []netstate.Link{{Name: "eth0", MAC: mac(9), PermanentMAC: mac(1)}, {Name: "eth1", MAC: mac(2)}, {Name: "bond0", Kind: "bond", MAC: mac(9)}}},
		{Name: "b", Links: []netstate.Link{{Name: "eth0", MAC: mac(3)}, {Name: "eth1", MAC: mac(4)}}},
	}
	heard := []HostNeighbor{
		{Host: "a", Neighbor: netstate.Neighbor{Link: "eth0", MAC: mac(3)}},
		{Host: "a", Neighbor: netstate.Neighbor{Link: "eth1", MAC: mac(77), SystemName: "leaf1", Port: "Ethernet5"}},
		{Host: "b", Neighbor: netstate.Neighbor{Link: "eth0", MAC: mac(1)}},
		{Host: "b", Neighbor: netstate.Neighbor{Link: "eth1", MAC: mac(78), SystemName: "leaf1", Port: "Ethernet6"}},
		{Host: "b", Neighbor: netstate.Neighbor{Link: "eth1", MAC: mac(79), Chassis: "02:00:00:00:00:4f", Port: "7"}},
	}
	want := []string{"a eth0 and b eth0 are one cable", "switch leaf1: a eth1 on port Ethernet5, b eth1 on port Ethernet6", "switch 02:00:00:00:00:4f: b eth1 on port 7"}
	if got := Cables(hosts, heard); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Cables(hosts, nil); len(got) > 0 {
		t.Errorf("nobody spoke: %q", got)
	}
}
