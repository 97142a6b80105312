package switchcount

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

var start = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// agent tells of a port's counters, which it refreshes every so often.
type agent struct {
	refresh float64 // seconds; zero at every reading
	width   Width
	counts  func(seconds float64) netstate.Counters
}

func (a agent) readings(from, to, every float64) []Reading {
	var out []Reading
	seen := from
	for s := from; s <= to; s += every {
		if a.refresh == 0 || s-seen >= a.refresh {
			seen = s
		}
		out = append(out, Reading{At: at(s), Up: time.Hour + at(s).Sub(start), Ports: map[string]Port{"p1": {
			Counters: a.counts(seen), Width: a.width, Bytes: true, Drops: true, Speed: 10 * unit.Gbps}}})
	}
	return out
}

// traffic is 1000 bytes a second from second 10 to 22, of which two are warm-up, and a drop
// each second.
func traffic(seconds float64) netstate.Counters {
	n := uint64(min(max(seconds-10, 0), 12) * 1000)
	return netstate.Counters{TxBytes: 7_000_000_000_000 + n, TxDropped: 5 + n/1000}
}

var trial = Span{Start: at(10), Open: at(12), Close: at(22)}

// TestOver: whatever an agent's cache, the bytes are the window's or all, and the drops all.
func TestOver(t *testing.T) {
	ports := []record.PortUse{{Port: "p1"}}
	for name, c := range map[string]struct {
		refresh float64
		window  bool
	}{"at once": {0, true}, "every 3 s": {3, true}, "every 15 s": {15, false}} {
		use := Over(ports, agent{refresh: c.refresh, counts: traffic}.readings(9, 60, 1), trial)
		p := use.Ports[0]
		if use.Window != c.window || p.TxBytes == nil || p.TxDrops == nil || *p.TxDrops != 12 {
			t.Fatalf("%s: %+v", name, use)
		}
		if p.TxErrors != nil {
			t.Errorf("%s: errors were not read: %d", name, *p.TxErrors)
		}
		if want := unit.BitRate(8000); p.Tx < want*0.9 || p.Tx > want*1.1 {
			t.Errorf("%s: %v over %v s, sent at %v", name, p.Tx, use.Over, want)
		}
		if !c.window && *p.TxBytes != 12_000 {
			t.Errorf("%s: %d bytes, want all", name, *p.TxBytes)
		}
	}
}

// TestOverTooSoon: of a switch that has not told of the trial's end bytes count only where
// they are the window's, and it is said.
func TestOverTooSoon(t *testing.T) {
	ports := []record.PortUse{{Port: "p1"}}
	for refresh, bytes := range map[float64]bool{4: true, 25: false} {
		use := Over(ports, agent{refresh: refresh, counts: traffic}.readings(9, 23, 1), trial)
		if p := use.Ports[0]; (p.TxBytes != nil) != bytes || p.TxDrops == nil || !strings.Contains(strings.Join(use.Notes, " "), "1 s after the trial") {
			t.Errorf("every %v s: %+v of %+v", refresh, p, use)
		}
		if late := Over(ports, agent{refresh: refresh, counts: traffic}.readings(9, 90, 1), trial); late.Ports[0].TxBytes == nil || len(late.Notes) > 0 {
			t.Errorf("every %v s, waited for: %+v", refresh, late)
		}
	}
}

// TestSettled: an agent that refreshes rarely is waited for, one that does at once hardly.
func TestSettled(t *testing.T) {
	for refresh, want := range map[float64]float64{0: 24, 3: 26, 15: 40} {
		all := agent{refresh: refresh, counts: traffic}.readings(9, 60, 1)
		for i := range all {
			seen := all[:i+1]
			if Settled(seen, trial.Close, Lag(seen, trial.Start, trial.Close)) {
				last := all[i].Ports["p1"].Counters
				if last.TxDropped != 17 {
					t.Errorf("refresh %v: settled at %v with %d drops of 17", refresh, all[i].At.Sub(start), last.TxDropped)
				}
				if all[i].At.After(at(want)) {
					t.Errorf("refresh %v: settled at %v only", refresh, all[i].At.Sub(start))
				}
				break
			}
		}
	}
}

// TestCountersSetBack: counters of 32 bits that wrap are counted on, those that were set back
// or of a switch that restarted are none.
func TestCountersSetBack(t *testing.T) {
	ports := []record.PortUse{{Port: "p1"}}
	wraps := agent{width: NarrowAll, counts: func(s float64) netstate.Counters {
		n := uint64(min(max(s-10, 0), 12) * 1e9) // 8 Gbit/s: three times round
		return netstate.Counters{TxBytes: uint64(uint32(n + 4_000_000_000)), TxDropped: uint64(uint32(1<<32 - 3 + n/1e9))}
	}}
	all := wraps.readings(9, 60, 0.5)
	use := Over(ports, all, Span{Start: trial.Start, Open: trial.Start, Close: trial.Close})
	if p := use.Ports[0]; p.TxBytes == nil || p.Tx < 7.5*unit.Gbps || p.Tx > 8.5*unit.Gbps || *p.TxDrops != 12 {
		t.Errorf("wrapped: %+v of %+v", p, use)
	}
	slow := wraps.readings(9, 60, 2)
	if p := Over(ports, slow, trial).Ports[0]; p.TxBytes != nil {
		t.Errorf("two seconds of 10 Gbit/s do not fit 32 bits: %v", p.Tx)
	}
	for name, spoil := range map[string]func(r *Reading){
		"restarted": func(r *Reading) { r.Up -= time.Hour },
		"set back":  func(r *Reading) { p := r.Ports["p1"]; p.Since = 9; r.Ports["p1"] = p },
	} {
		all := agent{counts: traffic}.readings(9, 60, 1)
		for i := range all[6:] {
			spoil(&all[6+i])
		}
		use := Over(ports, all, trial)
		if use.Ports[0].TxDrops != nil || !strings.Contains(strings.Join(use.Notes, " "), "p1") {
			t.Errorf("%s: %+v", name, use)
		}
	}
	if use := Over(ports, nil, trial); len(use.Notes) == 0 || use.Ports[0].TxBytes != nil {
		t.Errorf("nothing read: %+v", use)
	}
	day497 := []Reading{{At: at(0), Up: upWraps - time.Second}, {At: at(5), Up: 4 * time.Second}}
	if restarted(day497[0], day497[1]) {
		t.Error("a clock of 32 bits that wraps is no restart")
	}
}

func TestPorts(t *testing.T) {
	n := topology.New([]topology.Switch{
		{Name: "left", Ports: []topology.Port{{Name: "p1", Host: "a", Link: "eth0"}, {Name: "t0", Switch: "right", Port: "t0", Speed: unit.Gbps}, {Name: "t1", Switch: "right", Port: "t1"}},
			Channels: []topology.Channel{{Name: "bond0", Members: []string{"t0", "t1"}}}},
		{Name: "right", Ports: []topology.Port{{Name: "p2", Host: "b", Link: "eth0"}}},
	})
	speed := func(host, link string) unit.BitRate { return 25 * unit.Gbps }
	left := Ports(n, "left", speed)
	if len(left) != 3 || left[0].Host != "a" || left[0].Speed != 25*unit.Gbps || left[1].Channel != "bond0" || left[1].Speed != unit.Gbps || left[2].Speed != 0 {
		t.Errorf("%+v", left)
	}
	if right := Ports(n, "right", speed); len(right) != 3 || right[1].Switch != "left" || right[1].PeerPort != "t0" {
		t.Errorf("the cables that the other end names: %+v", right)
	}
}
