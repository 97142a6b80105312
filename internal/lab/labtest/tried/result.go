package tried

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Near is how near to what is promised a remedy must come.
const Near = 0.10

// Result is what came of one remedy. The zero value is none that was looked at.
type Result struct {
	// Left is why it was not tried; Failed is the command that failed, with its error.
	Left, Failed string
	// Promised and Got are in Mbit/s; Promised 0 where none was.
	Promised, Got float64
}

// Kept reports a remedy that brought what was promised for it.
func (r Result) Kept() bool {
	return r.Failed == "" && r.Left == "" && r.Promised > 0 && r.side(r.Got) == 0
}

// side is where a rate lies of what is promised: -1 short of it, 0 near, 1 above.
func (r Result) side(got float64) int {
	switch {
	case got < r.Promised*(1-Near):
		return -1
	case got > r.Promised*(1+Near):
		return 1
	}
	return 0
}

// Measure sets what was got to the median of three measurements. Two that lie on the same
// side of what is promised settle where the median lies: then they are all, and their mean
// is told.
func (r *Result) Measure(rate func() float64) {
	all := []float64{rate(), rate()}
	if r.Got = (all[0] + all[1]) / 2; r.side(all[0]) == r.side(all[1]) {
		return
	}
	all = append(all, rate())
	slices.Sort(all)
	r.Got = all[1]
}

// String is the end of a proof's line; "" for none.
func (r Result) String() string {
	switch {
	case r == Result{}:
		return ""
	case r.Failed != "":
		return fmt.Sprintf("; remedy failed [%s]", strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(r.Failed))
	case r.Left != "":
		return fmt.Sprintf("; remedy not tried [%s]", r.Left)
	}
	return fmt.Sprintf("; remedy tried: expected %.1f, got %.1f", r.Promised, r.Got)
}

var line = regexp.MustCompile(`; remedy (?:failed \[([^]]*)\]|not tried \[([^]]*)\]|tried: expected ([\d.]+), got ([\d.]+))`)

// Read is the result in a proof's line; the zero value where it has none.
func Read(text string) Result {
	m := line.FindStringSubmatch(text)
	if m == nil {
		return Result{}
	}
	// Digits by the pattern.
	promised, _ := strconv.ParseFloat(m[3], 64)
	got, _ := strconv.ParseFloat(m[4], 64)
	return Result{Failed: m[1], Left: m[2], Promised: promised, Got: got}
}

// Count is what came of the remedies of one cause.
type Count struct{ Tried, Kept, Beyond, Left int }

// Tally counts by cause.
type Tally map[string]*Count

// Add counts a result.
func (t Tally) Add(cause string, r Result) {
	if r == (Result{}) {
		return
	}
	c := t[cause]
	if c == nil {
		c = &Count{}
		t[cause] = c
	}
	switch {
	case r.Left != "":
		c.Left++
	case r.Kept():
		c.Tried++
		c.Kept++
	default:
		c.Tried++
		c.Beyond++
	}
}

// Sum is all causes together.
func (t Tally) Sum() Count {
	var all Count
	for _, c := range t {
		all.Tried, all.Kept, all.Beyond, all.Left = all.Tried+c.Tried, all.Kept+c.Kept, all.Beyond+c.Beyond, all.Left+c.Left
	}
	return all
}

// Lines are the table, a cause a line, and the sum.
func (t Tally) Lines() (out []string) {
	if len(t) == 0 {
		return nil
	}
	say := func(cause string, c Count) {
		out = append(out, fmt.Sprintf("remedies of %-16s %3d tried, %3d within %.0f %%, %d beyond, %d not tried", cause+":", c.Tried, c.Kept, 100*Near, c.Beyond, c.Left))
	}
	for _, cause := range slices.Sorted(maps.Keys(t)) {
		say(cause, *t[cause])
	}
	say("all causes", t.Sum())
	return out
}
