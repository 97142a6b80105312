// Package progress shows on the terminal what a run does while it does it.
package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// Progress shows what happens: on a terminal the running trial is redrawn in
// place, elsewhere each finished thing is one line.
type Progress struct {
	con   *console.Console
	begin time.Time

	mu    sync.Mutex
	drawn bool // a line stands that will be redrawn

	// Of events, which come one by one: whether there are several pairs,
	// what runs now, by pair, and what failed last.
	several     bool
	now         map[string]measure.Progress
	lastFailure record.Failure
	hints       []string // that were given

	// Of the live view: the newest finding, and the rate of the running trial
	// until now.
	found     string
	history   []unit.BitRate
	historyOf string
	historyAt time.Time
}

// New shows what runs on the console.
func New(con *console.Console) *Progress { return &Progress{con: con, begin: time.Now()} }

// Say prints one finished line.
func (p *Progress) Say(format string, args ...any) {
	if p.con.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if line := fmt.Sprintf(format, args...); !p.con.Live.Above(line) {
		p.Clear()
		fmt.Fprintln(p.con.Stderr, line)
	}
}

// Clear takes off the line that stands.
func (p *Progress) Clear() {
	if p.drawn {
		p.redraw("")
		p.drawn = false
	}
}

// Draw shows a line that the next one replaces; only on a terminal.
func (p *Progress) Draw(line string) {
	if p.con.Quiet || p.con.Plain || !p.con.Terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if limit := p.con.Width() - 1; len([]rune(line)) > limit {
		line = string([]rune(line)[:limit])
	}
	p.redraw(plaintext.Line(line))
	p.drawn = true
}

// redraw puts a line in the place of the one that stands: the program's own word
// to a terminal, and past the stream that lets none through.
func (p *Progress) redraw(line string) {
	fmt.Fprint(console.Bare(p.con.Stderr), "\r\x1b[K"+line)
}

// Stage says what begins now.
func (p *Progress) Stage(format string, args ...any) {
	p.Say("%5.1fs  %s", time.Since(p.begin).Seconds(), fmt.Sprintf(format, args...))
}

// Told is stage for lines that may be longer than the terminal is wide; blanks
// that a line begins with stay.
func (p *Progress) Told(line string) {
	text := strings.TrimLeft(line, " ")
	lead := fmt.Sprintf("%5.1fs  %s", time.Since(p.begin).Seconds(), line[:len(line)-len(text)])
	first, rest, _ := strings.Cut(console.Wrapped("", text, p.con.Width()-len(lead)), "\n")
	p.Say("%s%s", lead, first)
	if rest = strings.TrimSuffix(rest, "\n"); rest != "" {
		indent := strings.Repeat(" ", len(lead)+2)
		p.Say("%s", strings.TrimSuffix(console.Wrapped(indent, rest, p.con.Width()), "\n"))
	}
}

// Tell shows a campaign's event.
func (p *Progress) Tell(e campaign.Event) {
	switch e.Kind {
	case campaign.Planned:
		p.planned(e)
	case campaign.Pinged:
		mtu := ""
		if e.Latency.PathMTU > 0 {
			mtu = fmt.Sprintf(", packets of %d bytes pass", e.Latency.PathMTU)
		}
		load := ""
		if l := e.Latency.Load; l != nil {
			load = fmt.Sprintf(" under load: %s, %d", l.Direction, l.Streams)
		}
		if e.Latency.LossRatio == 1 {
			p.Say("        %s to %s%s: no answer", e.Latency.From, e.Latency.To, load)
			return
		}
		p.Say("        %s to %s%s: %.2f ms (%.2f to %.2f)%s", e.Latency.From, e.Latency.To, load, e.Latency.AvgMS, e.Latency.MinMS, e.Latency.MaxMS, mtu)
	case campaign.Noted:
		p.Note(e.Note)
		p.Hint(console.SSHHint(e.Reach, e.Err))
	case campaign.Running:
		line := p.running(e)
		if drawsLive(p.con) {
			p.con.Live.Show(p.view(e))
		} else {
			p.Draw(line)
		}
	case campaign.Measured:
		p.Say("  %6s%s", ofTotal(e), p.measured(*e.Trial))
		p.learn(*e.Trial)
	case campaign.Failed:
		p.over(e.Failure.From, e.Failure.To)
		p.failed(*e.Failure)
	case campaign.Routed:
		p.routed(*e.Problem)
	case campaign.Summed:
		p.summed(*e.Group)
	case campaign.Trying:
		p.Stage("try: %s", e.Step.Change)
		p.Say("%s", console.TrimEnd(console.Wrapped("        why: ", e.Step.Why, p.con.Width())))
		for _, c := range e.Step.Commands {
			p.Say("        %s", c)
		}
	case campaign.Proven:
		word := "rolled back"
		if e.Step.Kept {
			word = "kept"
		}
		if Unproven(e.Step.Before, e.Step.After) {
			p.Say("        not kept: %s", cmp.Or(e.Step.Verdict, "cut short"))
			return
		}
		p.Say("%s", console.TrimEnd(console.Wrapped("        "+word+": ", fmt.Sprintf("%v, then %v. %s", e.Step.Before, e.Step.After, e.Step.Verdict), p.con.Width())))
	}
}

