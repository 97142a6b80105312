package tune

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// TestTogether: when nothing helps by itself, what may help only together is
// tried, each set once; a target that is reached asks for none. Larger frames
// that did not pay ask for the first set at once.
func TestTogether(t *testing.T) {
	s := healthy(func(b *bonded) { b.mtu = 1500 })
	s.Trials = []record.Trial{found(record.Reordering)}
	s.Tried = map[Name]bool{}
	for _, m := range moves() {
		s.Tried[m.name] = true
	}
	for _, key := range []Name{"congestion-control=bbr", "congestion-control=cubic"} {
		s.Tried[key] = true
	}
	var tried [][]Name
	for range 5 {
		all := Propose(s)
		if len(all) == 0 {
			break
		}
		p := all[0]
		tried = append(tried, p.Moves)
		if !p.Unsure || p.Hosts == nil || p.Load.Traffic.Streams < 8 || p.ProofA.Traffic.Streams == p.ProofB.Traffic.Streams || slices.Contains(p.Moves, MTU) && p.ProbeMTU == 0 {
			t.Errorf("%+v", p)
		}
		s.Tried[p.Key] = true
		for _, key := range p.Keys {
			s.Tried[key] = true
		}
	}
	if diff := cmp.Diff(joint(s), tried); diff != "" {
		t.Error(diff)
	}
	s.Tried = map[Name]bool{"mtu": true}
	s.Trials[0].Finding.Cause, s.Trials[0].Ceiling = record.LineRate, s.Trials[0].Goodput
	if all := Propose(s); slices.ContainsFunc(all, func(p Proposal) bool { return len(p.Moves) > 1 }) {
		t.Errorf("the target is reached: %v", names(all))
	}
	s.Trials[0].Finding.Cause, s.Trials[0].Ceiling = record.Reordering, 2*s.Trials[0].Goodput
	if all := Propose(s); len(all) == 0 || len(all[0].Moves) != 3 {
		t.Errorf("larger frames did not pay: %v", names(all))
	}
}

// TestSegmentation: a bond that deals out uncut what ports may cut is told to cut
// large frames first, on both hosts and whatever its ports do; where it does, no
// disorder is left to look for. Small frames are as they were.
func TestSegmentation(t *testing.T) {
	striped := func(mtu, most int, tso bool) State {
		s := healthy(func(b *bonded) { b.mode, b.mtu, b.maxMTU = netstate.BalanceRR, mtu, most })
		for name, h := range s.Fabric.Hosts {
			bond, _ := h.Link("bond0")
			bond.Offloads = map[string]bool{"tso": tso, "gso": true}
			h.SetLink(bond)
			s.Fabric.Hosts[name] = h
		}
		s.Fabric.Paths[0].SwitchHash = "" // each port has its own way
		s.Fabric.Paths[0].RTT, s.Traffic.Streams, s.Traffic.Ports = 4*time.Millisecond, 1, "kernel"
		short := found(record.LineRate)
		short.Streams, short.Ports, short.Goodput, short.Ceiling = 1, "kernel", 870e6, 993e6
		s.Trials = []record.Trial{short}
		return s
	}
	for _, c := range []struct {
		mtu, most int
		tso       bool
		first     []Name
	}{
		{1500, 9000, true, []Name{MTU, Segmentation}},
		{9000, 9000, true, []Name{Segmentation}},
		{1500, 1500, true, []Name{Streams, SocketControl}},
		{1500, 9000, false, []Name{MTU, Streams, Windows}},
	} {
		s := striped(c.mtu, c.most, c.tso)
		all := Propose(s)
		if len(all) == 0 || !slices.Equal(all[0].Moves, c.first) {
			t.Errorf("%+v: %v", c, names(all))
			continue
		}
		if p := all[0]; slices.Contains(p.Moves, Segmentation) {
			if !p.Disordered || !p.Unsure || !reflect.DeepEqual(p.ProofA, p.ProofB) || p.ProofA.Traffic.Streams != 1 || len(p.Hosts) != 2 {
				t.Errorf("%+v: %+v", c, p)
			}
			for name, h := range p.Hosts {
				if bond, _ := h.Link("bond0"); bond.Offloads["tso"] || !bond.Offloads["gso"] {
					t.Errorf("%+v: %s: %v", c, name, bond.Offloads)
				}
				if was, _ := s.Fabric.Hosts[name].Link("bond0"); !was.Offloads["tso"] {
					t.Errorf("%+v: the state itself was changed", c)
				}
			}
		}
	}
	if all := Propose(striped(9000, 9000, false)); slices.ContainsFunc(all, func(p Proposal) bool {
		return p.Disordered || slices.Contains(p.Moves, Segmentation) || slices.Contains(p.Moves, Windows)
	}) {
		t.Errorf("large frames are cut: %v", names(all))
	}
}

