package tuning

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	window   = 3 * time.Second // of every measurement of the proof
	rounds   = 3               // that the contenders take, by turns
	finalist = 2               // points of the grid that are measured again
)

// TestTuning is one scenario of the proof, PROVE_RUN says which; without it a
// small one of the day.
func TestTuning(t *testing.T) {
	if os.Getenv(guest.EnvGuest) != "" {
		furnish(t)
	}
	part := part(t)
	if part == 0 {
		sample(t)
		return
	}
	all, _ := parts()
	all[part-1].run(t)
}

// proofPart is one part of the proof; a scenario's has its name.
type proofPart struct {
	name string
	run  func(*testing.T)
}

// parts are all, in their order: those that may be proven beside another lab, and
// at the end those that want the machine to themselves, so many: what packets that
// are dealt out one by one carry depends on when each is sent.
func parts() (all []proofPart, alone int) {
	var last []proofPart
	for _, s := range scenarios() {
		p := proofPart{s.name, func(t *testing.T) { prove(t, s) }}
		if s.bond && s.mode == netstate.BalanceRR {
			last = append(last, p)
		} else {
			all = append(all, p)
		}
	}
	for _, links := range []int{2, 3, 4} {
		all = append(all, proofPart{run: func(t *testing.T) { everyLink(t, links) }})
	}
	return append(all, last...), len(last)
}

// furnish makes of the lab's kernel a host: sockets may ask for as much as
// they are given, and there is a place for the journal.
func furnish(t *testing.T) {
	t.Helper()
	for _, key := range []string{"rmem_max", "wmem_max"} {
		floor.Must(t, os.WriteFile("/proc/sys/net/core/"+key, []byte("8388608"), 0o644))
	}
	floor.Must(t, sys.Mount("tmpfs", "/var/lib", "tmpfs", ""))
}

// part is which part of the proof is asked for; zero is none. Two halves of
// the proof may run at the same time, PROVE_HALF of 1 the odd parts; then come,
// as PROVE_HALF of 3, those that run alone.
func part(t *testing.T) int {
	t.Helper()
	all, alone := parts()
	if name := os.Getenv("PROVE_SCENARIO"); name != "" {
		i := slices.IndexFunc(all, func(p proofPart) bool { return p.name == name })
		if i < 0 {
			t.Fatalf("no scenario is called %s", name)
		}
		return 1 + i
	}
	run, half := number(t, "PROVE_RUN"), number(t, "PROVE_HALF")
	if half == 3 && run > 0 {
		return len(all) - alone + run
	}
	if half > 0 && run > 0 {
		return 2*run - 2 + half
	}
	return run
}

func number(t *testing.T, name string) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// prove is one line of the proof.
func prove(t *testing.T, what scenario) {
	s := build(t, what)
	r := row{scenario: what.name, ceiling: mega(what.ceiling())}
	points := s.sweep(grid(what), window)
	r.points, r.swept = len(points), mega(points[0].rate)
	tuned := s.tune()
	r.windows, r.traffic, r.rolledBack = tuned.windows, tuned.traffic.Seconds(), tuned.rolledBack
	r.did, r.best = tuned.summary(), points[0].setting.String()
	t.Logf("%v: tune claimed %.1f Mbit/s, took %.1f s", what, mega(tuned.claimed), tuned.took.Seconds())
	for _, p := range points[:min(4, len(points))] {
		t.Logf("  the grid: %.1f Mbit/s: %v", mega(p.rate), p.setting)
	}
	s.compare(&r, points[:min(finalist, len(points))], tuned)
	t.Log(r)
}

// point is a setting and what it carried.
type point struct {
	setting setting
	rate    unit.BitRate
}

// sweep measures every point of the grid and returns them, the best first. A
// point at which nothing gets through carries nothing.
func (s *stand) sweep(grid []setting, window time.Duration) (points []point) {
	s.t.Helper()
	begun := time.Now()
	for _, g := range grid {
		trial, err := s.trial(g, window)
		if err != nil {
			s.t.Logf("  the grid: %v: %v", g, err)
		}
		points = append(points, point{g, trial.Goodput})
		s.details(fmt.Sprintf("%6.1f after %.1f s: %v", mega(trial.Goodput), trial.WarmUp, g))
	}
	s.t.Logf("%s: a grid of %d points at %.1f s each, 1 to 8 streams, to %.1f Mbit/s", s.what.name, len(grid), time.Since(begun).Seconds()/float64(len(grid)), mega(s.what.ceiling()))
	slices.SortStableFunc(points, func(a, b point) int { return int(math.Copysign(1, float64(b.rate-a.rate))) })
	return points
}

// turn is one contender's measurement in a round.
type turn struct {
	into    *float64
	measure func() (record.Trial, error)
}

// compare measures all contenders by turns; each is the median of its turns.
func (s *stand) compare(r *row, finalists []point, tuned tuned) {
	s.t.Helper()
	var best [finalist]float64
	laid := func(what setting) func() (record.Trial, error) {
		return func() (record.Trial, error) { return s.trial(what, window) }
	}
	worn := func(run func() (record.Trial, error)) func() (record.Trial, error) {
		return func() (record.Trial, error) {
			s.lay(asFound(s.what))
			off := s.wear(tuned)
			defer off()
			defer s.forget()
			return run()
		}
	}
	turns := []turn{
		{&r.found, laid(asFound(s.what))},
		{&r.profile, laid(profile(s.what))},
		{&r.refound, laid(asFound(s.what))},
		{&r.research, laid(research(s.what))},
		{&r.linerate, worn(func() (record.Trial, error) { return s.again(tuned, window) })},
		{&r.kept, worn(func() (record.Trial, error) { return s.run(asFound(s.what), window) })},
	}
	if s.what.article != nil {
		turns = append(turns, turn{&r.article, laid(s.what.article.scaled(s.what.windows))})
	}
	for i, p := range finalists {
		p.setting.ports = "chosen" // at its best: not as luck dealt its ports
		turns = append(turns, turn{&best[i], laid(p.setting)})
	}
	s.inTurns(turns)
	r.again = slices.Max(best[:])
}

func (s *stand) inTurns(turns []turn) {
	s.t.Helper()
	rates := make([][]float64, len(turns))
	for range rounds {
		for i, turn := range turns {
			trial, err := turn.measure()
			if err != nil {
				s.t.Logf("  a contender carried nothing: %v", err)
			}
			rates[i] = append(rates[i], mega(trial.Goodput))
		}
	}
	for i, turn := range turns {
		s.details(fmt.Sprintf("turn %d: %.1f", i, rates[i]))
		slices.Sort(rates[i])
		*turn.into = rates[i][rounds/2]
	}
}

func mega[T ~float64](v T) float64 { return float64(v) / 1e6 }
