package measure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// cable is an endpoint whose one link goes down and up.
type cable struct {
	did      []string
	applied  chan struct{} // closed when the link is down
	refuses  error
	left     []string
	deadline time.Duration
}

func (c *cable) Ask(ctx context.Context, _ agentapi.AnyMethod, request, reply any) (err error) {
	switch r := request.(type) {
	case agentapi.ApplyRequest:
		*reply.(*agentapi.ApplyReply), err = c.apply(r)
	case agentapi.RollbackRequest:
		*reply.(*agentapi.RollbackReply), err = c.rollback(ctx, r)
	default:
		err = errors.ErrUnsupported
	}
	return err
}

func (c *cable) apply(r agentapi.ApplyRequest) (agentapi.ApplyReply, error) {
	if c.refuses != nil {
		return agentapi.ApplyReply{}, c.refuses
	}
	s := r.Plan.Steps[0]
	c.did = append(c.did, s.Link+" "+s.New)
	c.deadline = r.Deadline
	if !r.Temporary || s.Kind != plan.LinkState || s.Old != plan.Up {
		c.did = append(c.did, "without a guard")
	}
	close(c.applied)
	return agentapi.ApplyReply{Journal: "j1", Applied: 1}, nil
}

func (c *cable) rollback(ctx context.Context, r agentapi.RollbackRequest) (agentapi.RollbackReply, error) {
	if ctx.Err() != nil {
		return agentapi.RollbackReply{}, ctx.Err()
	}
	c.did = append(c.did, "back "+r.Journal)
	return agentapi.RollbackReply{Left: c.left}, nil
}

// TestLinkComesBack: however the window ends, a link that was taken down is put
// back, and the error is told.
func TestLinkComesBack(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		cable cable
		f     Failing
		cut   bool // the run is interrupted while the link is down
		want  []string
		err   string
	}{
		{"its time is over", cable{}, Failing{"alpha", "eth0", ms, ms}, false, []string{"eth0 down", "back j1"}, ""},
		{"interrupted", cable{}, Failing{"alpha", "eth0", ms, time.Hour}, true, []string{"eth0 down", "back j1"}, ""},
		{"of another host", cable{}, Failing{"gamma", "eth0", ms, ms}, false, nil, ""},
		{"refused", cable{refuses: errDown}, Failing{"alpha", "eth0", ms, ms}, false, nil, "take eth0 of alpha down: down"},
		{"somebody else changed it", cable{left: []string{"eth0: it is gone"}}, Failing{"alpha", "eth0", ms, ms}, false, []string{"eth0 down", "back j1"}, "put eth0 of alpha back up: eth0: it is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cable.applied = make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := &round{cfg: Config{Network: Network{Endpoints: map[string]ask.Host{"alpha": &c.cable}}}}
			r.trials = []*trial{{spec: Spec{From: "alpha", To: "beta", Fail: &c.f}}}
			r.ends = ends{receiving(1e6)}
			stop := r.failLinks(ctx)
			if c.want != nil {
				<-c.cable.applied
			}
			if c.cut {
				cancel()
			} else {
				time.Sleep(20 * ms) // the window goes on for longer than the link is gone
			}
			err := stop()
			if err == nil && c.err != "" || err != nil && (c.err == "" || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if !slices.Equal(c.cable.did, c.want) {
				t.Errorf("%q, want %q", c.cable.did, c.want)
			}
			if c.want != nil && c.cable.deadline < c.f.For {
				t.Errorf("the host rolls itself back after %v, before it is to", c.cable.deadline)
			}
			if got, want := r.poll(), map[bool]time.Duration{true: failPoll, false: pollEvery}[c.f.Host == "alpha"]; got != want {
				t.Errorf("sampled every %v, want %v", got, want)
			}
		})
	}
}

// TestFailUnsupported: of a host that nobody can ask, no link is taken down.
func TestFailUnsupported(t *testing.T) {
	r := &round{cfg: Config{Network: Network{}}, ends: ends{receiving(1e6)}}
	r.trials = []*trial{{spec: Spec{From: "alpha", To: "beta", Fail: &Failing{Host: "alpha", Link: "eth0"}}}}
	if err := r.failLinks(t.Context())(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, want ErrUnsupported", err)
	}
}

// bounds is a Care that halts beyond a number of bytes.
type bounds struct{ moved, most unit.Bytes }