// Note says one sentence, within the width.
func (p *Progress) Note(text string) {
	p.Say("%s", strings.TrimRight(console.Wrapped("        ", console.OneLine(text), p.con.Width()), "\n"))
}

// Hint says what to do about what was said, once for all hosts that it is true
// of.
func (p *Progress) Hint(text string) {
	if text != "" && !slices.Contains(p.hints, text) {
		p.hints = append(p.hints, text)
		p.Note("hint: " + text)
	}
}

// Unproven reports a step that never came to be measured: it could not be made.
func Unproven(before, after unit.BitRate) bool { return before == 0 && after == 0 }

// trialLine is a finished trial in one line of at most 80 columns with the
// margin; the pair is named where it is not plain from the context.
func trialLine(t record.Trial) string {
	noun := "streams"
	if t.Streams == 1 {
		noun = "stream "
	}
	share, cause := "", ""
	if t.Ceiling > 0 {
		share = fmt.Sprintf("%5.1f %% of %v", 100*float64(t.Goodput/t.Ceiling), t.Ceiling)
	}
	if t.Finding != nil {
		cause = string(t.Finding.Cause)
	}
	return fmt.Sprintf("%-7s %3d %s  %-13v %s  %s", t.Direction, t.Streams, noun, t.Goodput, share, cause)
}

func running(r measure.Progress) string {
	rate := ""
	if r.Rate > 0 {
		rate = " " + r.Rate.String()
	}
	return fmt.Sprintf("        %s to %s %s, %s, %s%s (%.0f s)", r.Spec.From, r.Spec.To, r.Spec.Direction, unit.Counted(r.Spec.Streams, "stream"),
		r.Stage, strings.TrimRight(rate, " "), r.Elapsed.Seconds())
}

// LeftOut says which links the hosts are managed over and are left out for it.
func (p *Progress) LeftOut(hosts ...netstate.Host) {
	for _, line := range fabric.LeftOut(hosts) {
		p.Note(line)
	}
}

// Notes says what whoever works with a host should know of it.
func (p *Progress) Notes(h *fleet.Host) {
	for _, note := range h.Notes() {
		p.Note(h.Name + ": " + note)
	}
}

// routed says what is wrong with a route, and the lines that mend it.
func (p *Progress) routed(problem pathcheck.Problem) {
	width := p.con.Width()
	say := func(text string) { p.Say("%s", strings.TrimRight(text, "\n")) }
	say(console.Wrapped("  route: ", problem.Host+": "+problem.Summary, width))
	if len(problem.Remedy) > 0 {
		say("         remedy, on " + problem.Host + ":")
	}
	for _, line := range problem.Lines() {
		say("           " + line)
	}
}

