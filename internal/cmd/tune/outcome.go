package tune

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// tuned is the document of `tune --json`.
type tuned struct {
	From       string         `json:"from"`
	To         string         `json:"to"`
	Direction  flow.Direction `json:"direction"`
	Before     unit.BitRate   `json:"before_bps"`
	After      unit.BitRate   `json:"after_bps"`
	Ceiling    unit.BitRate   `json:"ceiling_bps"`
	CeilingMTU int            `json:"ceiling_mtu_bytes,omitempty"`
	// Forward and Reverse are the two ways of After, where it is of both.
	Forward      unit.BitRate `json:"forward_bps,omitempty"`
	Reverse      unit.BitRate `json:"reverse_bps,omitempty"`
	Steps        []TunedStep  `json:"steps"`
	Measurements int          `json:"measurements_count"`
	Elapsed      float64      `json:"elapsed_s"`
	Record       string       `json:"record"`
	// Settings are the values tried on hosts, Load the traffic that carries
	// most, Left what was not tried and why.
	Settings []record.Setting `json:"settings"`
	Load     record.TunedLoad `json:"load"`
	Left     []string         `json:"left"`
	Stopped  string           `json:"stopped,omitempty"`
	// Finding is what limits the result where it is below the target, nil where it
	// is not, or nobody knows.
	Finding *record.Finding `json:"finding,omitempty"`
	// Snippet is how another program comes to Load.
	Snippet *snippet `json:"snippet,omitempty"`
	Traffic float64  `json:"traffic_s"`
	// Group is the run in the hosts' journals, Rollback the command that rolls
	// it back, "" where nothing was kept.
	Group    string `json:"group,omitempty"`
	Rollback string `json:"rollback,omitempty"`
	// Fabric is the tuned fabric file, Unsaid what it could not say; Rendered
	// and Persisted are the files written here, and on the hosts.
	Fabric    string   `json:"fabric,omitempty"`
	Unsaid    []string `json:"unsaid,omitempty"`
	Rendered  []string `json:"rendered,omitempty"`
	Persisted []string `json:"persisted,omitempty"`
}

// TunedStep is a change that was tried, in JSON.
type TunedStep struct {
	Change string       `json:"change"`
	Why    string       `json:"why"`
	Before unit.BitRate `json:"before_bps"`
	After  unit.BitRate `json:"after_bps"`
	Kept   bool         `json:"kept"`
}

// StepsOf are the changes of a record that were tried.
func StepsOf(r record.Record) []TunedStep {
	out := []TunedStep{}
	for _, s := range r.Steps {
		out = append(out, TunedStep{s.Change, s.Why, s.Before, s.After, s.Kept})
	}
	return out
}

// tuneOutcome is what a tune came to, with what only the text says.
type tuneOutcome struct {
	doc   tuned
	steps []record.Step
	// target is the share of the ceiling that was asked for.
	target float64
	// notes are about files that were, or could not be, written.
	notes []string
}

// outcomeOf reads the record of a tune, which may have been cut short.
func outcomeOf(r record.Record, t *tuneRun) tuneOutcome {
	out := tuneOutcome{steps: r.Steps, target: t.options.Target, doc: tuned{
		From: t.options.Path.From, To: t.options.Path.To, Direction: t.direction(), Steps: StepsOf(r), Measurements: len(r.Trials), Record: t.flags.out.Path,
		Settings: []record.Setting{}, Left: []string{},
	}}
	d := &out.doc
	if before, ok := trialOf(r, record.PhaseBefore, t.direction()); ok {
		d.Before = before.Goodput
	}
	result, ok := trialOf(r, record.PhaseAfter, t.direction())
	if ok {
		d.After, d.Ceiling, d.CeilingMTU, d.Forward, d.Reverse = result.Goodput, result.Ceiling, result.CeilingMTU, result.Forward, result.Reverse
	}
	if r.Tuning == nil {
		return out
	}
	d.Settings, d.Left, d.Load = console.OrEmpty(r.Tuning.Settings), console.OrEmpty(r.Tuning.Left), r.Tuning.Load
	d.Traffic, d.Stopped, d.Measurements = r.Tuning.Traffic, r.Tuning.Stopped, r.Tuning.Windows
	if out.kept() > 0 {
		d.Group, d.Rollback = r.Tuning.Group, t.rollback(r.Tuning.Group)
	}
	d.Snippet = t.snippetOf(r, result, d.Load)
	if short(*d, out.target) {
		d.Finding = result.Finding
	}
	return out
}

// rollback is the command that takes the tune back. Hosts that took no part
// need not be there for it.
func (t *tuneRun) rollback(group string) string {
	line := "linerate rollback " + t.path
	for _, h := range t.file.Hosts {
		if h.Reach != "" && h.Name != t.options.Path.From && h.Name != t.options.Path.To {
			line += " --host " + t.options.Path.From + "," + t.options.Path.To
			break
		}
	}
	if t.flags.journal != "" {
		line += " --journal " + t.flags.journal
	}
	return line + " " + group
}

