package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// advice is what a reader does next: the report's first screen has it.
type advice struct {
	// Action is one short sentence, How what it takes in detail; "" where Action
	// says it all.
	Action, How string
	// Commands are what to type, at least one.
	Commands []string
	// Gain is what it is worth and Sure how certain the cause is, in words.
	Gain, Sure string
}

// adviceOf is the advice for the place that the headline speaks of.
func adviceOf(r record.Record, all []series, o Options) advice {
	_, c, ok := lead(all)
	switch {
	case !ok && len(r.Failures) > 0:
		return advice{Action: "Make the hosts reach each other, then measure again.", How: r.Failures[0].Error, Commands: repeatCommands(r, o)[:1], Gain: unknownGain, Sure: "The error says what failed."}
	case !ok:
		return advice{Action: "Measure first.", Commands: repeatCommands(r, o)[:1], Gain: unknownGain, Sure: "Nothing is known yet."}
	case phased(r):
		return comparedAdvice(r, c, o)
	}
	if t, outage, ok := worstOutage(r); ok {
		return outageAdvice(r, t, outage, o)
	}
	return limitAdvice(r, c, o)
}

// limitReached is where a limit on the way is all that the links have to give.
const limitReached = "Nothing to change on the hosts: ask whoever sets the limit for more."

const unknownGain = "Not known."

// limitAdvice removes the limit of one place.
func limitAdvice(r record.Record, c place, o Options) advice {
	t := c.last()
	f := t.Finding
	if f == nil {
		return advice{Action: "Find out what limits it.", Commands: []string{explainCommand(o)}, Gain: unknownGain, Sure: "No cause was looked for."}
	}
	a := advice{Action: causeActions[f.Cause], How: sentence(f.Remedy), Gain: gainWords(*f), Sure: sureWords(*f)}
	if a.Action == "" {
		a.Action = causeActions[record.Unknown]
	}
	switch {
	case f.Cause == record.Shaper && full(c.cell):
		a.Action = limitReached
	case f.Cause == record.LineRate:
		a.How = "To see later whether it still does:"
		a.Commands = laterCommands(r, o)
		a.Gain = "Nothing is left to gain on these links."
		return a
	case f.Cause == record.Unknown && f.Decide.Text != "":
		a.How = sentence(f.Decide.Text)
	}
	a.Commands = commandsFor(r, *f, o)
	return a
}

// comparedAdvice follows a run with phases: what is left to do, or to keep.
func comparedAdvice(r record.Record, c place, o Options) advice {
	t := c.last()
	if f := t.Finding; f != nil && !full(c.cell) && f.Cause != record.LineRate {
		a := limitAdvice(r, c, o)
		if c.before != nil && c.after != nil && kept(r) > 0 {
			a.Gain = gained(c) + " so far. " + a.Gain
		}
		return a
	}
	a := advice{Action: "Nothing more to do: the links are full.", Gain: gained(c) + ".", Sure: "Measured before and after each change, with the same traffic."}
	switch group := rollback(r); {
	case r.Environment.BackEnd != "":
		a.Action = "Run the same on your own hosts."
		a.How = "Name two of them; `tune` measures, changes one setting at a time and rolls back what does not help."
		a.Commands = []string{"linerate discover ssh://root@HOST1 ssh://root@HOST2 -o fabric.yaml", "linerate tune fabric.yaml"}
	case group != "":
		a.How = map[bool]string{true: "1 change is in place. To roll it back:", false: unit.Counted(kept(r), "change") + " are in place. To roll them back:"}[kept(r) == 1]
		a.Commands = []string{group}
	default:
		a.How = "To see later whether it still holds:"
		a.Commands = laterCommands(r, o)
	}
	return a
}

// outageAdvice is about a link that failed.
func outageAdvice(r record.Record, t record.Trial, o record.Outage, opts Options) advice {
	a := advice{Action: "Nothing to change: the traffic moved on by itself.", How: "To measure the steady rate:", Commands: laterCommands(r, opts), Gain: "The steady rate is higher: this one is of two states.",
		Sure: "The kernel's carrier counters show when the link went."}
	if o.Resolution > 0 {
		a.Sure += fmt.Sprintf(" Times are exact to %s.", seconds(o.Resolution))
	}
	f := t.Finding
	switch {
	case f != nil && f.Cause != record.Unknown:
		a.Action, a.How, a.Commands = causeActions[f.Cause], sentence(f.Remedy), commandsFor(r, *f, opts)
	case o.Recovered < 0 || o.LongestStall() > longOutage:
		a.Action = "Let the bond notice a failed link sooner."
		a.How = "Check how often the bond looks at its links, its LACP rate, and the switch's."
		a.Commands = []string{"linerate inspect"}
	}
	return a
}

// longOutage is from where a stalled stream is more than a bond needs to move it:
// carrier is looked at every 100 ms, and a lost packet is sent again within a second.
const longOutage = 2.0

