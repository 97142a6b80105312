package crash

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// leastCuts is what `make prove-crash` has to show, and leastPlans of how many
// plans.
const (
	leastCuts  = 500
	leastPlans = 30
)

// cutLine is what TestCrash writes of a part.
var cutLine = regexp.MustCompile(`cuts in a row.*?: (\d+) cuts: old state (\d+), new confirmed state (\d+), between (\d+)`)

// verdict adds a proof file's parts up.
func verdict(text string) (said string, lacking []string) {
	total, old, kept, between, parts := 0, 0, 0, 0, 0
	for _, m := range cutLine.FindAllStringSubmatch(text, -1) {
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+1]) // the pattern lets digits through only
		}
		parts++
		total, old, kept, between = total+n[0], old+n[1], kept+n[2], between+n[3]
	}
	plans := len(regexp.MustCompile(`plan of \d+ steps`).FindAllString(text, -1))
	if total < leastCuts || plans < leastPlans {
		lacking = append(lacking, fmt.Sprintf("%d cuts of %d plans, want %d of %d", total, plans, leastCuts, leastPlans))
	}
	if between > 0 || old+kept != total {
		lacking = append(lacking, fmt.Sprintf("%d of %d cuts left a host that is neither old nor new", total-old-kept, total))
	}
	return fmt.Sprintf("%d cuts of %d plans in %d parts: %d in the old state, %d in the new confirmed one, %d between", total, plans, parts, old, kept, between), lacking
}

// TestProof reads the file that `make prove-crash` keeps.
func TestProof(t *testing.T) {
	text, kept := floor.KeptProof(t, "crash", "crash.txt")
	if !kept {
		return
	}
	said, lacking := verdict(text)
	t.Log(said)
	for _, l := range lacking {
		t.Error(l)
	}
}

func TestVerdict(t *testing.T) {
	line := "run 1: passed (kernel 6.1) cuts in a row, seed 1 part 1, plan of 9 steps: %d cuts: old state %d, new confirmed state %d, between %d (x 1)\n"
	good := ""
	for range leastPlans {
		good += fmt.Sprintf(line, 20, 15, 5, 0)
	}
	for name, tt := range map[string]struct {
		text    string
		lacking int
	}{
		"good": {good, 0}, "empty": {"", 1}, "one between": {good + fmt.Sprintf(line, 20, 15, 4, 1), 1}, "lost": {good + fmt.Sprintf(line, 20, 15, 4, 0), 1},
	} {
		if said, lacking := verdict(tt.text); len(lacking) != tt.lacking {
			t.Errorf("%s: %s: %q", name, said, lacking)
		}
	}
}
