//go:build linux

package explaining

import (
	"bufio"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/tried"
	"github.com/linerate/linerate/record"
)

// What the whole proof (`make prove-explain`) has to show.
const (
	perCause     = 20 // instances of each cause
	leastRight   = 0.98
	leastHealthy = 50
	leastCalm    = 0.98 // of healthy networks that are named line-rate
	// What confidence promises, in percent, of what is named with it.
	verySure, halfSure = 90, 50
	// nearExpected is how near what is promised for a remedy must come to what its
	// fault's end brings, in leastKept of the cases.
	nearExpected = 0.10
	leastKept    = 0.90
)

// row is one line of a proof: a network with faults, or a healthy one.
type row struct {
	seed, number uint64
	cause        record.Cause // that the instance was drawn for; line-rate is a healthy one
	setup        string
	truth        []record.Cause
	named        record.Cause
	rate         float64 // Mbit/s
	healthy      float64
	sure         int // percent; of the first three proofs it was not kept
	// expected is the rate that is promised without what is named, mended what was
	// measured without it; 0 where nothing is promised.
	expected, mended float64
	// tried is what came of the remedy, done as it is printed.
	tried tried.Result
}

func (r row) right() bool { return slices.Contains(r.truth, r.named) }

// stands is the cause that the row stands for in the matrix.
func (r row) stands() record.Cause {
	if r.right() {
		return r.named
	}
	return r.truth[0]
}

func (r row) String() string {
	verdict := "right"
	if !r.right() {
		verdict = "WRONG"
	}
	line := fmt.Sprintf("seed %d number %d %s: %s: truth %s; named %s %s; %.1f of %.1f Mbit/s; sure %d", r.seed, r.number, r.cause, r.setup, words(r.truth), r.named, verdict, r.rate, r.healthy, r.sure)
	if r.expected > 0 {
		line += fmt.Sprintf("; promised %.1f, got %.1f", r.expected, r.mended)
	}
	return line + r.tried.String()
}

func words(all []record.Cause) string {
	var out []string
	for _, c := range all {
		out = append(out, string(c))
	}
	return strings.Join(out, " or ")
}

var rowLine = regexp.MustCompile(`seed (\d+) number (\d+) (\S+): (.*): truth ([a-z -]+); named (\S+) (right|WRONG); ([\d.]+) of ([\d.]+) Mbit/s(?:; sure (\d+)(?:; promised ([\d.]+), got ([\d.]+))?)?`)

func readProof(text string) (rows []row) {
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := rowLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		r := row{cause: record.Cause(m[3]), setup: m[4], named: record.Cause(m[6])}
		for _, c := range strings.Split(m[5], " or ") {
			r.truth = append(r.truth, record.Cause(c))
		}
		// Digits by the pattern, or nothing.
		_, _ = fmt.Sscan(m[1]+" "+m[2]+" "+m[8]+" "+m[9], &r.seed, &r.number, &r.rate, &r.healthy)
		_, _ = fmt.Sscan(m[10]+" "+m[11]+" "+m[12], &r.sure, &r.expected, &r.mended)
		r.tried = tried.Read(lines.Text())
		rows = append(rows, r)
	}
	return rows
}