// TestStripedOut: a bond that deals single packets out is first given what keeps
// them in order; where it is so already the prediction has its turn.
func TestStripedOut(t *testing.T) {
	s := healthy(func(b *bonded) { b.mode, b.mtu = netstate.BalanceRR, 1500 })
	s.Fabric.Paths[0].RTT = 4 * time.Millisecond
	s.Traffic.Streams, s.Traffic.Ports = 1, "kernel"
	short := found(record.LineRate)
	short.Streams, short.Ports, short.Goodput, short.Ceiling = 1, "kernel", 870e6, 993e6
	s.Trials = []record.Trial{short}
	all := Propose(s)
	if len(all) == 0 || !slices.Equal(all[0].Moves, []Name{MTU, Streams, Windows}) || all[0].Load.Traffic.Streams != 4 {
		t.Fatalf("%+v", all)
	}
	// Four times what both links hold in 4 ms, shared by four streams.
	want := 993e6 / 8 * 0.004
	if got := float64(all[0].Load.Traffic.SocketBuffer); got < 0.95*want || got > 1.05*want {
		t.Errorf("buffers of %v, want about %v", got, want)
	}
	kept := s
	kept.Load = all[0].Load
	full := found(record.ReceiveWindow)
	full.Goodput, full.Ceiling, full.Streams, full.Ports = 900e6, 993e6, 4, "chosen"
	kept.Trials = []record.Trial{full}
	if all := Propose(kept); slices.ContainsFunc(all, func(p Proposal) bool { return slices.Contains(p.Moves, Buffers) }) {
		t.Errorf("windows that are to be small: %v", names(all))
	}
	s.Tried, s.Refused = map[Name]bool{}, map[Name]bool{MTU: true}
	// Without large frames the sockets alone, then their windows.
	for _, moves := range [][]Name{{Streams, SocketControl}, {Streams, Windows}} {
		if all = Propose(s); len(all) == 0 || !slices.Equal(all[0].Moves, moves) || slices.ContainsFunc(all, func(p Proposal) bool { return slices.Contains(p.Moves, MTU) }) {
			t.Fatalf("tried %v: %v, want %v first", s.Tried, names(all), moves)
		}
		s.Tried[all[0].Key] = true
	}
	if all := Propose(s); len(all) == 0 || slices.Contains(all[0].Moves, Windows) {
		t.Errorf("tried: %v", names(all))
	}
	asked := s
	asked.Traffic.Congestion, asked.Tried, asked.Refused = "bbr", nil, nil
	if all := Propose(asked); slices.ContainsFunc(all, func(p Proposal) bool {
		return slices.Contains(p.Moves, Congestion) || slices.Contains(p.Moves, SocketControl)
	}) {
		t.Errorf("sockets that ask for bbr: %v", names(all))
	}
	s.Tried, s.Trials[0].Ceiling = nil, s.Trials[0].Goodput
	if all := Propose(s); slices.ContainsFunc(all, func(p Proposal) bool { return slices.Contains(p.Moves, Windows) }) {
		t.Errorf("the target is reached: %v", names(all))
	}
}
