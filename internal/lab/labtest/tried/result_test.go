package tried

import "testing"

func TestMeasure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rates []float64
		got   float64
		kept  bool
		asked int
	}{
		"two within settle it":               {[]float64{92, 98, 1}, 92, true, 2},
		"two short settle it, not a third":   {[]float64{70, 80, 100}, 70, false, 2},
		"two above settle it":                {[]float64{120, 130, 100}, 120, false, 2},
		"one short, the third within":        {[]float64{70, 96, 94}, 94, true, 3},
		"one within is no remedy that keeps": {[]float64{70, 100, 80}, 80, false, 3},
		"short and above, the third between": {[]float64{50, 150, 101}, 101, true, 3},
		"nothing arrives":                    {[]float64{0, 0, 100}, 0, false, 2},
	} {
		asked := 0
		r := Result{Promised: 100}
		r.Measure(func() (float64, string) { asked++; return c.rates[asked-1], "pacing" })
		if r.Got != c.got || r.Kept() != c.kept || asked != c.asked {
			t.Errorf("%s: got %v, kept %v after %d; want %v, %v after %d", name, r.Got, r.Kept(), asked, c.got, c.kept, c.asked)
		}
		if again := Read(r.String()); again.Kept() != c.kept || (again.Then == "pacing") == c.kept {
			t.Errorf("%s: %q is read as %+v", name, r, again)
		}
	}
}