// verdict is what the rows show, and what they lack.
func verdict(rows []row) (said string, lacking []string) {
	faults, right, healthy, calm := 0, 0, 0, 0
	drawn, two := map[record.Cause]int{}, 0
	for _, r := range rows {
		if r.cause == record.LineRate {
			if healthy++; r.right() {
				calm++
			}
			continue
		}
		faults++
		drawn[r.cause]++
		if strings.Contains(r.setup, ") and ") {
			two++
		}
		if r.right() {
			right++
		}
	}
	said = fmt.Sprintf("%d instances, %d with two faults: named right %d (%.1f %%); %d healthy networks: %d named line-rate (%.1f %%)",
		faults, two, right, percent(right, faults), healthy, calm, percent(calm, healthy))
	for _, c := range causes() {
		if drawn[c] < perCause {
			lacking = append(lacking, fmt.Sprintf("%d instances of %s, want %d", drawn[c], c, perCause))
		}
	}
	for _, b := range reliability(rows) {
		if b.of > 0 && (b.least == verySure || b.least == halfSure) && percent(b.right, b.of) < float64(b.least) {
			lacking = append(lacking, "too sure: "+b.String())
		}
	}
	if kept, of := promises(rows); of > 0 && percent(kept, of) < 100*leastKept {
		lacking = append(lacking, fmt.Sprintf("%d of %d promised rates came within %.0f %%", kept, of, 100*nearExpected))
	}
	if all := remedies(rows).Sum(); all.Tried > 0 && percent(all.Kept, all.Tried) < 100*leastKept {
		lacking = append(lacking, fmt.Sprintf("%d of %d remedies brought what was promised within %.0f %%", all.Kept, all.Tried, 100*tried.Near))
	}
	if percent(right, faults) < 100*leastRight || healthy < leastHealthy || percent(calm, healthy) < 100*leastCalm {
		lacking = append(lacking, said)
	}
	return said, lacking
}

// band is what was named with a confidence of least percent or more, below the next band's.
type band struct{ least, right, of int }

func (b band) String() string {
	return fmt.Sprintf("sure %d %% or more: %d of %d right (%.1f %%)", b.least, b.right, b.of, percent(b.right, b.of))
}

// reliability is how often what was named of networks with faults is right, by how
// sure it was; none where that was not kept.
func reliability(rows []row) []band {
	all := []band{{least: verySure}, {least: 70}, {least: halfSure}, {least: 1}}
	for _, r := range rows {
		if r.cause == record.LineRate {
			continue
		}
		for i := range all {
			if r.sure >= all[i].least {
				all[i].of++
				if r.right() {
					all[i].right++
				}
				break
			}
		}
	}
	return all
}

// promises counts the rates that were promised without what is rightly named, and those
// that came about.
func promises(rows []row) (kept, of int) {
	for _, r := range rows {
		if r.expected <= 0 || r.mended <= 0 || !r.right() {
			continue
		}
		of++
		if math.Abs(r.expected-r.mended) <= nearExpected*r.mended {
			kept++
		}
	}
	return kept, of
}

// remedies counts what came of those that were carried out as they are printed.
func remedies(rows []row) tried.Tally {
	all := tried.Tally{}
	for _, r := range rows {
		all.Add(string(r.named), r.tried)
	}
	return all
}

