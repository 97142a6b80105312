package trial_test

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

var ratePrinted = regexp.MustCompile(`[0-9.]+ [kMGT]?bit/s`)

// possible is what the wider of the two hosts' links can carry in all, in truth.
func possible(r record.Record) (most unit.BitRate) {
	for _, h := range r.Environment.Hosts {
		var sum unit.BitRate
		for _, l := range h.Links {
			if l.Bond == nil && l.VLAN == nil && l.Kind != "bridge" {
				sum += l.Speed
			}
		}
		most = max(most, sum)
	}
	if r.Trials[0].Direction == flow.Both {
		most *= 2
	}
	return most
}

// forget takes the speeds of some links out of a record, and all that was counted by them.
func forget(rnd *rand.Rand, r *record.Record, share float64) {
	unknown := map[string]bool{}
	for i := range r.Environment.Hosts {
		h := &r.Environment.Hosts[i]
		for j := range h.Links {
			if rnd.Float64() < share {
				h.Links[j].Speed, h.Links[j].Qdiscs = 0, nil
				unknown[h.Name+" "+h.Links[j].Name] = true
			}
		}
	}
	t := &r.Trials[0]
	t.Ceiling, t.Predicted = 0, 0
	for i := range t.Links {
		if unknown[t.Links[i].Host+" "+t.Links[i].Link] {
			t.Links[i].Ceiling = 0
		}
	}
	if share < 1 {
		return
	}
	for i := range r.Fabric.Paths {
		r.Fabric.Paths[i].Rate = 0
	}
}

// TestUnknownSpeeds: where links' speeds are unknown no figure is told that they cannot
// have, and what is told with certainty is true.
func TestUnknownSpeeds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(20261126, 3))
	sure, right := 0, 0
	for _, file := range []string{"faults.json.gz", "field.json.gz"} {
		all := corpus(t, filepath.Join("testdata", file))
		for _, name := range slices.Sorted(maps.Keys(all)) {
			f := all[name]
			if len(f.Record.Trials) == 0 {
				continue
			}
			most := possible(f.Record)
			for _, share := range []float64{1, 0.5, 0.5, 0.25} {
				changed := copied(t, f.Record)
				forget(rnd, &changed, share)
				found := judged(changed)
				if found.Expected > most && most > 0 {
					t.Errorf("%s: %s: speeds unknown %.0f %%: %v expected where links carry %v", name, f.Setup, 100*share, found.Expected, most)
				}
				for _, text := range ratePrinted.FindAllString(found.Summary, -1) {
					if rate, err := unit.ParseBitRate(text); err == nil && rate > most && most > 0 {
						t.Errorf("%s: %s: speeds unknown %.0f %%: %q tells of %v where links carry %v", name, f.Setup, 100*share, found.Summary, rate, most)
					}
				}
				if found.Confidence >= 0.9 {
					sure++
					if f.right(found) {
						right++
					} else {
						t.Logf("%s: %s: speeds unknown %.0f %%: named %s by %.2f: %s", name, f.Setup, 100*share, found.Cause, found.Confidence, found.Summary)
					}
				}
			}
		}
	}
	t.Logf("%d of %d right at 90 %% or more", right, sure)
	if sure < 100 || float64(right) < 0.9*float64(sure) {
		t.Errorf("%d of %d right at 90 %% or more", right, sure)
	}
}
