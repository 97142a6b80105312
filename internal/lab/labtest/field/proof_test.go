package field

import (
	"bufio"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/tried"
)

// What the proof must show.
const (
	leastRight  = 0.92 // of the faults that take something: right first, or honestly unknown
	mostWrong   = 0.02
	mostAlarms  = 0.01 // of the odd networks that are well
	leastFaults = 100
	leastOdd    = 100
	leastKinds  = 60 // of faults
	leastProbes = 60
	leastKept   = 0.90 // of the remedies that were tried
)

// row is one line of a proof.
type row struct {
	kind, truth, named, verdict string
	confidence                  int    // percent
	probed                      string // the verdict after a probe; "" where there was none
	tried                       tried.Result
}

func (r row) well() bool { return r.truth == "well" }

var rowLine = regexp.MustCompile(`row: (.*): ([a-z -]+); named ([a-z-]*) (\d+)% (right|unknown|WRONG|void|broken); (?:probed [a-z-]* \d+% ([a-zA-Z]+); )?`)

func readRows(text string) (rows []row) {
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := rowLine.FindStringSubmatch(lines.Text()); m != nil {
			sure, _ := strconv.Atoi(m[4]) // digits by the pattern
			rows = append(rows, row{m[1], m[2], m[3], m[5], sure, m[6], tried.Read(lines.Text())})
		}
	}
	return rows
}

// verdict is what the rows show, and what they lack.
func verdict(rows []row) (said []string, lacking []string) {
	kinds := map[string]bool{}
	faults, odd := map[string]int{}, map[string]int{}
	var sure, sureRight, probes, spoilt, settled int
	for _, r := range rows {
		switch {
		case r.probed == "":
		case r.verdict == "right" && r.probed == "WRONG":
			spoilt++
			probes++
		case r.verdict != "right" && r.probed == "right":
			settled++
			probes++
		default:
			probes++
		}
		if r.well() {
			odd[r.verdict]++
			odd["all"]++
			continue
		}
		faults[r.verdict]++
		if r.verdict == "void" {
			continue // it took nothing
		}
		faults["all"]++
		kinds[r.kind] = true
		if r.confidence >= 90 && r.verdict != "broken" {
			sure++
			if r.verdict == "right" {
				sureRight++
			}
		}
	}
	said = []string{
		fmt.Sprintf("%d faults of %d kinds that took something (%d took nothing): named right first %d, honestly unknown %d, wrong %d, no result %d", faults["all"], len(kinds), faults["void"], faults["right"], faults["unknown"], faults["WRONG"], faults["broken"]),
		fmt.Sprintf("%d odd networks that are well: named line-rate %d, unknown %d, false alarms %d, no result %d", odd["all"], odd["right"], odd["unknown"], odd["WRONG"], odd["broken"]),
		fmt.Sprintf("at 90 %% or more: %d of %d right", sureRight, sure),
		fmt.Sprintf("%d probes: %d made a right answer wrong, %d a wrong or unknown one right", probes, spoilt, settled),
	}
	remedies := tried.Tally{}
	for _, r := range rows {
		remedies.Add(r.named, r.tried)
	}
	said = append(said, remedies.Lines()...)
	lack := func(is bool, format string, values ...any) {
		if is {
			lacking = append(lacking, fmt.Sprintf(format, values...))
		}
	}
	lack(faults["all"] < leastFaults || odd["all"] < leastOdd || len(kinds) < leastKinds, "too few: %s; %s", said[0], said[1])
	lack(float64(faults["right"]+faults["unknown"]) < leastRight*float64(faults["all"]), "not enough right: %s", said[0])
	lack(float64(faults["WRONG"]) > mostWrong*float64(faults["all"]), "too many wrong: %s", said[0])
	lack(float64(odd["WRONG"]) > mostAlarms*float64(odd["all"]), "false alarms: %s", said[1])
	lack(float64(sureRight) < 0.9*float64(sure), "too sure: %s", said[2])
	done := remedies.Sum()
	lack(float64(done.Kept) < leastKept*float64(done.Tried), "%d of %d remedies brought what was promised within %.0f %%", done.Kept, done.Tried, 100*tried.Near)
	lack(spoilt > 0 || probes < leastProbes, "probes: %s", said[3])
	return said, lacking
}

// TestProof judges the proof that is kept in docs/proofs, where there is one.
func TestProof(t *testing.T) {
	text, kept := floor.KeptProof(t, "field", "field-[01].txt")
	if !kept {
		return
	}
	rows := readRows(text)
	for _, r := range rows {
		if r.verdict != "right" {
			t.Logf("%s: %s: truth %s; named %s, %d %%", r.verdict, r.kind, r.truth, r.named, r.confidence)
		}
	}
	said, lacking := verdict(rows)
	for _, line := range said {
		t.Log(line)
	}
	for _, l := range lacking {
		t.Error(l)
	}
}

// TestVerdict: a proof that does not prove is seen to fail.
func TestVerdict(t *testing.T) {
	full := func(change func(i int, r *row)) (text string) {
		for i := range 2*leastFaults + leastOdd {
			r := row{fmt.Sprintf("cable, kind %d", i%leastKinds), "shaper or congestion", "shaper", "right", 92, "right", tried.Result{Promised: 100, Got: 95}}
			if i >= 2*leastFaults {
				r.truth, r.named = "well", "line-rate"
			}
			if change(i, &r); r.kind != "" {
				text += fmt.Sprintf("  row: %s: %s; named %s %d%% %s; %s1.0 of 2.0 Mbit/s, 2 ms%v\n", r.kind, r.truth, r.named, r.confidence, r.verdict, probedWords(r.probed), r.tried)
			}
		}
		return text
	}
	as := func(verdict string, from, to, sure int) func(int, *row) {
		return func(i int, r *row) {
			if i >= from && i < to {
				r.verdict, r.confidence = verdict, sure
			}
		}
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"all right":               {full(func(int, *row) {}), true},
		"nothing":                 {"", false},
		"unknowns":                {full(as("unknown", 0, 100, 10)), true},
		"four of 200 wrong":       {full(as("WRONG", 0, 4, 50)), true},
		"five of 200 wrong":       {full(as("WRONG", 0, 5, 50)), false},
		"some without a result":   {full(as("broken", 0, 17, 0)), false},
		"one false alarm of 100":  {full(as("WRONG", 2*leastFaults, 2*leastFaults+1, 90)), true},
		"two false alarms of 100": {full(as("WRONG", 2*leastFaults, 2*leastFaults+2, 90)), false},
		"a probe spoils one": {full(func(i int, r *row) {
			if i == 3 {
				r.probed = "WRONG"
			}
		}), false},
		"few probes": {full(func(i int, r *row) {
			if i >= leastProbes-1 {
				r.probed = ""
			}
		}), false},
		"remedies that were not tried": {full(func(i int, r *row) { r.tried = tried.Result{Left: "for a person"} }), true},
		"remedies that bring less": {full(func(i int, r *row) {
			if i%9 == 0 {
				r.tried.Got = 89
			}
		}), false},
		"commands that fail": {full(func(i int, r *row) {
			if i%9 == 0 {
				r.tried = tried.Result{Failed: "exit status 2"}
			}
		}), false},
		"half of them took nothing": {full(as("void", 0, leastFaults+1, 90)), false},
	} {
		if said, lacking := verdict(readRows(c.text)); (len(lacking) == 0) != c.ok {
			t.Errorf("%s: %q; lacking %q", name, said, lacking)
		}
	}
}

func probedWords(verdict string) string {
	if verdict == "" {
		return ""
	}
	return "probed shaper 92% " + verdict + "; "
}