func percent(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

// matrix is how often each cause was named what, a line each, and the misses
// one by one.
func matrix(rows []row) (lines []string) {
	counts := map[record.Cause]map[record.Cause]int{}
	for _, r := range rows {
		if counts[r.stands()] == nil {
			counts[r.stands()] = map[record.Cause]int{}
		}
		counts[r.stands()][r.named]++
	}
	for _, c := range record.Causes() {
		total, right := 0, counts[c][c]
		var wrong []string
		for _, named := range slices.Sorted(maps.Keys(counts[c])) {
			total += counts[c][named]
			if named != c {
				wrong = append(wrong, fmt.Sprintf("%s %d", named, counts[c][named]))
			}
		}
		if total > 0 {
			lines = append(lines, fmt.Sprintf("%-16s %3d of %3d right%s", c, right, total, prefixed("; else ", strings.Join(wrong, ", "))))
		}
	}
	for _, b := range reliability(rows) {
		if b.of > 0 {
			lines = append(lines, b.String())
		}
	}
	if kept, of := promises(rows); of > 0 {
		lines = append(lines, fmt.Sprintf("promised rates that came within %.0f %%: %d of %d", 100*nearExpected, kept, of))
	}
	lines = append(lines, remedies(rows).Lines()...)
	for _, r := range rows {
		if (r.tried.Failed != "" || r.tried.Got > 0) && !r.tried.Kept() {
			lines = append(lines, "remedied otherwise: "+r.String())
		}
		if !r.right() {
			lines = append(lines, "missed: "+r.String())
		} else if kept, of := promises([]row{r}); kept < of {
			lines = append(lines, "promised otherwise: "+r.String())
		}
	}
	return lines
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// TestProof judges the proof that is kept in docs/proofs, where there is one.
func TestProof(t *testing.T) {
	text, kept := floor.KeptProof(t, "explain", "explain-[01h]*.txt")
	if !kept {
		return
	}
	rows := readProof(text)
	for _, line := range matrix(rows) {
		t.Log(line)
	}
	said, lacking := verdict(rows)
	t.Log(said)
	for _, l := range lacking {
		t.Error(l)
	}
}

// TestVerdict: a proof that does not prove is seen to fail.
func TestVerdict(t *testing.T) {
	full := func(change func(i int, r *row)) (rows []row) {
		for _, c := range causes() {
			for range perCause {
				rows = append(rows, row{seed: 1, number: 2, cause: c, setup: "2 x 30M: odd (a) and b (c)", truth: []record.Cause{c}, named: c, rate: 10.5, healthy: 99, sure: 95, expected: 100, mended: 99})
			}
		}
		for range leastHealthy {
			rows = append(rows, row{seed: 3, number: 4, cause: record.LineRate, setup: "x", truth: []record.Cause{record.LineRate}, named: record.LineRate, rate: 99, healthy: 99})
		}
		for i := range rows {
			change(i, &rows[i])
		}
		return rows
	}
	none := func(int, *row) {}
	wrong := func(from, to int) func(int, *row) {
		return func(i int, r *row) {
			if i >= from && i < to {
				r.named = record.Unknown
			}
		}
	}
	all := perCause * len(causes())
	for name, c := range map[string]struct {
		rows []row
		ok   bool
	}{
		"all right":          {full(none), true},
		"either is right":    {full(func(_ int, r *row) { r.truth = append([]record.Cause{record.MTU}, r.truth...) }), true},
		"nothing":            {nil, false},
		"one cause short":    {full(none)[1:], false},
		"few healthy":        {full(none)[:all+leastHealthy-1], false},
		"six of 300 wrong":   {full(wrong(0, all*2/100)), true},
		"seven of 300 wrong": {full(wrong(0, all*2/100+1)), false},
		"too sure": {full(func(i int, r *row) {
			if i%20 == 0 {
				r.sure = 55
			}
			if i == 40 || i == 80 || i == 120 || i == 160 {
				r.named = record.Unknown
				r.sure = 95
			}
		}), true},
		"promises kept": {full(func(i int, r *row) {
			if i < all/11 {
				r.mended = 80
			}
		}), true},
		"promises broken": {full(func(i int, r *row) {
			if i < all/9 {
				r.mended = 80
			}
		}), false},
		"remedies kept": {full(func(i int, r *row) {
			if r.tried = (tried.Result{Promised: 100, Got: 95.5}); i%11 == 0 {
				r.tried.Got = 80
			}
			if i%7 == 0 {
				r.tried = tried.Result{Left: "for a person"}
			}
		}), true},
		"remedies that bring less": {full(func(i int, r *row) {
			if r.tried = (tried.Result{Promised: 100, Got: 95.5}); i%9 == 0 {
				r.tried.Got = 80
			}
		}), false},
		"remedies that fail": {full(func(i int, r *row) {
			if r.tried = (tried.Result{Promised: 100, Got: 95.5}); i%9 == 0 {
				r.tried = tried.Result{Failed: "on near: tc: exit status 2: no such queue"}
			}
		}), false},
		"unsure, and wrong": {full(func(i int, r *row) {
			if i < 4 {
				r.sure = 55
				r.named = record.Unknown
			}
		}), false},
		"a false alarm":    {full(wrong(all, all+1)), true},
		"two false alarms": {full(wrong(all, all+2)), false},
	} {
		var text strings.Builder
		for _, r := range c.rows {
			fmt.Fprintf(&text, "  %v\n", r)
		}
		read := readProof(text.String())
		if fmt.Sprint(read) != fmt.Sprint(c.rows) {
			t.Fatalf("%s: read %v, want %v", name, read, c.rows)
		}
		if said, lacking := verdict(read); (len(lacking) == 0) != c.ok {
			t.Errorf("%s: %s; lacking %q", name, said, lacking)
		}
	}
}
