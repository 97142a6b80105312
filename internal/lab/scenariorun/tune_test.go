package scenariorun

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// inLab is one of the program's own networks with its ports at an MTU, as the
// lab's shapers have it.
func inLab(t *testing.T, name string, mtu int) (*run, predict.Fabric) {
	t.Helper()
	s, ok, err := scenario.Named(name)
	if err != nil || !ok {
		t.Fatalf("%s: %v, %v", name, ok, err)
	}
	mtus := map[scenario.Port]int{}
	for _, p := range scenario.Ports(s.Fabric) {
		mtus[p] = mtu
	}
	f := lab.NetworkOf(s, mtus).Fabric
	state := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: f.Paths}
	for _, h := range f.Hosts {
		host, err := f.State(h.Name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range host.Links {
			l := &host.Links[i]
			l.MTU = mtu
			if l.Kind == "" {
				l.Qdiscs = []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: l.Speed}}
			}
		}
		state.Hosts[h.Name] = host
	}
	return &run{now: s}, state
}

// TestLinesAt: the ceiling at large frames is the line's, whatever frames the
// lab's shapers count by now.
func TestLinesAt(t *testing.T) {
	for _, mtu := range []int{1500, 9000} {
		r, state := inLab(t, "backup-lacp", mtu)
		lines, err := r.linesAt(state, 9000)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := predict.CeilingOf(lines, predict.Traffic{From: "client", To: "server", Direction: flow.Both, Streams: 4}, 9000)
		if err != nil {
			t.Fatal(err)
		}
		want := 2 * 2 * 10e9 * 8948 / 9038 / r.now.Scale
		if math.Abs(float64(got)/want-1) > 1e-4 {
			t.Errorf("shaped for MTU %d: %v, want %v", mtu, got, unit.BitRate(want))
		}
		for name, h := range state.Hosts {
			if l, _ := h.Link("eth0"); len(l.Qdiscs) != 1 {
				t.Errorf("what was given of %s was changed: %+v", name, l)
			}
		}
	}
}

// TestSlots: two ports of one card get what its slot carries, each way; what has
// no card is held by none.
func TestSlots(t *testing.T) {
	r, state := inLab(t, "45drives-bond", 9000)
	traffic := predict.Traffic{From: "client", To: "server", Direction: flow.Forward, Streams: 4, Ports: predict.PortsChosen}
	one := slots(state, traffic) * unit.BitRate(r.now.Scale)
	if one < 13*unit.Gbps || one > 15*unit.Gbps {
		t.Errorf("one way %v, published 13.9 Gbit/s", one)
	}
	traffic.Direction = flow.Both
	if both := slots(state, traffic) * unit.BitRate(r.now.Scale); math.Abs(float64(both/one)-2) > 0.01 {
		t.Errorf("both ways %v, one %v", both, one)
	}
	_, state = inLab(t, "backup-lacp", 9000)
	if got := slots(state, traffic); got != 0 {
		t.Errorf("no card holds %v", got)
	}
}

func TestKept(t *testing.T) {
	all := []record.Step{{Change: "a", Kept: true}, {Change: "b"}, {Change: "c", Kept: true}}
	if got := kept(all); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("%q", got)
	}
	if got := kept(nil); got == nil || len(got) != 0 {
		t.Errorf("%q of nothing, want an empty list", got)
	}
}

// TestSwitchHash: a switch that hashes MAC addresses leaves two hosts one link a way,
// whatever the hosts do, as much as the largest frames carry; one that tells their
// flows apart holds nothing, and neither does it hold what a mode of the hosts' does.
func TestSwitchHash(t *testing.T) {
	for _, c := range []struct {
		name string
		mtu  int
		mode netstate.BondMode
		want unit.BitRate
	}{
		{"nfs-lacp", 9000, netstate.LACP, 2 * 9.9 * unit.Gbps}, {"nfs-lacp", 1500, netstate.LACP, 2 * 9.9 * unit.Gbps},
		{"nfs-lacp", 9000, netstate.BalanceTLB, 0}, {"failover", 9000, netstate.LACP, 0},
	} {
		r, state := inLab(t, c.name, c.mtu)
		for _, h := range state.Hosts {
			for i := range h.Links {
				if b := h.Links[i].Bond; b != nil {
					b.Mode = c.mode
				}
			}
		}
		lines, err := r.linesAt(state, 9000)
		if err != nil {
			t.Fatal(err)
		}
		got := switchHash(lines, predict.Traffic{From: "client", To: "server", Direction: flow.Both, Streams: 1}) * unit.BitRate(r.now.Scale)
		if math.Abs(float64(got-c.want)) > 0.001e9 {
			t.Errorf("%s, MTU %d, %s: %v, want %v", c.name, c.mtu, c.mode, got, c.want)
		}
	}
}

// TestLastLook: a tune's row is measured with all that its traffic asks for.
func TestLastLook(t *testing.T) {
	m := scenario.Measurement{Direction: flow.Both}
	got := lastLook(record.TunedLoad{Streams: 4, Ports: "chosen", Pace: unit.Gbps, ZeroCopy: true, SocketBuffer: 1 << 20, Congestion: "bbr"}, m, 9000)
	want := campaign.Matrix{
		Base:  measure.Spec{Socket: record.Socket{SndBuf: 1 << 20, RcvBuf: 1 << 20, Congestion: "bbr", Pacing: unit.Gbps}, Mode: agentapi.ModeZeroCopy},
		Phase: record.PhaseAfter, Streams: []int{4}, Ports: "chosen", Directions: []flow.Direction{flow.Both}, Duration: lastWindow, CeilingMTU: 9000,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("measured by %+v, want %+v", got, want)
	}
}
