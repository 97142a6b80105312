package campaign

import (
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// counted is a tune that has spent some of its budget, and looked at what it
// found a while ago.
func counted(windows, spent int, ago time.Duration) *tuning {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &Campaign{cfg: Config{Now: func() time.Time { return now }}}
	u := c.begin(Tuning{Path: fabric.Path{From: "a", To: "b"}, Direction: flow.Both, Budget: tune.Budget{MostWindows: windows}})
	u.spent.Windows = spent
	u.found.Trial = freshSample(u, 1e9)
	u.found.Started = now.Add(-ago)
	u.s.Trials = []record.Trial{u.found.Trial}
	return u
}

// TestFewWindows: the search spends what is there but the proof of the result,
// and a look at the first traffic where other traffic proves a change of hosts.
func TestFewWindows(t *testing.T) {
	hosts := map[string]netstate.Host{"a": {}}
	for _, c := range []struct {
		name           string
		windows, spent int
		ago            time.Duration
		streams        int
		hosts          map[string]netstate.Host
		want           string
	}{
		{"before, one change, after", 3, 1, 0, 1, hosts, ""},
		{"the second change of five", 5, 2, 0, 1, hosts, ""},
		{"the last but the proof", 5, 4, 0, 1, hosts, "windows"},
		{"A must be taken again", 3, 1, time.Minute, 1, hosts, "windows"},
		{"there is room for A", 4, 1, time.Minute, 1, hosts, ""},
		{"the first traffic is to be looked at", 5, 3, 0, 2, hosts, "windows"},
		{"there is room for it", 6, 3, 0, 2, hosts, ""},
		{"no host is changed", 5, 3, 0, 2, nil, ""},
	} {
		u := counted(c.windows, c.spent, c.ago)
		p := tune.Proposal{ProofA: u.s.Load, ProofB: u.s.Load, Hosts: c.hosts}
		p.ProofB.Traffic.Streams = c.streams
		if got := u.full(u.needs(p)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLookedAtFound: what is held against the result are all looks at what was
// found, and none under another traffic.
func TestLookedAtFound(t *testing.T) {
	u := counted(24, 3, 0)
	u.founds = u.s.Trials
	again, other := freshSample(u, 1.1e9), freshSample(u, 2e9)
	other.Streams = 2
	u.s.Trials = append(u.s.Trials, again, other)
	u.kept = [][]change{nil}
	u.lookedAtFound()
	if len(u.founds) != 2 || u.founds[1].Goodput != again.Goodput {
		t.Errorf("%d looks at what was found", len(u.founds))
	}
	u.kept = append(u.kept, nil)
	u.s.Trials = []record.Trial{other}
	u.lookedAtFound()
	if len(u.founds) != 2 {
		t.Errorf("%d looks at what was found, after a second step", len(u.founds))
	}
}

// freshSample is a fresh look at the present state and traffic.
func freshSample(u *tuning, rate unit.BitRate) record.Trial {
	l := u.s.Load.Traffic
	return record.Trial{From: l.From, To: l.To, Direction: l.Direction, Streams: l.Streams, Ports: l.Ports, Goodput: rate, Started: u.c.cfg.Now()}
}
