package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// progress shows what happens: on a terminal the running trial is redrawn in
// place, elsewhere each finished thing is one line.
type progress struct {
	app   *App
	begin time.Time

	mu    sync.Mutex
	drawn bool // a line stands that will be redrawn

	// Of events, which come one by one: whether there are several pairs, and
	// what runs now, by pair.
	several bool
	now     map[string]measure.Progress
	hints   []string // that were given

	// Of the live view: the newest finding, and the rate of the running trial
	// until now.
	found     string
	history   []unit.BitRate
	historyOf string
	historyAt time.Time
}

func newProgress(app *App) *progress { return &progress{app: app, begin: time.Now()} }

// say prints one finished line.
func (p *progress) say(format string, args ...any) {
	if p.app.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if line := fmt.Sprintf(format, args...); !p.app.live.above(line) {
		p.clear()
		fmt.Fprintln(p.app.Stderr, line)
	}
}

func (p *progress) clear() {
	if p.drawn {
		p.redraw("")
		p.drawn = false
	}
}

// draw shows a line that the next one replaces; only on a terminal.
func (p *progress) draw(line string) {
	if p.app.quiet || p.app.plain || !p.app.Terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if limit := p.app.width() - 1; len([]rune(line)) > limit {
		line = string([]rune(line)[:limit])
	}
	p.redraw(plaintext.Line(line))
	p.drawn = true
}

// redraw puts a line in the place of the one that stands: the program's own word
// to a terminal, and past the stream that lets none through.
func (p *progress) redraw(line string) {
	fmt.Fprint(bare(p.app.Stderr), "\r\x1b[K"+line)
}

// stage says what begins now.
func (p *progress) stage(format string, args ...any) {
	p.say("%5.1fs  %s", time.Since(p.begin).Seconds(), fmt.Sprintf(format, args...))
}

// told is stage for lines that may be longer than the terminal is wide; blanks
// that a line begins with stay.
func (p *progress) told(line string) {
	text := strings.TrimLeft(line, " ")
	lead := fmt.Sprintf("%5.1fs  %s", time.Since(p.begin).Seconds(), line[:len(line)-len(text)])
	first, rest, _ := strings.Cut(wrapped("", text, p.app.width()-len(lead)), "\n")
	p.say("%s%s", lead, first)
	if rest = strings.TrimSuffix(rest, "\n"); rest != "" {
		indent := strings.Repeat(" ", len(lead)+2)
		p.say("%s", strings.TrimSuffix(wrapped(indent, rest, p.app.width()), "\n"))
	}
}

// tell shows a campaign's event.
func (p *progress) tell(e campaign.Event) {
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
			p.say("        %s to %s%s: no answer", e.Latency.From, e.Latency.To, load)
			return
		}
		p.say("        %s to %s%s: %.2f ms (%.2f to %.2f)%s", e.Latency.From, e.Latency.To, load, e.Latency.AvgMS, e.Latency.MinMS, e.Latency.MaxMS, mtu)
	case campaign.Noted:
		p.note(e.Note)
		p.hint(sshHint(e.Reach, e.Err))
	case campaign.Running:
		line := p.running(e)
		if p.app.drawsLive() {
			p.app.live.show(p.view(e))
		} else {
			p.draw(line)
		}
	case campaign.Measured:
		p.say("  %6s%s", ofTotal(e), p.measured(*e.Trial))
		p.learn(*e.Trial)
	case campaign.Failed:
		p.over(e.Failure.From, e.Failure.To)
		p.failed(*e.Failure)
	case campaign.Routed:
		p.routed(*e.Problem)
	case campaign.Summed:
		p.summed(*e.Group)
	case campaign.Trying:
		p.stage("try: %s", e.Step.Change)
		p.say("%s", trimEnd(wrapped("        why: ", e.Step.Why, p.app.width())))
		for _, c := range e.Step.Commands {
			p.say("        %s", c)
		}
	case campaign.Proven:
		word := "put back"
		if e.Step.Kept {
			word = "kept"
		}
		if unproven(e.Step.Before, e.Step.After) {
			p.say("        not kept: %s", orElse(e.Step.Verdict, "cut short"))
			return
		}
		p.say("%s", trimEnd(wrapped("        "+word+": ", fmt.Sprintf("%v, then %v. %s", e.Step.Before, e.Step.After, e.Step.Verdict), p.app.width())))
	}
}

// note says one sentence, within the width.
func (p *progress) note(text string) {
	p.say("%s", strings.TrimRight(wrapped("        ", oneLine(text), p.app.width()), "\n"))
}

// hint says what to do about what was said, once for all hosts that it is true
// of.
func (p *progress) hint(text string) {
	if text != "" && !slices.Contains(p.hints, text) {
		p.hints = append(p.hints, text)
		p.note("hint: " + text)
	}
}

// unproven reports a step that never came to be measured: it could not be made.
func unproven(before, after unit.BitRate) bool { return before == 0 && after == 0 }

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
