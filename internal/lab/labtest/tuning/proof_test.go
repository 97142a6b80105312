package tuning

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// What the proof has to show.
const (
	leastScenarios = 8
	leastOfCeiling = 0.97 // wherever the grid reaches as much
	leastOfGrid    = 0.98 // of its best point
	leastOfFound   = 0.99 // never slower
	mostWindows    = 24
	mostTraffic    = 60 // seconds
	leastOfSum     = 0.97
)

// row is one scenario, rates in Mbit/s, both directions at once and summed.
type row struct {
	scenario          string
	ceiling           float64
	found, refound    float64 // the hosts as found, twice by turns: what differs is noise
	article           float64 // zero: nothing was published
	profile, research float64
	swept, again      float64 // the grid's best in the sweep, and by turns with the others on chosen ports
	linerate, kept    float64 // its traffic, and the first traffic on its hosts
	points, windows   int
	traffic           float64 // seconds
	rolledBack        bool
	best, did         string // the grid's best point, and what tune did
}

func (r row) String() string {
	back := "all put back"
	if !r.rolledBack {
		back = "NOT ALL put back"
	}
	return fmt.Sprintf("scenario %s: ceiling %.1f Mbit/s; as found %.1f and %.1f, article %.1f, tuned %.1f, ESnet %.1f, grid %.1f (%.1f in its sweep of %d points: %s); linerate %.1f (%s), the first traffic there %.1f; %d windows, %.1f s of traffic; %s",
		r.scenario, r.ceiling, r.found, r.refound, r.article, r.profile, r.research, r.again, r.swept, r.points, r.best, r.linerate, r.did, r.kept, r.windows, r.traffic, back)
}

var rowLine = regexp.MustCompile(`scenario (\S+): ceiling ([\d.]+) Mbit/s; as found ([\d.]+)(?: and ([\d.]+))?, article ([\d.]+), tuned ([\d.]+), ESnet ([\d.]+), grid ([\d.]+) \(([\d.]+) in its sweep of (\d+) points: (.*?)\); linerate ([\d.]+) \((.*)\), the first traffic there ([\d.]+); (\d+) windows, ([\d.]+) s of traffic; (all|NOT ALL) put back`)

// spread is as many streams as links, in Mbit/s: the medians and the worst.
type spread struct {
	links               int
	direction           string
	ceiling             float64
	chosen, worst       float64
	kernel, kernelWorst float64
}

func (s spread) String() string {
	return fmt.Sprintf("%d streams on %d links, %s: sum of the links %.1f Mbit/s; chosen ports %.1f, at worst %.1f; the kernel's %.1f, at worst %.1f",
		s.links, s.links, s.direction, s.ceiling, s.chosen, s.worst, s.kernel, s.kernelWorst)
}

var spreadLine = regexp.MustCompile(`(\d+) streams on \d+ links, (\w+): sum of the links ([\d.]+) Mbit/s; chosen ports ([\d.]+), at worst ([\d.]+); the kernel's ([\d.]+), at worst ([\d.]+)`)

// readProof is what a proof's lines say. The patterns let numbers through
// only where numbers are read.
func readProof(text string) (rows []row, spreads []spread) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if m := rowLine.FindStringSubmatch(lines.Text()); m != nil {
			r := row{scenario: m[1], best: m[11], did: m[13], rolledBack: m[17] == "all"}
			for i, v := range map[int]any{2: &r.ceiling, 3: &r.found, 4: &r.refound, 5: &r.article, 6: &r.profile, 7: &r.research, 8: &r.again, 9: &r.swept, 10: &r.points, 12: &r.linerate, 14: &r.kept, 15: &r.windows, 16: &r.traffic} {
				_, _ = fmt.Sscan(m[i], v)
			}
			if r.refound == 0 { // an older proof's
				r.refound = r.found
			}
			rows = append(rows, r)
		}
		if m := spreadLine.FindStringSubmatch(lines.Text()); m != nil {
			s := spread{direction: m[2]}
			for i, v := range map[int]any{1: &s.links, 3: &s.ceiling, 4: &s.chosen, 5: &s.worst, 6: &s.kernel, 7: &s.kernelWorst} {
				_, _ = fmt.Sscan(m[i], v)
			}
			spreads = append(spreads, s)
		}
	}
	return rows, spreads
}

// lacks is what a scenario lacks of what it has to show.
func (r row) lacks() (lacking []string) {
	say := func(bad bool, format string, args ...any) {
		if bad {
			lacking = append(lacking, r.scenario+": "+fmt.Sprintf(format, args...))
		}
	}
	grid := max(r.again, r.swept)
	say(grid >= leastOfCeiling*r.ceiling && r.linerate < leastOfCeiling*r.ceiling, "%.3f of the ceiling, the grid reaches %.3f", r.linerate/r.ceiling, grid/r.ceiling)
	say(r.linerate < leastOfGrid*r.again, "%.3f of the grid's best", r.linerate/r.again)
	// Hosts to which nothing was done differ by as much as they do.
	found := min(r.found, r.refound)
	say(r.linerate < leastOfFound*found, "%.3f of what was found", r.linerate/found)
	say(r.kept < leastOfFound*found, "the first traffic is at %.3f of what it was", r.kept/found)
	say(r.windows > mostWindows, "%d windows", r.windows)
	say(r.traffic > mostTraffic, "%.1f s of traffic", r.traffic)
	say(!r.rolledBack, "not all was put back")
	return lacking
}

