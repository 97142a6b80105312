package tried

import (
	"cmp"
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
	// Then is what was named with it done, of a remedy that brought something else.
	Then string
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

// Measure sets what was got to the median of three measurements, each a rate and what was
// named then. Two that lie on the same side of what is promised settle where the median
// lies: then they are all, and the lower is told.
func (r *Result) Measure(measure func() (rate float64, named string)) {
	type one struct {
		rate  float64
		named string
	}
	var all []one
	for range 3 {
		rate, named := measure()
		all = append(all, one{rate, named})
		if len(all) == 2 && r.side(all[0].rate) == r.side(all[1].rate) {
			break
		}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Compare(a.rate, b.rate) })
	middle := all[(len(all)-1)/2]
	r.Got = middle.rate
	if !r.Kept() {
		r.Then = middle.named
	}
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
	then := ""
	if r.Then != "" {
		then = ", then " + r.Then
	}
	return fmt.Sprintf("; remedy tried: expected %.1f, got %.1f%s", r.Promised, r.Got, then)
}

var line = regexp.MustCompile(`; remedy (?:failed \[([^]]*)\]|not tried \[([^]]*)\]|tried: expected ([\d.]+), got ([\d.]+)(?:, then ([a-z -]+))?)`)

// Read is the result in a proof's line; the zero value where it has none.
func Read(text string) Result {
	m := line.FindStringSubmatch(text)
	if m == nil {
		return Result{}
	}
	// Digits by the pattern.
	promised, _ := strconv.ParseFloat(m[3], 64)
	got, _ := strconv.ParseFloat(m[4], 64)
	return Result{Failed: m[1], Left: m[2], Promised: promised, Got: got, Then: m[5]}
}

// Count is what came of the remedies of one cause.
type Count struct {
	Tried, Kept, Beyond, Left int
	Then                      map[string]int // of those beyond, what was named then
}

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
		if c.Then == nil {
			c.Then = map[string]int{}
		}
		c.Then[cmp.Or(r.Then, "not said")]++
	}
}

// Sum is all causes together.
func (t Tally) Sum() Count {
	all := Count{Then: map[string]int{}}
	for _, c := range t {
		all.Tried, all.Kept, all.Beyond, all.Left = all.Tried+c.Tried, all.Kept+c.Kept, all.Beyond+c.Beyond, all.Left+c.Left
		for named, n := range c.Then {
			all.Then[named] += n
		}
	}
	return all
}

// Lines are the table, a cause a line, and the sum.
func (t Tally) Lines() (out []string) {
	if len(t) == 0 {
		return nil
	}
	say := func(cause string, c Count) {
		then := ""
		for _, named := range slices.Sorted(maps.Keys(c.Then)) {
			then += fmt.Sprintf("; then %s: %d", named, c.Then[named])
		}
		out = append(out, fmt.Sprintf("remedies of %-16s %3d tried, %3d within %.0f %%, %d beyond, %d not tried%s", cause+":", c.Tried, c.Kept, 100*Near, c.Beyond, c.Left, then))
	}
	for _, cause := range slices.Sorted(maps.Keys(t)) {
		say(cause, *t[cause])
	}
	say("all causes", t.Sum())
	return out
}
