package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
)

// worthExpecting is how much more than the rate an expectation must be to be
// said.
const worthExpecting = 1.005

// printFindings writes the findings of a record's results; of several, what
// they come to first.
func printFindings(con *console.Console, r record.Record, findings []record.Finding) {
	if len(findings) == 0 {
		fmt.Fprintln(con.Stderr, "the record has no result to explain")
	}
	if len(findings) > 1 {
		fmt.Fprint(con.Stdout, console.Wrapped("", answer(r, findings), con.Width())+"\n")
	}
	for i, f := range findings {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		printFinding(con, f)
	}
}

// answer is a record in a sentence, and how many of its results each cause
// limits, the most frequent first.
func answer(r record.Record, findings []record.Finding) string {
	r.Trials = slices.DeleteFunc(slices.Clone(r.Trials), func(t record.Trial) bool { _, _, probe := t.Probe(); return probe })
	count, causes := map[record.Cause]int{}, []record.Cause{}
	for i, f := range findings {
		if i < len(r.Trials) {
			r.Trials[i].Finding = &f
		}
		if count[f.Cause]++; count[f.Cause] == 1 {
			causes = append(causes, f.Cause)
		}
	}
	slices.SortStableFunc(causes, func(x, y record.Cause) int { return count[y] - count[x] })
	var each []string
	for _, c := range causes {
		each = append(each, fmt.Sprintf("%d %s", count[c], c))
	}
	return fmt.Sprintf("%s Of %d results: %s.", report.Headline(r), len(findings), strings.Join(each, ", "))
}

// printFinding writes a finding for people: the judgement first, then what it
// rests on, what else it may be, what comes next and what to do.
func printFinding(con *console.Console, f record.Finding) {
	say := func(lead, text string) { fmt.Fprint(con.Stdout, console.Wrapped(lead, text, con.Width())) }
	say("", headline(f))
	say("  ", fmt.Sprintf("%s (%s, confidence %.0f %%)", f.Summary, f.Cause, 100*f.Confidence))
	for _, e := range f.Evidence {
		say("    - ", fmt.Sprintf("%s: %s", e.What, e.Value))
	}
	if len(f.Against) > 0 {
		say("  ", "Against it:")
		for _, e := range f.Against {
			say("    - ", fmt.Sprintf("%s: %s", e.What, e.Value))
		}
	}
	if len(f.Also) > 0 {
		say("  ", "It may also be:")
		for _, other := range f.Also {
			say("    - ", fmt.Sprintf("%s, %.0f %%: %s", other.Cause, 100*other.Confidence, other.Summary))
		}
	}
	printNextSteps(con, f, say)
}

func printNextSteps(con *console.Console, f record.Finding, say func(lead, text string)) {
	if f.Remedy != "" {
		expected := ""
		if f.Expected > f.Rate*worthExpecting {
			expected = fmt.Sprintf(" Expect %v.", f.Expected)
		}
		say("  To do: ", f.Remedy+"."+expected)
	}
	if f.Next != nil && f.Expected > f.Rate*worthExpecting {
		say("  Next in line: ", fmt.Sprintf("%s at %v (%s)", f.Next.Cause, f.Next.Rate, f.Next.Why))
	}
	for i, m := range f.Missing {
		lead := "  Not known: "
		if i > 0 {
			lead = "             "
		}
		say(lead, m)
	}
	if f.Decide.Probe != "" {
		say("  To be sure: ", f.Decide.Text+" (`linerate explain RECORD --probe` does it)")
	}
}

// headline is which result a finding is of.
func headline(f record.Finding) string {
	phase := ""
	if f.Phase != "" {
		phase = string(f.Phase) + ": "
	}
	noun := "streams"
	if f.Streams == 1 {
		noun = "stream"
	}
	rate := f.Rate.String()
	if f.Ceiling > 0 {
		rate += " of " + f.Ceiling.String()
	}
	return fmt.Sprintf("%s%s to %s, %s, %d %s: %s", phase, f.From, f.To, f.Direction, f.Streams, noun, rate)
}
