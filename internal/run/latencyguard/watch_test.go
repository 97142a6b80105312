package latencyguard

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// lost marks an echo that did not come back.
const lost = time.Duration(-1)

func TestWatch(t *testing.T) {
	nine := []time.Duration{9 * ms, 8 * ms, 9 * ms, 30 * ms, 9 * ms}
	for _, c := range []struct {
		name   string
		rule   Rule
		idle   []time.Duration
		echoes []time.Duration
		end    int // index of the echo that ends the run, -1 none
		why    string
	}{
		{"in time", Rule{}, nine, []time.Duration{9 * ms, 26 * ms, 27 * ms, 27 * ms}, -1, ""},
		{"one outlier", Rule{}, nine, []time.Duration{9 * ms, 500 * ms, 9 * ms, 400 * ms, 400 * ms, 9 * ms}, -1, ""},
		{"three in a row", Rule{}, nine, []time.Duration{9 * ms, 28 * ms, 41 * ms, 30 * ms}, 3, "3 echoes in a row took up to 41 ms; idle 9.00 ms, allowed 27 ms"},
		{"lost", Rule{}, nine, []time.Duration{lost, lost, lost}, 2, "3 echoes in a row got no answer; idle 9.00 ms, allowed 27 ms"},
		{"late and lost", Rule{}, nine, []time.Duration{28 * ms, lost, 28 * ms}, 2, "3 echoes in a row took up to 28 ms or no answer came (1); idle 9.00 ms, allowed 27 ms"},
		{"lost between answers", Rule{}, nine, []time.Duration{lost, lost, 9 * ms, lost, lost}, -1, "2 echoes in a row got no answer; idle 9.00 ms, allowed 27 ms"},
		{"short path: the floor", Rule{}, []time.Duration{100 * time.Microsecond}, []time.Duration{ms, ms, 2 * ms, 2100 * time.Microsecond}, -1, ""},
		{"short path: above the floor", Rule{}, []time.Duration{100 * time.Microsecond}, []time.Duration{3 * ms, 3 * ms, 3 * ms}, 2, "3 echoes in a row took up to 3.00 ms; idle 0.10 ms, allowed 2.10 ms"},
		{"own rule", Rule{Factor: 1.5, Floor: ms, Run: 1}, nine, []time.Duration{13 * ms, 14 * ms}, 1, "1 echo took up to 14 ms; idle 9.00 ms, allowed 14 ms"},
	} {
		w, err := c.rule.New(len(c.idle), c.idle)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		end := -1
		for i, e := range c.echoes {
			risen := e != lost && w.Answered(e) || e == lost && w.Lost()
			if risen && end < 0 {
				end = i
			}
		}
		if end != c.end || w.Why() != c.why {
			t.Errorf("%s: ended at %d, %q; want %d, %q", c.name, end, w.Why(), c.end, c.why)
		}
	}
}

func TestNoWatch(t *testing.T) {
	for _, c := range []struct {
		name string
		rule Rule
		sent int
		idle []time.Duration
		want error
	}{
		{"silent", Rule{}, 10, nil, ErrSilent},
		{"hardly answers", Rule{}, 10, []time.Duration{ms, ms, ms, ms}, ErrSilent},
		{"half", Rule{}, 10, []time.Duration{ms, ms, ms, ms, ms}, nil},
		{"a factor that nothing passes", Rule{Factor: 1}, 1, []time.Duration{ms}, ErrRule},
		{"negative floor", Rule{Floor: -1}, 1, []time.Duration{ms}, ErrRule},
		{"negative run", Rule{Run: -1}, 1, []time.Duration{ms}, ErrRule},
	} {
		if _, err := c.rule.New(c.sent, c.idle); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestNeverOnChance: as long as no three echoes in a row are late the run goes
// on, whatever they are; and three in a row end it wherever they stand.
func TestNeverOnChance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, err := Rule{}.New(1, []time.Duration{ms})
		if err != nil {
			t.Fatal(err)
		}
		late := rapid.SliceOf(rapid.Bool()).Draw(t, "late")
		ended := false
		for _, l := range late {
			if l {
				ended = w.Lost() || ended
			} else {
				w.Answered(ms)
			}
		}
		want := false
		for i := range late {
			want = want || i >= 2 && !slices.Contains(late[i-2:i+1], false)
		}
		if ended != want {
			t.Fatalf("%v: ended %v", late, ended)
		}
	})
}
