package campaign

import (
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/tune"
	"github.com/linerate/linerate/unit"
)

// counted is a tune that has spent some of its budget, and looked at what it
// found a while ago.
func counted(windows, spent int, ago time.Duration) *tuning {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &Campaign{cfg: Config{Now: func() time.Time { return now }}}
	u := c.begin(Tuning{Path: fabric.Path{From: "a", To: "b"}, Direction: flow.Both, Budget: tune.Budget{MostWindows: windows}})
	u.spent.Windows = spent
	u.found.Trial = freshLook(u, 1e9)
	u.found.Started = now.Add(-ago)
	u.s.Trials = []record.Trial{u.found.Trial}
	return u
}

// TestFewWindows: the search spends what is there but the proof of the result,
// and a look at the first traffic where the hosts have changed and it is another.
func TestFewWindows(t *testing.T) {
	for _, c := range []struct {
		name           string
		windows, spent int
		ago            time.Duration
		set            func(*tuning)
		want           string
	}{
		{"before, one change, after", 3, 1, 0, nil, ""},
		{"the second change of five", 5, 2, 0, nil, ""},
		{"the last but the proof", 5, 4, 0, nil, "windows"},
		{"A must be taken again", 3, 1, time.Minute, nil, "windows"},
		{"there is room for A", 4, 1, time.Minute, nil, ""},
		{"the first traffic is to be looked at", 5, 3, 0, func(u *tuning) {
			u.kept = []done{{changes: []change{{host: "a"}}}}
			u.s.Load.Traffic.Streams = 2
			u.s.Trials = append(u.s.Trials, freshLook(u, 2e9))
		}, "windows"},
		{"the hosts are as they were found", 5, 3, 0, func(u *tuning) {
			u.kept = []done{{}}
			u.s.Load.Traffic.Streams = 2
			u.s.Trials = append(u.s.Trials, freshLook(u, 2e9))
		}, ""},
	} {
		u := counted(c.windows, c.spent, c.ago)
		if c.set != nil {
			c.set(u)
		}
		if got := u.searched(u.needs(tune.Proposal{ProofA: u.s.Load})); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLookedAtFound: what is held against the result are all looks at what was
// found, and none under another traffic.
func TestLookedAtFound(t *testing.T) {
	u := counted(24, 3, 0)
	u.founds = u.s.Trials
	again, other := freshLook(u, 1.1e9), freshLook(u, 2e9)
	other.Streams = 2
	u.s.Trials = append(u.s.Trials, again, other)
	u.kept = []done{{}}
	u.lookedAtFound()
	if len(u.founds) != 2 || u.founds[1].Goodput != again.Goodput {
		t.Errorf("%d looks at what was found", len(u.founds))
	}
	u.kept = append(u.kept, done{})
	u.s.Trials = []record.Trial{other}
	u.lookedAtFound()
	if len(u.founds) != 2 {
		t.Errorf("%d looks at what was found, after a second step", len(u.founds))
	}
}

// TestSuperseded: a step whose setting a later one set again cannot be taken
// back by itself.
func TestSuperseded(t *testing.T) {
	u := counted(24, 3, 0)
	u.kept = []done{{step: 0}, {step: 1}, {step: 2}}
	set := func(step int, what string, kept bool) record.Setting {
		return record.Setting{Host: "a", What: what, Step: step, Kept: kept}
	}
	u.out.Settings = []record.Setting{set(0, "rmem", true), set(1, "wmem", true), set(2, "rmem", true), set(3, "wmem", false)}
	for i, want := range []bool{true, false, false} {
		if got := u.superseded(i); got != want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}

// freshLook is a fresh look at the present state and traffic.
func freshLook(u *tuning, rate unit.BitRate) record.Trial {
	l := u.s.Load.Traffic
	return record.Trial{From: l.From, To: l.To, Direction: l.Direction, Streams: l.Streams, Ports: l.Ports, Goodput: rate, Started: u.c.cfg.Now()}
}
