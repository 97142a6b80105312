package states

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// The settings of a proof (`make prove-states`): how many states a run draws,
// and from which seed; PROVE_RUN is the run's number.
const (
	envStates = "PROVE_STATES"
	envSeed   = "PROVE_SEED"
	envRun    = "PROVE_RUN"
)

// sampleStates is how many states a test draws that is no proof.
const sampleStates = 2

// mostGap is the longest that a stream may be without bytes while everything is
// changed live: no second is without any.
const mostGap = time.Second

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// tally is what a run has seen.
type tally struct {
	states, steps, streams, refused int
	longest                         time.Duration
	kinds, options                  map[string]int
	modes                           map[string]int
}

func (y *tally) count(p plan.Plan) {
	for _, s := range p.Steps {
		y.steps++
		y.kinds[string(s.Kind)]++
		if s.Kind == plan.BondOption {
			y.options[s.Key]++
		}
	}
}

// chain is how many states follow each other on one host, the next drawn from
// the last.
const chain = 10

// TestStates draws states of a host, one after the other: each is planned,
// applied, read back, undone, read back, and applied again. Where the plan says
// that nothing is lost, a stream runs over the bond meanwhile.
func TestStates(t *testing.T) {
	seed := floor.Number(t, envSeed, floor.Draw(t))
	run := uint64(setting(envRun, 0))
	states := setting(envStates, sampleStates)
	y := &tally{kinds: make(map[string]int), options: make(map[string]int), modes: make(map[string]int)}
	start := time.Now()
	for first := 0; first < states; first += chain {
		t.Run(fmt.Sprintf("seed %d run %d from %d", seed, run, first), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, run<<32|uint64(first)))
			host := newStand(t)
			host.prepare()
			modes := r.Perm(len(netstate.BondModes()))
			for i := 0; i < min(chain, states-first) && !t.Failed(); i++ {
				observed := host.observe()
				mode := netstate.BondMode(modes[(i/2)%len(modes)])
				live, want := i%2 == 1, netstate.Host{}
				if live {
					want = alive(r, observed)
				} else {
					want = whole(r, observed, mode)
				}
				host.roundTrip(fmt.Sprintf("state %d (%s)", i, mode), y, observed, want, live)
			}
		})
	}
	t.Logf("%d states in a row, %d steps, %.0f s: applied, read back, undone and read back, applied again; %d streams, the longest time without bytes %v; kinds %v",
		y.states, y.steps, time.Since(start).Seconds(), y.streams, y.longest.Round(time.Millisecond), words(y.kinds))
	t.Logf("in a row by mode %v, bond options changed %v", words(y.modes), words(y.options))
	if y.refused > states/4 {
		t.Errorf("%d drawn states were refused by the plan, more than a quarter", y.refused)
	}
}

func words(counts map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(out, ", ")
}

// roundTrip brings the host to a wanted state and back, and there again.
func (s *stand) roundTrip(name string, y *tally, observed, want netstate.Host, live bool) {
	t := s.t
	t.Helper()
	p, err := plan.Between(observed, want)
	if err != nil {
		var rule *plan.RuleError
		if !errors.As(err, &rule) {
			t.Errorf("%s: %v", name, err)
		}
		y.refused++
		t.Logf("%s: not drawn well: %v", name, err)
		return
	}
	if len(p.Steps) == 0 {
		return
	}
	before := fields(observed)
	fail := func(what string, err any) {
		var steps []string
		for _, step := range p.Steps {
			steps = append(steps, step.Change())
		}
		t.Errorf("%s: %s: %v\n  of the plan\n  %s", name, what, err, strings.Join(steps, "\n  "))
	}
	s.vain = ""
	var flow *stream
	bond, there := observed.Link("bond0")
	if live && p.Worst() == plan.Online && p.Rollback().Worst() == plan.Online && there && bond.Up {
		waits := s.settled("bond0", bond.Bond.Ports)
		var ok bool
		if flow, ok = s.startStream(t, nearAddr("bond0"), farAddr("bond0")); !ok {
			fail("stream", "no connection over the bond as it is: "+waits)
			return
		}
	}
	id, err := s.apply(p)
	if err != nil {
		fail("apply", err)
	} else if lines := s.check(want, fields(want)); len(lines) > 0 {
		fail("after apply", "\n  "+strings.Join(lines, "\n  "))
	} else if err := s.rollback(id); err != nil {
		fail("roll back", err)
	} else if lines := differ(before, fields(s.observe()), always); len(lines) > 0 {
		fail("after rollback", "\n  "+strings.Join(lines, "\n  "))
	}
	if flow != nil {
		gap := flow.end()
		y.streams++
		y.longest = max(y.longest, gap)
		if gap >= mostGap {
			fail("stream", fmt.Sprintf("%v without bytes, though every step is online", gap))
		}
	}
	if s.vain != "" {
		fail("apply and roll back", s.vain)
	}
	if t.Failed() {
		return
	}
	y.states++
	y.count(p)
	if b, ok := want.Link("bond0"); ok {
		y.modes[b.Bond.Mode.String()]++
	}
	if id, err = s.apply(p); err != nil {
		fail("apply again", err)
	} else if err := s.confirm(id); err != nil {
		fail("confirm", err)
	}
}

func always(string) bool { return true }

// check compares the host as it is with the wanted one: by a new plan, which
// must be empty, and field by field as far as the wanted state says.
func (s *stand) check(want netstate.Host, wanted map[string]string) []string {
	now := s.observe()
	var lines []string
	if again, err := plan.Between(now, want); err != nil {
		lines = append(lines, fmt.Sprintf("a new plan: %v", err))
	} else {
		for _, step := range again.Steps {
			lines = append(lines, "still to do: "+step.Change())
		}
	}
	have := fields(now)
	return append(lines, differ(wanted, have, said(want))...)
}

// said reports the fields that a wanted state says something of.
func said(want netstate.Host) func(string) bool {
	return func(key string) bool {
		link, field, _ := strings.Cut(key, " ")
		if key == "route" || link == "route" || link == "rule" || link == "mptcp" {
			return true
		}
		if link == "sysctl" {
			_, ok := want.Sysctls[field]
			return ok
		}
		l, ok := want.Link(link)
		if !ok {
			return slices.Contains(want.Absent, link)
		}
		switch {
		case field == "mac":
			return !l.MAC.IsZero()
		case field == "macs":
			return false // each port's own, or the bond's: nobody asked for any
		case field == "mtu":
			return l.MTU != 0
		case strings.HasPrefix(field, "offload "):
			_, ok := l.Offloads[strings.TrimPrefix(field, "offload ")]
			return ok
		case field == "qdisc":
			return len(l.Qdiscs) > 0
		case field == "prio" || field == "queue_id":
			return l.Port != nil
		case strings.HasPrefix(field, "option "):
			name := strings.TrimPrefix(field, "option ")
			_, there := l.Bond.Options[name]
			r, _ := bondopt.Find(name)
			return r.Allows(l.Bond.Mode) && (there || r.Own())
		}
		return true
	}
}
