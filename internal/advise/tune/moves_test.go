package tune

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// found is a trial at half the ceiling that this cause limits.
func found(cause record.Cause) record.Trial {
	t := waiting(0)
	t.Finding = &record.Finding{Cause: cause}
	return t
}

// healthy is the demo's pair with everything that the prediction knows done.
func healthy(change func(*bonded)) State {
	b := demo
	b.policy, b.mtu = netstate.Layer34, 9000
	if change != nil {
		change(&b)
	}
	s := pairOf(b)
	s.Traffic.Streams, s.Traffic.Ports = 2, "chosen"
	for name, h := range s.Fabric.Hosts {
		h.Sysctls[congestionKey] = netstate.Sysctl{Value: "cubic"}
		h.Sysctls[availableKey] = netstate.Sysctl{Value: "reno cubic bbr"}
		h.Sysctls[reorderingKey] = netstate.Sysctl{Value: "3"}
		for i := range h.Links {
			if l := &h.Links[i]; l.Bond == nil {
				l.Offloads = map[string]bool{"gro": false, "tso": true}
				l.Qdiscs = []netstate.Qdisc{{Kind: "fq_codel", Handle: "0:", Parent: "root"}}
				l.Device = &netstate.Device{Rings: &netstate.Rings{Rx: 256, RxMax: 4096}, Channels: &netstate.Channels{Combined: 1, CombinedMax: 8}, Coalescing: map[string]int{"adaptive-rx": 0}}
			}
		}
		s.Fabric.Hosts[name] = h
	}
	return s
}