// kept is how many settings are kept.
func (o tuneOutcome) kept() (n int) {
	for _, s := range o.doc.Settings {
		if s.Kept {
			n++
		}
	}
	return n
}

func (t *tuneRun) say(out tuneOutcome) error {
	if t.con.JSON {
		return tuneDocument.Print(t.con, out.doc)
	}
	printTuned(t.con, out)
	return nil
}

// mostLines is how long the end of a tune is: what comes of minutes is read on one
// screen. What was tried was told line by line as it went.
const mostLines = 25

// printTuned is the outcome for people: each setting with its gain, the rates,
// and the commands that roll it back and make it stay. What is too long for a screen
// leaves out reasons first, then what was not kept, then settings beyond the first.
func printTuned(con *console.Console, out tuneOutcome) {
	text := ""
	for level := full; level <= shortest; level++ {
		var b strings.Builder
		screen := *con
		screen.Stdout = &b
		printOutcome(&screen, out, level)
		if text = b.String(); strings.Count(text, "\n") <= mostLines {
			break
		}
	}
	fmt.Fprint(con.Stdout, text)
}

// How much of an outcome is said.
const (
	full = iota
	withoutReasons
	countsOfOthers // what was not kept or not tried
	shortest       // and the first settings alone
)

const mostKept = 2

func printOutcome(con *console.Console, out tuneOutcome, level int) {
	d := out.doc
	say := func(lead, text string) { fmt.Fprint(con.Stdout, console.Wrapped(lead, text, con.Width())) }
	listed, more := 0, 0
	for i, s := range out.steps {
		settings := settingsOf(d.Settings, i)
		switch {
		case !s.Kept && !slices.ContainsFunc(settings, func(set record.Setting) bool { return set.Kept }):
		case level == shortest && listed >= mostKept:
			more++
		default:
			listed++
			printKeptStep(con, s, settings, level == full)
		}
	}
	if more > 0 {
		say("", fmt.Sprintf("kept too: %s, which the record has", unit.Counted(more, "other step")))
	}
	if others := notKept(out.steps, d.Settings); len(others) > 0 {
		what := strings.Join(others, "; ")
		if level >= countsOfOthers {
			what = unit.Counted(len(others), "step") + " that did not help; the record has each with its reason"
		}
		say("not kept: ", what)
	}
	if len(d.Left) > 0 {
		what := console.OneLine(strings.Join(d.Left, "; "))
		if level >= countsOfOthers {
			what = unit.Counted(len(d.Left), "step") + "; the record has each with its reason"
		}
		say("not tried: ", what)
	}
	share := ""
	if d.Ceiling > 0 {
		share = fmt.Sprintf(", %.1f %% of the ceiling of %v", 100*float64(d.After/d.Ceiling), d.Ceiling)
	}
	say("", fmt.Sprintf("before %v, after %v%s; %s, %.0f s of traffic", d.Before, d.After, share, unit.Counted(d.Measurements, "measurement"), d.Traffic))
	printStopped(con, out)
	printSnippet(con, d.Snippet, level)
	for _, note := range out.notes {
		say("", note)
	}
	if d.Rollback != "" {
		command(con, "to roll all of it back", d.Rollback)
	}
	switch {
	case out.kept() == 0:
	case len(d.Persisted) > 0:
		say("it stays over a reboot by: ", strings.Join(d.Persisted, ", "))
	case d.Fabric != "":
		command(con, "to make it stay over a reboot", "linerate apply "+d.Fabric+" --profiles none --persist always")
	default:
		fmt.Fprintln(con.Stdout, "it lasts until the next reboot")
	}
}