// gained is what a run with phases came to: "+107 %: 478 Mbit/s to 990 Mbit/s".
func gained(c place) string {
	if c.before == nil || c.after == nil {
		return "Not measured on both sides"
	}
	return fmt.Sprintf("%s: from %s to %s", change(c.before.Goodput, c.after.Goodput), goodput(c.before), goodput(c.after))
}

// gainWords say what a remedy is worth. Without a ceiling an expectation has no
// bound, and is not said.
func gainWords(f record.Finding) string {
	switch {
	case !positive(float64(f.Ceiling)):
		return "Not known: nobody declared the links' speed."
	case float64(f.Expected) <= worthExpecting*float64(f.Rate):
		return "Not known before it is measured."
	}
	expected := min(f.Expected, f.Ceiling)
	return fmt.Sprintf("%s instead of %s (%s).", expected, rate(f.Rate), change(f.Rate, expected))
}

// sureWords say how certain a cause is.
func sureWords(f record.Finding) string {
	if !positive(f.Confidence) {
		return "Not known."
	}
	return fmt.Sprintf("%s that this is the cause.", wholePercent(f.Confidence))
}

// sentence makes words a sentence: a capital, where they begin with a plain word,
// and a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	first, _, _ := strings.Cut(s, " ")
	if plainWord.MatchString(first) {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.ContainsAny(s[len(s)-1:], ".:!?") {
		s += "."
	}
	return s
}

// plainWord is a word of the language: no name of a setting, a link or a file.
var plainWord = regexp.MustCompile(`^[a-z]+[,;:]?$`)

// rollback is the command that rolls a tune's changes back; "" where there are none.
func rollback(r record.Record) string {
	t := r.Tuning
	if t == nil || t.Group == "" || !slices.ContainsFunc(t.Settings, func(s record.Setting) bool { return s.Kept }) {
		return ""
	}
	return "linerate rollback " + fabricWord(r) + " " + plaintext.ShellWord(t.Group)
}

// fabricWord is the record's fabric as a command line names it.
func fabricWord(r record.Record) string {
	if r.Fabric.File == "" {
		return "FABRIC"
	}
	return plaintext.ShellWord(r.Fabric.File)
}

func recordWord(o Options) string {
	if o.RecordFile == "" {
		return "record.json"
	}
	return plaintext.ShellWord(o.RecordFile)
}

func explainCommand(o Options) string { return "linerate explain " + recordWord(o) }

// laterCommands measure again and compare.
func laterCommands(r record.Record, o Options) []string {
	return []string{"linerate measure " + fabricWord(r) + " -o later.json", "linerate compare " + recordWord(o) + " later.json"}
}

// tunable are the causes that tune has moves for (internal/advise/tune).
var tunable = map[record.Cause]bool{
	record.HashImbalance: true, record.SingleLink: true, record.ReceiveWindow: true, record.SendBuffer: true, record.MTU: true, record.SenderCPU: true, record.ReceiverCPU: true,
}

// runnable is a code span that is a command line: a program and an argument.
var runnable = regexp.MustCompile(`^[A-Za-z][\w.-]* +\S`)

// unfinished are commands that a remedy names without what they need.
var unfinished = []string{"linerate steer pick", "linerate steer mptcp"}

// mostCommands is how many lines a reader is told to type that a remedy's words name;
// of its steps he is told all, since a part of them may do harm.
const mostCommands = 3

// commandsFor are what a person types for a finding: what the remedy itself names,
// else the run that repairs or explains it.
func commandsFor(r record.Record, f record.Finding, o Options) []string {
	out, options := f.Ways.Commands()
	if options != "" {
		out = append(out, "linerate measure "+fabricWord(r)+" "+options)
	}
	if len(out) > 0 {
		return out
	}
	tune := "linerate tune " + fabricWord(r) + " --dry-run"
	text := f.Remedy // of a record from before there were steps
	if len(f.Ways) > 0 {
		text = strings.Join(f.Ways.Asks(), "; ")
	}
	for i, span := range strings.Split(text, "`") {
		if i%2 == 0 {
			continue
		}
		if span == "linerate tune" {
			span = tune
		}
		if len(out) < mostCommands && runnable.MatchString(span) && !slices.Contains(out, span) && !slices.Contains(unfinished, span) {
			out = append(out, span)
		}
	}
	switch {
	case len(out) > 0:
		return out
	case f.Cause == record.Unknown && f.Decide.Probe != "":
		return []string{explainCommand(o) + " --probe"}
	case tunable[f.Cause] && linux(r, f):
		return []string{tune}
	}
	return []string{explainCommand(o)}
}

// linux reports that both hosts of a finding are changed by this program.
func linux(r record.Record, f record.Finding) bool {
	for _, name := range []string{f.From, f.To} {
		if h, ok := hostOf(r.Environment.Hosts, name); ok && bondopt.Foreign(h.Kernel.OS) {
			return false
		}
	}
	return true
}