// verdict is what the rows show, and what they lack.
func verdict(rows []row, spreads []spread) (said string, lacking []string) {
	names := map[string]bool{}
	least, windows, traffic := 2.0, 0, 0.0
	for _, r := range rows {
		names[r.scenario] = true
		lacking = append(lacking, r.lacks()...)
		least, windows, traffic = min(least, r.linerate/r.again), max(windows, r.windows), max(traffic, r.traffic)
	}
	seen := map[string]bool{}
	worst := 2.0
	for _, s := range spreads {
		seen[fmt.Sprint(s.links, s.direction)] = true
		worst = min(worst, s.worst/s.ceiling)
		if s.worst < leastOfSum*s.ceiling {
			lacking = append(lacking, fmt.Sprintf("%.3f of the sum: %v", s.worst/s.ceiling, s))
		}
	}
	for links := 2; links <= 4; links++ {
		for _, d := range []string{"forward", "reverse", "both"} {
			if !seen[fmt.Sprint(links, d)] {
				lacking = append(lacking, fmt.Sprintf("nothing of %d links, %s", links, d))
			}
		}
	}
	if len(names) < leastScenarios {
		lacking = append(lacking, fmt.Sprintf("%d scenarios, want %d", len(names), leastScenarios))
	}
	said = fmt.Sprintf("%d scenarios: linerate at %.3f of the grid's best or more, in %d windows and %.1f s of traffic at most; N streams on N links carry %.3f of their sum or more", len(names), least, windows, traffic, worst)
	return said, lacking
}

// TestProof judges the proof that is kept in docs/proofs, where there is one.
func TestProof(t *testing.T) {
	text, kept := floor.KeptProof(t, "tune", "tune.txt")
	if !kept {
		return
	}
	said, lacking := verdict(readProof(text))
	t.Log(said)
	for _, l := range lacking {
		switch {
		case os.Getenv("PROVE_VERDICT") != "":
			t.Error(l)
		case !strings.Contains(text, "verdict: "+l+"\n"):
			t.Errorf("the kept proof does not say of itself: %s", l)
		}
	}
}

// TestVerdict: a proof that does not prove is seen to fail.
func TestVerdict(t *testing.T) {
	good := row{
		ceiling: 400, found: 100, refound: 101, article: 300, profile: 200, research: 250, swept: 397, again: 396, linerate: 395, kept: 101, points: 96, windows: 20, traffic: 44.5, rolledBack: true,
		best: "8 streams, MTU 9000, rmem 6MiB, layer3+4, bbr", did: "2 streams on chosen ports; kept MTU 9000 on a (b), layer3+4",
	}
	for name, c := range map[string]struct {
		change func(*row)
		ok     bool
	}{
		"good":                         {func(*row) {}, true},
		"short of the ceiling":         {func(r *row) { r.linerate = 387 }, false},
		"short with the grid":          {func(r *row) { r.linerate, r.again, r.swept = 300, 302, 303 }, true},
		"short of the grid":            {func(r *row) { r.linerate, r.again, r.swept = 290, 302, 303 }, false},
		"slower than found":            {func(r *row) { r.linerate, r.again, r.swept, r.found, r.refound, r.kept = 295, 300, 303, 299, 299, 299 }, false},
		"slower for the first traffic": {func(r *row) { r.kept = 98 }, false},
		"no slower than nothing done":  {func(r *row) { r.refound, r.kept = 98.5, 98 }, true},
		"many windows":                 {func(r *row) { r.windows = 25 }, false},
		"much traffic":                 {func(r *row) { r.traffic = 60.2 }, false},
		"not undone":                   {func(r *row) { r.rolledBack = false }, false},
	} {
		var text strings.Builder
		var rows []row
		for i := range leastScenarios {
			r := good
			r.scenario = fmt.Sprint("s", i)
			if i == 3 {
				c.change(&r)
			}
			rows = append(rows, r)
			fmt.Fprintf(&text, "  %v\n", r)
		}
		var spreads []spread
		for links := 2; links <= 4; links++ {
			for _, d := range []string{"forward", "reverse", "both"} {
				spreads = append(spreads, spread{links, d, 200, 198, 197, 150, 100})
				fmt.Fprintf(&text, "  %v\n", spreads[len(spreads)-1])
			}
		}
		read, readSpreads := readProof(text.String())
		if !slices.Equal(read, rows) || !slices.Equal(readSpreads, spreads) {
			t.Fatalf("%s: read %v and %v", name, read, readSpreads)
		}
		if said, lacking := verdict(read, readSpreads); (len(lacking) == 0) != c.ok {
			t.Errorf("%s: %s; lacking %q", name, said, lacking)
		}
		if _, lacking := verdict(read, readSpreads[1:]); len(lacking) == 0 {
			t.Errorf("%s: a direction is missing, and nobody says so", name)
		}
		readSpreads[4].worst = 190
		if _, lacking := verdict(read, readSpreads); len(lacking) == 0 {
			t.Errorf("%s: a link is idle, and nobody says so", name)
		}
	}
}
