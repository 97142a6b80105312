package system

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// Every word of the table of systems is one that the system's spreader takes, and
// the spreader has no more.
func TestEverySystemWordSpreads(t *testing.T) {
	for _, s := range bondopt.Systems() {
		for _, mode := range s.Modes {
			for _, policy := range s.Policies {
				on, err := Of(s.Name, netstate.OwnRule{Mode: mode.Word, Policy: policy.Word}, steer.Numbered(2))
				if err != nil {
					t.Errorf("%s %s %s: %v", s.Name, mode.Word, policy.Word, err)
					continue
				}
				if len(on.Links()) != 2 || on.Reach().Why == "" || Text(on) == "" || Policy(on) == "" {
					t.Errorf("%s %s %s: %v says nothing", s.Name, mode.Word, policy.Word, on)
				}
				if r := steer.RemedyFor(on); strings.Contains(r, "xmit_hash_policy") || strings.Contains(r, "ip link") {
					t.Errorf("%s %s %s: a remedy of Linux: %s", s.Name, mode.Word, policy.Word, r)
				}
			}
		}
		if _, err := Of(s.Name, netstate.OwnRule{Mode: "nonsense"}, steer.Numbered(2)); err == nil {
			t.Errorf("%s takes nonsense", s.Name)
		}
	}
}

// No flow of a team has a member that could be told; which flows share one is
// told where the algorithm leaves no choice.
func TestTeams(t *testing.T) {
	pair := []flow.Frame{sent("10.0.0.1", "10.0.0.2"), sent("10.0.0.1", "10.0.0.2")}
	pair[1].Sport++
	peers := []flow.Frame{sent("10.0.0.1", "10.0.0.2"), sent("10.0.0.1", "10.0.0.3")}
	for _, c := range []struct {
		hash        string
		pair, peers bool // known to share
		says        string
	}{
		{Dynamic, false, false, "by load"},
		{HyperVPort, true, true, "vNIC"},
		{TransportPorts, false, false, "not published"},
		{IPAddresses, true, false, "not published"},
		{MacAddresses, true, true, "between two hosts"},
	} {
		team := Team{Hash: c.hash, Members: steer.Numbered(2)}
		if p := team.Place(pair[0]); p.Known || !strings.Contains(p.Why, c.says) {
			t.Errorf("%s: %+v", c.hash, p)
		}
		_, known, _ := team.Groups(pair)
		_, knownPeers, _ := team.Groups(peers)
		if known != c.pair || knownPeers != c.peers {
			t.Errorf("%s: shares %v %v, want %v %v", c.hash, known, knownPeers, c.pair, c.peers)
		}
	}
}

func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		s    steer.Spreader
		want Arrival
	}{
		{VSwitch{Mode: PortID}, EachAddress}, {VSwitch{Mode: SourceMAC}, EachAddress}, {VSwitch{Mode: Explicit}, OneArrives},
		{VSwitch{Mode: IPHash}, FarSide}, {VSwitch{Mode: LACPGroup}, FarSide},
		{Team{Hash: Dynamic}, EachAddress}, {Team{Hash: HyperVPort}, EachAddress}, {Team{Mode: SET, Hash: Dynamic}, EachAddress},
		{Team{Hash: TransportPorts}, OneArrives}, {Team{Hash: IPAddresses}, OneArrives},
		{Team{Mode: LACP, Hash: TransportPorts}, FarSide}, {Team{Mode: Static, Hash: Dynamic}, FarSide},
		{steer.Lagg{}, OneArrives}, {steer.Lagg{Proto: steer.LaggLACP}, FarSide}, {steer.Lagg{Proto: steer.LaggRoundRobin}, FarSide}, {steer.Lagg{Proto: steer.LaggBroadcast}, CopiesArrive},
		{steer.EtherChannel{}, FarSide}, {steer.EtherChannel{Mode: steer.ChannelBackup}, OneArrives},
		{steer.Bundle{}, FarSide},
	} {
		got, why := Arrives(c.s)
		if got != c.want || (why == "") != (got == FarSide) {
			t.Errorf("%#v: %d %q, want %d", c.s, got, why, c.want)
		}
	}
}

func TestOnHost(t *testing.T) {
	h := netstate.Host{Kernel: netstate.Kernel{OS: bondopt.ESXi}, Links: []netstate.Link{
		{Name: "vSwitch0", Kind: "bond", Up: true, Bond: &netstate.Bond{Mode: netstate.ModeUnread, Ports: []string{"vmnic0", "vmnic1"}, Own: &netstate.OwnRule{Mode: "iphash"}}},
		{Name: "vmnic0", Up: true, Port: &netstate.BondPort{Bond: "vSwitch0", MIIUp: true, Active: true}},
		{Name: "vmnic1", Up: true, Port: &netstate.BondPort{Bond: "vSwitch0", MIIUp: true, Active: true}},
		{Name: "vmk1", Up: true, VLAN: &netstate.VLAN{ID: 7, Parent: "vSwitch0"}},
	}}
	s, ok := OnHost(h, "vmk1")
	if v, is := s.(VSwitch); !ok || !is || v.Mode != IPHash || !slices.Equal(v.Uplinks, []string{"vmnic0", "vmnic1"}) {
		t.Errorf("%v %#v", ok, s)
	}
	h.Kernel.OS = bondopt.Linux
	if s, ok := OnHost(h, "vmk1"); ok {
		t.Errorf("on Linux: %#v", s)
	}
}