// summed is the sum of a group in one line.
func (p *Progress) summed(g record.Group) {
	share := ""
	if g.Ceiling > 0 {
		share = fmt.Sprintf("%5.1f %% of %v", 100*float64(g.Goodput/g.Ceiling), g.Ceiling)
	}
	p.Say("   sum  %-7s %d trials    %-13v %s", g.Direction, g.Trials, g.Goodput, share)
}

// Roughly is a duration as people say it: "8 s", "1 min 40 s", "2 h 10 min".
func Roughly(d time.Duration) string {
	switch {
	case d < 20*time.Second:
		return fmt.Sprintf("%.0f s", max(d, time.Second).Seconds())
	case d < 5*time.Minute:
		d = d.Round(5 * time.Second)
	case d < time.Hour:
		d = d.Round(time.Minute)
	default:
		d = d.Round(10 * time.Minute)
	}
	var words []string
	for _, u := range []struct {
		of   time.Duration
		word string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / u.of; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, u.word))
			d -= n * u.of
		}
	}
	return strings.Join(words, " ")
}

// plannedLine is what a matrix comes to before it starts.
func plannedLine(e campaign.Event) string {
	line := fmt.Sprintf("measure %s in %s", unit.Counted(e.Total, "trial"), unit.Counted(e.Rounds, "round"))
	if e.Done > 0 {
		line = fmt.Sprintf("measure the other %s of %d", unit.Counted(e.Total-e.Done, "trial"), e.Total)
	}
	if e.Left > 0 {
		line += ", about " + Roughly(e.Left)
	}
	return line
}

// planned says what a matrix comes to. One trial needs no plan.
func (p *Progress) planned(e campaign.Event) {
	p.several = e.Rounds > 1 || e.Together > 1
	if e.Total > 1 {
		p.Stage("%s", plannedLine(e))
	}
}

// ofTotal is how far a matrix is: " 5/24 ".
func ofTotal(e campaign.Event) string {
	if e.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%2d/%d ", e.Done, e.Total)
}

// measured is a finished trial's line; its pair is named where there are
// several.
func (p *Progress) measured(t record.Trial) string {
	p.over(t.From, t.To)
	if p.several {
		return report.TrialLine(t, p.con.Width()-10)
	}
	return trialLine(t)
}

// failed is a trial that came to nothing, within the width. What the pair's last one said
// is not said again.
func (p *Progress) failed(f record.Failure) {
	what := fmt.Sprintf("%s to %s", f.From, f.To)
	if f.Streams > 0 {
		what += fmt.Sprintf(" %s, %s", f.Direction, unit.Counted(f.Streams, "stream"))
	}
	why := f.Error
	if last := p.lastFailure; last.From == f.From && last.To == f.To && last.Error == f.Error {
		why = "the same"
	}
	p.lastFailure = f
	p.Say("%s", strings.TrimRight(console.Wrapped("  failed: ", what+": "+console.OneLine(why), p.con.Width()), "\n"))
}

// over takes a pair off those that run.
func (p *Progress) over(from, to string) { delete(p.now, from+" "+to) }

// running is the line of what runs now, with the time left.
func (p *Progress) running(e campaign.Event) string {
	if p.now == nil {
		p.now = make(map[string]measure.Progress)
	}
	p.now[e.Progress.Spec.From+" "+e.Progress.Spec.To] = *e.Progress
	line := running(*e.Progress)
	if e.Together > 1 {
		line = together(p.now, *e.Progress, e.Together)
	}
	if of := ofTotal(e); of != "" {
		line = fmt.Sprintf("  %6s", of) + strings.TrimLeft(line, " ")
	}
	if e.Left > 0 {
		line += ", " + Roughly(e.Left) + " left"
	}
	return line
}

// together is the line of pairs that run at the same time: what they carry in
// sum.
func together(now map[string]measure.Progress, last measure.Progress, pairs int) string {
	var sum unit.BitRate
	for _, one := range now {
		sum += one.Rate
	}
	rate := ""
	if sum > 0 {
		rate = " " + sum.String() + " in sum"
	}
	return fmt.Sprintf("%d pairs at once, %s, %s, %s%s", pairs, last.Spec.Direction, unit.Counted(last.Spec.Streams, "stream"), last.Stage, rate)
}
