package cli

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// planned says what a matrix comes to. One trial needs no plan.
func (p *progress) planned(e campaign.Event) {
	p.several = e.Rounds > 1 || e.Together > 1
	if e.Total > 1 {
		p.stage("%s", plannedLine(e))
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
func (p *progress) measured(t record.Trial) string {
	p.over(t.From, t.To)
	if p.several {
		return report.TrialLine(t, p.app.width()-10)
	}
	return trialLine(t)
}

// failed is a trial that came to nothing, within the width.
func (p *progress) failed(f record.Failure) {
	what := fmt.Sprintf("%s to %s", f.From, f.To)
	if f.Streams > 0 {
		what += fmt.Sprintf(" %s, %s", f.Direction, streamsWord(f.Streams))
	}
	p.say("%s", strings.TrimRight(wrapped("  failed: ", what+": "+oneLine(f.Error), p.app.width()), "\n"))
}

// over takes a pair off those that run.
func (p *progress) over(from, to string) { delete(p.now, from+" "+to) }

// running is the line of what runs now, with the time left.
func (p *progress) running(e campaign.Event) string {
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
		line += ", " + roughly(e.Left) + " left"
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