func (b *bounds) Moved(n unit.Bytes) { b.moved += n }
func (b *bounds) Halt(next unit.Bytes) string {
	if b.moved+next > b.most {
		return StopSeconds
	}
	return ""
}

func (b *bounds) Left() float64 { return max(1-float64(b.moved)/float64(b.most), 0) }

// TestCramped: a warm-up leaves half of what the run's bounds left it to the
// window; so narrow ones that half a second passes them end the trial.
func TestCramped(t *testing.T) {
	rates := []unit.BitRate{8e6, 8e6, 8e6} // 600 kB have come
	for _, c := range []struct {
		name  string
		own   unit.Bytes
		care  *bounds
		began float64
		warm  time.Duration
		want  bool
	}{
		{"no bounds", 0, nil, 1, time.Hour, false},
		{"a third of its bytes", 1.8e6, nil, 1, time.Second, false},
		{"more than half", 1.1e6, nil, 1, time.Second, true},
		{"of so few that nothing could be seen", 1.1e6, nil, 1, 300 * time.Millisecond, false},
		{"passed", 500e3, nil, 1, time.Second, true},
		{"a quarter of the run's", 0, &bounds{moved: 2.5e6, most: 1e7}, 1, time.Second, false},
		{"the run's, of which another trial took the most", 0, &bounds{moved: 6e6, most: 1e7}, 0.6, time.Second, false},
		{"and this one half of the rest", 0, &bounds{moved: 7.1e6, most: 1e7}, 0.6, time.Second, true},
	} {
		r := &round{ends: ends{receiving(rates...)}, trials: []*trial{{spec: Spec{MaxBytes: c.own}}}}
		if c.care != nil {
			r.cfg.Care = c.care
		}
		if got := r.cramped(c.began, c.warm); got != c.want {
			t.Errorf("%s: %t with %.2f left", c.name, got, r.left())
		}
	}
}

func TestHalt(t *testing.T) {
	// 8 Mb/s for three polls: 600 kB have come, and 200 kB come until the next.
	rates := []unit.BitRate{8e6, 8e6, 8e6}
	for _, c := range []struct {
		name string
		max  unit.Bytes
		care *bounds
		want string
	}{
		{"no bounds", 0, nil, ""},
		{"far below the cap", 2e6, nil, ""},
		{"the next poll would pass it", 700e3, nil, StopBytes},
		{"passed", 500e3, nil, StopBytes},
		{"the run lets it", 0, &bounds{most: 1e6}, ""},
		{"the run does not", 0, &bounds{most: 700e3}, StopSeconds},
		{"the run's word is first", 500e3, &bounds{most: 700e3}, StopSeconds},
	} {
		r := &round{ends: ends{receiving(rates...)}, trials: []*trial{{spec: Spec{MaxBytes: c.max}}}}
		if c.care != nil {
			r.cfg.Care = c.care
		}
		for range 2 { // told once of what arrived once
			if got := r.halt(); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		if c.care != nil && (c.care.moved < 600e3 || c.care.moved > 602e3) {
			t.Errorf("%s: told of %v", c.name, c.care.moved)
		}
		if err := r.haltWarm(); errors.Is(err, ErrHalted) != (c.want != "") {
			t.Errorf("%s: %v before the window", c.name, err)
		}
	}
	if disturbed(record.Trial{Stop: StopWatch}, 0.9) != "" || disturbed(record.Trial{Outages: []record.Outage{{}}}, 0.9) != "" {
		t.Error("a trial that was cut short, or lost a link, is measured again")
	}
	if got := (Spec{Rate: 8e6}).ratePerStream(4); got != 2e6 {
		t.Errorf("a quarter of 8 Mbit/s is %v", got)
	}
}

// TestLateness: the window waits for a failure that comes late, and for no
// other.
func TestLateness(t *testing.T) {
	var l lateness
	if l.now() != 0 {
		t.Error("late without a failure")
	}
	l.begin(time.Hour)
	if l.now() != 0 {
		t.Error("late before it is due")
	}
	l.begin(2 * time.Hour)
	l.end()
	if l.now() != 0 {
		t.Error("late though it came in time")
	}
	l = lateness{due: time.Now().Add(-time.Second)}
	if l.now() < time.Second {
		t.Errorf("%v late, a second after it was due", l.now())
	}
	l.end()
	first := l.now()
	l.end()
	if first < time.Second || l.now() != first {
		t.Errorf("%v late, then %v", first, l.now())
	}
}
