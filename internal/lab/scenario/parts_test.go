package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/record"
)

// TestParts: every row is measured once, rows that are set against each other in one part,
// and the parts' rows put together are the whole's in its order.
func TestParts(t *testing.T) {
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var forms []Scenario
	for _, s := range all {
		forms = append(forms, s, s.InFull(), s.Windowed(2*time.Second), s.Windowed(10*time.Second))
	}
	for k, s := range forms {
		for _, n := range []int{1, 2, 3, 8} {
			if n > s.MostParts() {
				continue
			}
			t.Run(fmt.Sprintf("%s %d in %d", s.Name, k, n), func(t *testing.T) {
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
	o.Scenario = s.Name
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

// TestWholeOfSome: what parts that failed or were not run leave is put together all the same.
func TestWholeOfSome(t *testing.T) {
	s, _, err := Named("ovh-vrack")
	if err != nil {
		t.Fatal(err)
	}
	parts := s.Parts(2)
	second := eachRow(parts[1])
	second.Kernel, second.Scale = "6.1", 120
	if o := s.Whole([]Outcome{{}, second}); o.Scenario != s.Name || len(o.Rows) != len(second.Rows) || o.Error == "" || o.Kernel != "6.1" || o.Scale != 120 {
		t.Errorf("without the first: %q, %d of %d rows, error %q, kernel %s", o.Scenario, len(o.Rows), len(second.Rows), o.Error, o.Kernel)
	}
	if o := s.Whole([]Outcome{{}, {}}); o.Scenario != "" {
		t.Errorf("of none: %+v", o)
	}
	alone := record.Finding{Step: "tuned from the default", From: "rbx", To: "sbg"}
	for p := range parts {
		both := []Outcome{eachRow(parts[0]), eachRow(parts[1])}
		both[p].Findings = []record.Finding{alone}
		if o := s.Whole(both); len(o.Findings) != 1 {
			t.Errorf("a tune that part %d alone did: findings %v", p, o.Findings)
		}
	}
	long := Measurement{Tool: Linerate, From: "a", To: "b", Streams: []int{1, 2, 4, 8}, Kinds: []Kind{Rate, Rate, Rate, Rate}, Duration: 20 * time.Second}
	s = Scenario{Name: "kept", Steps: []Step{
		{Name: "tuned", Measure: []Measurement{{Tool: Tune, From: "a", To: "b", Keep: true, Kinds: []Kind{Best}}}},
		{Name: "then", Measure: []Measurement{long, long}}}}
	parts = s.Parts(2)
	finding := record.Finding{Step: "tuned", From: "a", To: "b"}
	first, second := eachRow(parts[0]), eachRow(parts[1])
	first.Findings, second.Findings = []record.Finding{finding}, []record.Finding{finding}
	first.Notes, second.Notes = []string{"a"}, []string{"a", "b"}
	if o := s.Whole([]Outcome{first, second}); len(o.Findings) != 1 || len(o.Notes) != 2 || len(o.Rows) != 9 || len(first.Rows) != 5 || len(second.Rows) != 5 {
		t.Errorf("a tune that both did: findings %v, notes %v, rows %d of %d and %d", o.Findings, o.Notes, len(o.Rows), len(first.Rows), len(second.Rows))
	}
}