// TestEvidence: what each cause asks for, in the order to try it; those that
// bounce a port last.
func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		name  string
		trial record.Trial
		set   func(*State)
		want  []Name
	}{
		{"full links ask for nothing", func() record.Trial {
			t := found(record.LineRate)
			t.Goodput, t.Ceiling = 985e6, 1100e6 // of 993
			return t
		}(), nil, nil},
		{"links that are called full, below the target", func() record.Trial {
			t := found(record.LineRate)
			t.Goodput, t.Ceiling = 965e6, 1000e6 // of 993
			return t
		}(), nil, []Name{Congestion, Streams}},
		{"links that are called full and are not", func() record.Trial {
			t := found(record.LineRate)
			t.Goodput, t.Ceiling = 900e6, 993e6
			return t
		}(), nil, []Name{Congestion, Streams}},
		{"a sender's core", found(record.SenderCPU), nil, []Name{ZeroCopy, Offloads, Streams, Congestion}},
		{"loss", found(record.Congestion), nil, []Name{Congestion, Streams, Queueing}},
		{"packets out of turn", found(record.Reordering), nil, []Name{Congestion, Reordering, Windows, Streams}},
		{"a shaper that shows its rate", func() record.Trial {
			t := found(record.Shaper)
			t.Shaper = &record.TokenBucket{Rate: 100e6}
			return t
		}(), nil, []Name{Congestion, Pacing, Streams, Queueing}},
		{"rings without room", func() record.Trial {
			t := found(record.ReceiverCPU)
			t.Links = []record.LinkUse{{Host: "beta", Link: "eth0", RxMissed: 7}}
			return t
		}(), nil, []Name{Offloads, Coalescing, Streams, Congestion, Rings}},
		{"one core full of packets", func() record.Trial {
			t := found(record.ReceiverCPU)
			t.CPU = []record.CPUUse{{Host: "beta", Cores: 8, Busiest: 0.99}}
			return t
		}(), nil, []Name{Offloads, Coalescing, Streams, Congestion, Channels}},
		{"every core full", func() record.Trial {
			t := found(record.SenderCPU)
			t.CPU = []record.CPUUse{{Host: "alpha", Cores: 2, Busy: 1.95, Busiest: 0.5}}
			return t
		}(), nil, []Name{ZeroCopy, Offloads, Congestion}},
		{"no finding at all", waiting(0), nil, []Name{Congestion, Streams}},
		{"the target is reached", func() record.Trial { t := found(record.Congestion); t.Ceiling = t.Goodput; return t }(), nil, nil},
		{"the target is reached by a hair", func() record.Trial {
			t := found(record.Congestion)
			t.Ceiling = t.Goodput / 0.974
			t.GoodputLow, t.GoodputHigh = t.Goodput*0.99, t.Goodput*1.01
			return t
		}(), nil, []Name{Congestion, Streams, Queueing}},
		{"the target is reached with more streams than links", func() record.Trial { t := found(record.LineRate); t.Ceiling = t.Goodput; return t }(),
			func(s *State) { s.Traffic.Streams = 8 }, []Name{Streams}},
	} {
		s := healthy(nil)
		s.Trials = []record.Trial{c.trial}
		if c.set != nil {
			c.set(&s)
		}
		all := Propose(s)
		if diff := cmp.Diff(c.want, names(all)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		for _, p := range all {
			if !p.Unsure && !p.Cheaper || p.Change == "" || p.Why == "" || p.Bounces != (p.Name == Rings || p.Name == Channels) {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
	}
}

// TestRoundRobin: balance-rr becomes balance-xor, of which the switch wants the
// same; it bounces the bond, and the streams are enough for the links.
func TestRoundRobin(t *testing.T) {
	s := healthy(func(b *bonded) { b.mode = netstate.BalanceRR })
	s.Traffic.Streams, s.Traffic.Ports = 1, "kernel"
	all := modeOptions(s)
	if len(all) != 1 || all[0].load.Traffic.Streams != 2 {
		t.Fatalf("%+v", all)
	}
	for name, h := range all[0].hosts {
		if l, _ := h.Link("bond0"); l.Bond.Mode != netstate.BalanceXOR || l.Bond.HashPolicy != netstate.Layer34 {
			t.Errorf("%s: %v %v", name, l.Bond.Mode, l.Bond.HashPolicy)
		}
	}
	if !moveNamed(BondMode).bounces {
		t.Error("a bond that changes its mode carries on")
	}
	if len(modeOptions(healthy(nil))) != 0 {
		t.Error("LACP is a mode to leave")
	}
}

// TestSenders: congestion control is the senders'; one that a sender's kernel
// lacks is not proposed.
func TestSenders(t *testing.T) {
	for direction, want := range map[flow.Direction]string{flow.Forward: "alpha", flow.Reverse: "beta", flow.Both: "alpha and beta"} {
		s := healthy(nil)
		s.Traffic.Direction = direction
		all := congestionOptions(s)
		if len(all) != 1 || !strings.HasSuffix(all[0].change, "bbr instead of cubic on "+want) {
			t.Errorf("%v: %+v", direction, all)
		}
		for _, name := range []string{"alpha", "beta"} {
			s.Fabric.Hosts[name].Sysctls[availableKey] = netstate.Sysctl{Value: "reno cubic"}
		}
		if all := congestionOptions(s); len(all) != 0 {
			t.Errorf("%v without bbr: %+v", direction, all)
		}
	}
}

// TestLatency: what keeps queues short is tried while the bound is not kept.
func TestLatency(t *testing.T) {
	s := healthy(nil)
	s.Objective, s.Bound, s.Loaded = Latency, 12*time.Millisecond, 40*time.Millisecond
	s.Trials = []record.Trial{found(record.LineRate)}
	all := Propose(s)
	if diff := cmp.Diff([]Name{Pacing, Queueing, Congestion, Buffers}, names(all)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if pace := all[0].Traffic.Pace; pace < 0.96*496e6 || pace > 0.97*500e6 {
		t.Errorf("a stream a link is paced at %v", pace)
	}
	s.Loaded = 11 * time.Millisecond
	if all := Propose(s); len(all) != 0 {
		t.Errorf("the bound is kept, and yet %v", names(all))
	}
}

func TestJudgeLatency(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name             string
		a, b             float64
		loadedA, loadedB time.Duration
		keep             bool
	}{
		{"the bound is kept from now on", 100, 96, 40 * ms, 9 * ms, true},
		{"at too high a price", 100, 80, 40 * ms, 9 * ms, false},
		{"both keep it, faster", 100, 110, 9 * ms, 9 * ms, true},
		{"both keep it, slower", 100, 90, 9 * ms, 5 * ms, false},
		{"lost", 100, 120, 9 * ms, 11 * ms, false},
		{"neither, but shorter", 100, 100, 40 * ms, 20 * ms, true},
		{"neither, by little", 100, 100, 40 * ms, 38 * ms, false},
		{"not measured", 100, 100, 0, 5 * ms, false},
	} {
		if keep, verdict := JudgeLatency(measured(100e6, 0), measured(100e6, 0), 0, 0, ms); keep || verdict == "" {
			t.Errorf("nothing measured: %v %q", keep, verdict)
		}
		a, b := rated(c.a), rated(c.b)
		if keep, verdict := JudgeLatency(a, b, c.loadedA, c.loadedB, 10*ms); keep != c.keep || verdict == "" {
			t.Errorf("%s: %v (%s)", c.name, keep, verdict)
		}
	}
}

func rated(mega float64) record.Trial {
	return measured(unit.BitRate(mega)*unit.Mbps, 0)
}

// TestJudgeTurns: overlapping intervals on a busy machine, told apart by turns
// where the prediction expects the gain, and never by one look each.
func TestJudgeTurns(t *testing.T) {
	at := func(rates ...float64) (out []record.Trial) {
		for _, r := range rates {
			one := rated(r)
			one.GoodputLow, one.GoodputHigh = one.Goodput*0.9, one.Goodput*1.1
			out = append(out, one)
		}
		return out
	}
	sure, guess := Proposal{Gain: 0.04}, Proposal{Unsure: true}
	for _, c := range []struct {
		name   string
		p      Proposal
		as, bs []record.Trial
		keep   bool
	}{
		{"each B above each A", sure, at(100, 101), at(104, 105), true},
		{"one look each", sure, at(100), at(104), false},
		{"one B below", sure, at(100, 104.5), at(104, 105), false},
		{"nobody expected it", guess, at(100, 101), at(104, 105), false},
		{"nobody expected it, one look each", guess, []record.Trial{rated(100)}, []record.Trial{rated(104)}, false},
		{"nobody expected it, clear", guess, []record.Trial{rated(100)}, []record.Trial{rated(110)}, true},
		{"nobody expected it, each time", guess, []record.Trial{rated(100), rated(101)}, []record.Trial{rated(104), rated(105)}, true},
		{"nobody expected it, once", guess, []record.Trial{rated(100), rated(106)}, []record.Trial{rated(110), rated(105)}, false},
		{"nobody expected it, in each of three turns", guess, at(100, 106, 100), at(104, 108, 103), true},
		{"the best looks on a disturbed machine", sure, at(100, 99, 98), at(60, 104, 90), true},
		{"not even the best looks", sure, at(100, 99, 98), at(60, 100, 90), false},
		{"three looks each, medians as predicted", sure, at(100, 104.5, 101), at(103, 104, 105), true},
		{"three looks each, medians far from it", Proposal{Gain: 0.5}, at(100, 104.5, 101), at(103, 104, 105), false},
		{"too little", sure, at(100, 100), at(100.5, 100.6), false},
	} {
		keep, verdict := JudgeTurns(c.p, c.as, c.bs, c.as[medianAt(c.as)], c.bs[medianAt(c.bs)])
		if keep != c.keep {
			t.Errorf("%s: %v (%s)", c.name, keep, verdict)
		}
	}
}

// TestSlower: what is worth a second look.
func TestSlower(t *testing.T) {
	wide := rated(97)
	wide.GoodputLow, wide.GoodputHigh = wide.Goodput*0.8, wide.Goodput*1.2
	far := wide
	far.Goodput = 50 * unit.Mbps
	for i, c := range []struct {
		b    record.Trial
		want bool
	}{{rated(100), false}, {rated(99.5), false}, {rated(97), true}, {wide, false}, {far, true}, {rated(120), false}} {
		if got := Slower(rated(100), c.b); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

// TestScattered: looks of one state that something disturbs.
func TestScattered(t *testing.T) {
	for _, c := range []struct {
		rates []float64
		want  bool
	}{{nil, false}, {[]float64{100}, false}, {[]float64{100, 101, 99}, false}, {[]float64{100, 95}, true}} {
		var looks []record.Trial
		for _, r := range c.rates {
			looks = append(looks, rated(r))
		}
		if got := Scattered(looks); got != c.want {
			t.Errorf("%v: %v", c.rates, got)
		}
	}
}

// medianAt is where the middle rate is, of two the higher one.
func medianAt(all []record.Trial) int {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(x, y record.Trial) int { return int(x.Goodput - y.Goodput) })
	return slices.IndexFunc(all, func(t record.Trial) bool { return t.Goodput == sorted[len(sorted)/2].Goodput })
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		budget Budget
		spent  Spent
		looks  int
		want   string
	}{
		{Budget{}, Spent{}, 24, ""},
		{Budget{}, Spent{}, 25, "windows"},
		{Budget{}, Spent{Windows: 23}, 1, ""},
		{Budget{}, Spent{Windows: 10, Traffic: 58 * time.Second}, 1, ""},
		{Budget{}, Spent{Windows: 10, Traffic: 59 * time.Second}, 1, "traffic"},
		{Budget{MostWindows: 3, MostTraffic: time.Second}, Spent{}, 1, "traffic"},
	} {
		if got := c.budget.Left(c.spent, c.looks, 2*time.Second); got != c.want {
			t.Errorf("%+v after %+v: %q, want %q", c.budget, c.spent, got, c.want)
		}
	}
}

// TestTable: every move has a row of its own, and what makes it.
func TestTable(t *testing.T) {
	var seen []Name
	sets := slices.Concat(joint(healthy(func(b *bonded) { b.mode, b.mtu = netstate.BalanceRR, 1500 }))...)
	for _, m := range moves() {
		if slices.Contains(seen, m.name) || m.options == nil || !m.modelled && len(m.causes) == 0 && !slices.Contains(sets, m.name) {
			t.Errorf("%s: twice, empty, or nothing asks for it", m.name)
		}
		seen = append(seen, m.name)
	}
}
