package overssh

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/run/rounds"
	"github.com/linerate/linerate/record"
)

// compareRecords holds each trial to the same one of another record, known by its
// ID, and returns how far their goodput differs, as shares of the ceiling.
func compareRecords(t *testing.T, name string, rec, with record.Record, n int) (apart []float64) {
	t.Helper()
	if pairs := n * (n - 1) / 2; len(rec.Trials) != pairs || len(with.Trials) != pairs {
		t.Fatalf("%s: %d trials and %d to compare with, want %d each", name, len(rec.Trials), len(with.Trials), pairs)
	}
	ids := results.TrialIDs(with.Trials)
	for i, id := range results.TrialIDs(rec.Trials) {
		one, at := rec.Trials[i], slices.Index(ids, id)
		if at < 0 {
			t.Fatalf("%s: nobody else has %s to %s, trial %s", name, one.From, one.To, id)
		}
		other := with.Trials[at]
		if one.Ceiling != other.Ceiling {
			t.Errorf("%s: %s to %s has the ceiling %v, else %v", name, one.From, one.To, one.Ceiling, other.Ceiling)
		}
		d := math.Abs(float64(one.Goodput-other.Goodput)) / float64(one.Ceiling)
		if apart = append(apart, d); d > mostApart {
			t.Errorf("%s: %s to %s: %v, in namespaces %v", name, one.From, one.To, one.Goodput, other.Goodput)
		}
		if share := float64(one.Goodput / one.Ceiling); share < 0.95 || share > 1.015 { // a full bucket more than the rate
			t.Errorf("%s: %s to %s carries %.3f of its ceiling %v", name, one.From, one.To, share, one.Ceiling)
		}
	}
	return apart
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// better is each trial as it went best.
func better(a, b record.Record) record.Record {
	for i, one := range a.Trials {
		for _, other := range b.Trials {
			if other.From == one.From && other.To == one.To && other.Goodput > one.Goodput {
				a.Trials[i] = other
			}
		}
	}
	return a
}

// furthest is how far the same trial's goodput differs the most, as a share of
// the ceiling.
func furthest(a, b record.Record) (apart float64) {
	for _, one := range a.Trials {
		for _, other := range b.Trials {
			if other.From == one.From && other.To == one.To {
				apart = max(apart, math.Abs(float64(one.Goodput-other.Goodput))/float64(one.Ceiling))
			}
		}
	}
	return apart
}

func share(r record.Record) []float64 {
	var out []float64
	for _, t := range r.Trials {
		out = append(out, float64(t.Goodput/t.Ceiling))
	}
	return out
}

func least(r record.Record) float64 { return slices.Min(share(r)) }
func most(r record.Record) float64  { return slices.Max(share(r)) }

// conflictFree goes by when each trial was measured, not by what was planned:
// no two at the same time share a host, and there are n-1 rounds.
func conflictFree(t *testing.T, r record.Record, n int) int {
	t.Helper()
	var tests []rounds.Test
	for _, one := range r.Trials {
		tests = append(tests, rounds.Test{A: one.From, B: one.To})
	}
	if turns := rounds.Rounds(tests); len(turns) != n-1 {
		t.Errorf("%d rounds for %d hosts, want %d", len(turns), n, n-1)
	}
	ends := func(t record.Trial) time.Time {
		return t.Started.Add(time.Duration(t.Window * float64(time.Second)))
	}
	trials := slices.Clone(r.Trials)
	slices.SortFunc(trials, func(a, b record.Trial) int { return a.Started.Compare(b.Started) })
	var over time.Time // when the last of the round is over
	rounds := 0
	for i, one := range trials {
		if !one.Started.Before(over) {
			rounds++
		}
		if e := ends(one); e.After(over) {
			over = e
		}
		for _, other := range trials[:i] {
			shared := one.From == other.From || one.From == other.To || one.To == other.From || one.To == other.To
			if shared && one.Started.Before(ends(other)) {
				t.Errorf("%s to %s and %s to %s were measured at the same time", one.From, one.To, other.From, other.To)
			}
		}
	}
	if rounds != n-1 {
		t.Errorf("the trials ran in %d rounds, want %d", rounds, n-1)
	}
	return rounds
}
