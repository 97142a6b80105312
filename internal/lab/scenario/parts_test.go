package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestParts: every row is measured once, rows that are set against each other in one part,
// and the parts' rows put together are the whole's in its order.
func TestParts(t *testing.T) {
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, n := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%s in %d", s.Name, n), func(t *testing.T) {
				parts := s.Parts(n)
				outcomes := make([]Outcome, n)
				longest, sum := time.Duration(0), time.Duration(0)
				for p, part := range parts {
					if len(part.Steps) != len(s.Steps) {
						t.Errorf("part %d has %d of %d steps", p, len(part.Steps), len(s.Steps))
					}
					outcomes[p] = eachRow(part)
					longest, sum = max(longest, part.Length()), sum+part.Length()
				}
				if got := s.Whole(outcomes); got.Error != "" || cmp.Diff(eachRow(s).Rows, got.Rows) != "" {
					t.Errorf("%s (-want +got):\n%s", got.Error, cmp.Diff(eachRow(s).Rows, got.Rows))
				}
				if s.Length() > 10*time.Minute && longest > sum/time.Duration(n)*11/10 {
					t.Errorf("the longest of %d takes %v of %v", n, longest, sum)
				}
				for p, part := range parts {
					if of := part.compared(); len(of) > 0 {
						for q, other := range parts {
							for _, step := range other.Steps {
								for _, m := range step.Measure {
									if q != p && of[m.pairing()] && !m.Keep {
										t.Errorf("%s is in part %d, and its ratio in part %d", m.pairing(), q, p)
									}
								}
							}
						}
					}
				}
			})
		}
	}
}

// eachRow is an outcome of which each row says what it is.
func eachRow(s Scenario) (o Outcome) {
	for i, step := range s.Steps {
		for _, m := range step.Measure {
			for k := range m.Rows() {
				from, to := m.Names()
				o.Rows = append(o.Rows, Row{Step: fmt.Sprint(i, step.Name), From: from, To: to, Tool: string(m.Tool), Direction: m.Direction, Streams: k, Kind: m.Kinds[k]})
			}
		}
	}
	return o
}

// TestWindows: --full takes the long windows, and the other is what a user asks for.
func TestWindows(t *testing.T) {
	s := Scenario{Steps: []Step{{Measure: []Measurement{
		{Tool: IPerf3, Duration: 4 * time.Second, Full: 8 * time.Second}, {Tool: Linerate, Duration: 3 * time.Second}, {Tool: Tune, Duration: time.Second}}}}}
	windows := func(s Scenario) (all []time.Duration) {
		for _, m := range s.Steps[0].Measure {
			all = append(all, m.Duration)
		}
		return all
	}
	for _, c := range []struct {
		got  Scenario
		want []time.Duration
	}{
		{s.InFull(), []time.Duration{8 * time.Second, 3 * time.Second, time.Second}},
		{s.Windowed(2 * time.Second), []time.Duration{2 * time.Second, 2 * time.Second, time.Second}},
		{s, []time.Duration{4 * time.Second, 3 * time.Second, time.Second}},
	} {
		if d := cmp.Diff(c.want, windows(c.got)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}