// notKept are the steps that were tried and are not kept, each once, with the first
// words of why.
func notKept(steps []record.Step, all []record.Setting) (out []string) {
	for i, s := range steps {
		if s.Kept || slices.ContainsFunc(settingsOf(all, i), func(set record.Setting) bool { return set.Kept }) {
			continue
		}
		words := s.Change
		if why := firstWords(cmp.Or(s.Verdict, s.Why)); why != "" {
			words += " (" + why + ")"
		}
		if words = console.OneLine(words); !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	return out
}

// firstWords is what a verdict says before its details.
func firstWords(verdict string) string {
	const most = 60
	words := strings.Fields(verdict)
	text := ""
	for i, w := range words {
		if i > 0 && len(text)+1+len(w) > most {
			return text + " ..."
		}
		text = strings.TrimSpace(text + " " + w)
	}
	return text
}

// short reports a result below the target.
func short(d tuned, target float64) bool {
	return d.Ceiling > 0 && float64(d.After) < target*float64(d.Ceiling)
}

// printStopped says of a result below the target why the search ended, what limits
// the result, and what to do next.
func printStopped(con *console.Console, out tuneOutcome) {
	d := out.doc
	say := func(lead, text string) {
		if text != "" {
			fmt.Fprint(con.Stdout, console.Wrapped(lead, text, con.Width()))
		}
	}
	if short(d, out.target) {
		say("", fmt.Sprintf("below the target of %.1f %%: %s", 100*out.target, stoppedWords(d.Stopped)))
		if f := d.Finding; f != nil {
			say("cause: ", fmt.Sprintf("%s (%.0f %% sure). %s", f.Cause, 100*f.Confidence, cmp.Or(f.Summary, report.Meaning(f.Cause))))
			say("next: ", cmp.Or(f.Remedy, f.Decide.Text))
		}
	}
	if out.kept() == 0 && len(out.steps) > 0 {
		say("", "no setting of the hosts is changed")
	}
}

// stoppedWords is why a search ended, by the words of record.Tuning.Stopped.
func stoppedWords(stopped string) string {
	switch stopped {
	case "windows":
		return "the measurements allowed are used up (--max-windows)"
	case "traffic":
		return "the traffic allowed is used up (--max-seconds)"
	case "target":
		return "it was reached once, and not again"
	}
	return "no further setting on these hosts helps"
}

// printSnippet says what traffic carries most, and how to come to it.
func printSnippet(con *console.Console, r *snippet, level int) {
	if r == nil {
		return
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", "with "+r.Words, con.Width()))
	if level == shortest && len(r.Pairs) > 1 {
		fmt.Fprint(con.Stdout, console.Wrapped("  ", "over "+unit.Counted(len(r.Pairs), "pair")+" of addresses, which the record has", con.Width()))
	} else {
		for _, pair := range r.Pairs {
			fmt.Fprint(con.Stdout, console.Wrapped("  ", pair, con.Width()))
		}
	}
	if r.Command != "" {
		command(con, "to find such ports for a program", r.Command)
	}
}

// command is a line to type, which is not broken.
func command(con *console.Console, why, line string) {
	fmt.Fprintf(con.Stdout, "%s:\n  %s\n", why, line)
}

// settingsOf are the settings of one step, those that several hosts have in
// common once, with all their names.
func settingsOf(all []record.Setting, step int) []record.Setting {
	var out []record.Setting
	for _, s := range all {
		if s.Step != step {
			continue
		}
		same := slices.IndexFunc(out, func(o record.Setting) bool {
			return o.What == s.What && o.Old == s.Old && o.New == s.New && o.Kept == s.Kept
		})
		if same < 0 {
			out = append(out, s)
			continue
		}
		if names := strings.Split(out[same].Host, ", "); !slices.Contains(names, s.Host) {
			out[same].Host += ", " + s.Host
		}
	}
	return out
}

// printKeptStep lists a step's settings, or the step itself where it changed
// the traffic alone, and why it was kept.
func printKeptStep(con *console.Console, s record.Step, settings []record.Setting, why bool) {
	line := func(word, about string, gain float64, text string) {
		fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("%-11s %s%8s  ", word, about, gainWords(gain)), text, con.Width()))
	}
	if len(settings) == 0 { // other traffic: the hosts are the same
		line("advised", " ", gainOf(s), s.Change)
	}
	for _, set := range settings {
		word, about := "kept", " "
		if !set.Kept {
			word = "rolled back"
		}
		if set.Predicted {
			about = "~"
		}
		line(word, about, set.Gain, fmt.Sprintf("%s: %s: %s -> %s", set.Host, set.What, set.Old, set.New))
	}
	reason := s.Why
	if s.Verdict != "" && gainOf(s) <= 0 {
		reason = s.Verdict // what was kept although its figures do not show why
	}
	if why && reason != "" {
		fmt.Fprint(con.Stdout, console.Wrapped(strings.Repeat(" ", 20), reason, con.Width()))
	}
}

func gainOf(s record.Step) float64 {
	if s.Before <= 0 {
		return 0
	}
	return float64(s.After/s.Before) - 1
}

// gainWords is a gain in at most seven characters, of a thousandfold one as a
// factor.
func gainWords(gain float64) string {
	if gain >= 99 {
		return fmt.Sprintf("x%.0f", 1+gain)
	}
	return fmt.Sprintf("%+.1f %%", 100*gain)
}

func loadWords(l record.TunedLoad) string {
	words := unit.Counted(l.Streams, "stream")
	if l.Ports == "chosen" {
		words += " on chosen source ports"
	}
	if l.Pace > 0 {
		words += fmt.Sprintf(", each paced at %v", l.Pace)
	}
	if l.SocketBuffer > 0 {
		words += fmt.Sprintf(", sockets that ask for %v (`--socket-buffer`)", l.SocketBuffer)
	}
	if l.Congestion != "" {
		words += fmt.Sprintf(", sockets that ask for %s (`--congestion`)", l.Congestion)
	}
	if l.ZeroCopy {
		words += ", sent without a copy (sendfile)"
	}
	return words
}
