package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

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
	for _, line := range problem.Remedy {
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

// failed is a trial that came to nothing, within the width.
func (p *Progress) failed(f record.Failure) {
	what := fmt.Sprintf("%s to %s", f.From, f.To)
	if f.Streams > 0 {
		what += fmt.Sprintf(" %s, %s", f.Direction, unit.Counted(f.Streams, "stream"))
	}
	p.Say("%s", strings.TrimRight(console.Wrapped("  failed: ", what+": "+console.OneLine(f.Error), p.con.Width()), "\n"))
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
