package predicting

import (
	"bufio"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// The whole proof (`make prove-predict`) is so many configurations, a few in
// each run.
const (
	configurations = 60
	perRun         = 4
)

// What it has to show.
const (
	leastRows  = 60
	mostMedian = 0.05
	mostNinth  = 0.12
	leastRight = 0.95
	// aboveCeiling is what a measurement may be above its ceiling, which is one of
	// steady state: a shaper's bucket may empty itself into the window.
	aboveCeiling = 0.004
)

// row is one configuration of a proof; rates in Mbit/s.
type row struct {
	seed, number         uint64
	setup                string
	predicted, low, high float64
	ceiling, measured    float64
	limit, evidence      string
	striped, right       bool
}

func (r row) error() float64 { return math.Abs(r.measured/r.predicted - 1) }

// inRange: rounded figures meet. A range is at least as wide as what a measured rate is
// itself certain of.
func (r row) inRange() bool {
	middle := (r.low + r.high) / 2
	return r.measured >= min(r.low, middle*(1-measuredWithin))-0.051 && r.measured <= max(r.high, middle*(1+measuredWithin))+0.051
}

// measuredWithin is half of the 2 % that a rate's own interval may be wide.
const measuredWithin = 0.01

func (r row) String() string {
	kind, verdict := "", "right"
	if r.striped {
		kind = " striped"
	}
	if !r.right {
		verdict = "WRONG"
	}
	return fmt.Sprintf("seed %d number %d%s: %s: predicted %.1f in %.1f to %.1f, ceiling %.1f; measured %.1f Mbit/s; error %+.1f %%; limit %s %s (%s)",
		r.seed, r.number, kind, r.setup, r.predicted, r.low, r.high, r.ceiling, r.measured, 100*(r.measured/r.predicted-1), r.limit, verdict, r.evidence)
}

var rowLine = regexp.MustCompile(`seed (\d+) number (\d+)( striped)?: (.*): predicted ([\d.]+) in ([\d.]+) to ([\d.]+), ceiling ([\d.]+); measured ([\d.]+) Mbit/s; error \S+ %; limit (\S+) (right|WRONG) \((.*)\)$`)

func readProof(text string) (rows []row) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		m := rowLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		r := row{setup: m[4], limit: m[10], evidence: m[12], striped: m[3] != "", right: m[11] == "right"}
		for i, v := range []any{&r.seed, &r.number} {
			_, _ = fmt.Sscan(m[1+i], v) // the pattern lets digits through only
		}
		for i, v := range []*float64{&r.predicted, &r.low, &r.high, &r.ceiling, &r.measured} {
			_, _ = fmt.Sscan(m[5+i], v)
		}
		rows = append(rows, r)
	}
	return rows
}

// verdict is what the rows show, and what they lack.
func verdict(rows []row) (said string, lacking []string) {
	var errs []float64
	limits := map[string]int{}
	striped, inside, right, above := 0, 0, 0, 0
	for _, r := range rows {
		limits[r.limit]++
		if r.right {
			right++
		}
		if r.measured > r.ceiling*(1+aboveCeiling)+0.051 {
			above++
			lacking = append(lacking, fmt.Sprintf("above its ceiling: %v", r))
		}
		if !r.striped {
			errs = append(errs, r.error())
			continue
		}
		if striped++; r.inRange() {
			inside++
		} else {
			lacking = append(lacking, fmt.Sprintf("outside its range: %v", r))
		}
	}
	if len(errs) == 0 {
		return "nothing", append(lacking, "no rows")
	}
	slices.Sort(errs)
	median, ninth, share := errs[len(errs)/2], errs[len(errs)*9/10], float64(right)/float64(len(rows))
	said = fmt.Sprintf("%d configurations: median error %.1f %%, ninth decile %.1f %%, most %.1f %%; %d of %d striped in their range; %d above the ceiling; the limit right in %d (%.1f %%); limits %v",
		len(rows), 100*median, 100*ninth, 100*errs[len(errs)-1], inside, striped, above, right, 100*share, limits)
	if len(rows) < leastRows {
		lacking = append(lacking, fmt.Sprintf("%d configurations, want %d", len(rows), leastRows))
	}
	if median > mostMedian || ninth > mostNinth || share < leastRight {
		lacking = append(lacking, said)
	}
	return said, lacking
}

// TestProof judges the proof that is kept in docs/proofs, where there is one.
func TestProof(t *testing.T) {
	text, kept := floor.KeptProof(t, "predict", "predict.txt")
	if !kept {
		return
	}
	said, lacking := verdict(readProof(text))
	t.Log(said)
	for _, l := range lacking {
		t.Error(l)
	}
}

// TestVerdict: a proof that does not prove is seen to fail.
func TestVerdict(t *testing.T) {
	good := row{seed: 1, number: 2, setup: "802.3ad layer2+3 (switch layer2), 2 x 100M: odd", predicted: 100, low: 90, high: 110, ceiling: 110, measured: 97, limit: "line-rate", right: true, evidence: "x (y)"}
	rows := func(n int, change func(*row), which int) []row {
		var all []row
		for i := range n {
			r := good
			if i < which {
				change(&r)
			}
			all = append(all, r)
		}
		return all
	}
	none := func(*row) {}
	for name, c := range map[string]struct {
		rows []row
		ok   bool
	}{
		"good":              {rows(60, none, 0), true},
		"too few":           {rows(59, none, 0), false},
		"nothing":           {nil, false},
		"half are off":      {rows(60, func(r *row) { r.measured = 94 }, 31), false},
		"a ninth are off":   {rows(60, func(r *row) { r.measured = 80 }, 7), false},
		"six are off":       {rows(60, func(r *row) { r.measured = 80 }, 5), true},
		"one above":         {rows(60, func(r *row) { r.measured = 110.6 }, 1), false},
		"striped, outside":  {rows(60, func(r *row) { r.striped, r.measured = true, 80 }, 1), false},
		"striped, inside":   {rows(60, func(r *row) { r.striped, r.measured = true, 90 }, 40), true},
		"limits wrong":      {rows(60, func(r *row) { r.right = false }, 4), false},
		"three limits only": {rows(60, func(r *row) { r.right = false }, 3), true},
	} {
		var text strings.Builder
		for _, r := range c.rows {
			fmt.Fprintf(&text, "  %v\n", r)
		}
		read := readProof(text.String())
		if !slices.Equal(read, c.rows) {
			t.Fatalf("%s: read %v, want %v", name, read, c.rows)
		}
		if said, lacking := verdict(read); (len(lacking) == 0) != c.ok {
			t.Errorf("%s: %s; lacking %q", name, said, lacking)
		}
	}
}
