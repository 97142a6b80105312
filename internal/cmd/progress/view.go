package progress

import (
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/tui"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// moment is how often the rate's history has a value.
const moment = 250 * time.Millisecond

// view is what runs now, for the terminal.
func (p *Progress) view(e campaign.Event) tui.View {
	last := *e.Progress
	offered := string(last.Spec.Direction) + ", " + unit.Counted(last.Spec.Streams, "stream")
	v := tui.View{
		Done: e.Done, Total: e.Total, Stage: last.Stage, Elapsed: last.Elapsed, Rate: last.Rate, Ceiling: last.Ceiling, RTT: last.RTT, Found: p.found,
		What: last.Spec.From + " to " + last.Spec.To + " " + offered,
	}
	switch {
	case e.Left > 0:
		v.Left = Roughly(e.Left)
	case last.Left > 0 && e.Total <= 1:
		v.Left = Roughly(last.Left)
	}
	if len(p.now) > 1 {
		p.pairs(&v, e.Together, offered)
	} else {
		v.Hosts = hostsOf(last)
	}
	p.remember(v.What, v.Rate)
	v.History = p.history
	return v
}

// remember adds to the history of the rate, which begins anew with each trial.
func (p *Progress) remember(what string, rate unit.BitRate) {
	if what != p.historyOf {
		p.history, p.historyOf = nil, what
	}
	if now := time.Now(); rate > 0 && now.Sub(p.historyAt) >= moment {
		p.history, p.historyAt = append(p.history[max(0, len(p.history)-100):len(p.history):len(p.history)], rate), now
	}
}

// learn is told of a finished trial: what limits it is what the next view says.
// Where nothing else runs the view rests.
func (p *Progress) learn(t record.Trial) {
	if t.Finding != nil {
		p.found = string(t.Finding.Cause) + ": " + console.OneLine(t.Finding.Summary)
	}
	p.history = nil
	if len(p.now) == 0 && drawsLive(p.con) {
		p.con.Live.Rest()
	}
}

// drawsLive reports whether a terminal is there to draw on, and wanted: the log
// and a view would be in each other's way.
func drawsLive(con *console.Console) bool {
	return con.Live != nil && con.Terminal && !con.Quiet && !con.Plain && !con.Verbose
}

// pairs shows several pairs that are measured at the same time, one row each.
func (p *Progress) pairs(v *tui.View, together int, offered string) {
	v.What = unit.Counted(max(together, len(p.now)), "pair") + " at once, " + offered
	v.Rate, v.Ceiling, v.RTT = 0, 0, 0
	var h tui.Host
	for _, one := range p.now {
		v.Rate, v.Ceiling, v.RTT = v.Rate+one.Rate, v.Ceiling+one.Ceiling, max(v.RTT, one.RTT)
		h.Rows = append(h.Rows, tui.Row{Name: one.Spec.From + " to " + one.Spec.To, Way: wayOf(one.Spec.Direction), Rate: one.Rate, Ceiling: one.Ceiling})
	}
	slices.SortFunc(h.Rows, func(a, b tui.Row) int { return strings.Compare(a.Name, b.Name) })
	v.Hosts = []tui.Host{h}
}

func wayOf(d flow.Direction) tui.Way {
	switch d {
	case flow.Forward:
		return tui.Out
	case flow.Reverse:
		return tui.In
	}
	return tui.Both
}

// hostsOf are the links of a trial, the host it is measured from first; of a
// trial in one direction only that one, as acknowledgements are no load.
func hostsOf(p measure.Progress) []tui.Host {
	var out []tui.Host
	for _, name := range []string{p.Spec.From, p.Spec.To} {
		h := tui.Host{Name: name}
		sends := p.Spec.Direction == flow.Both || (p.Spec.Direction == flow.Forward) == (name == p.Spec.From)
		takes := p.Spec.Direction == flow.Both || !sends
		for _, l := range p.Links {
			if l.Host != name {
				continue
			}
			if sends {
				h.Rows = append(h.Rows, tui.Row{Name: l.Link, Way: tui.Out, Rate: carried(l.Out, l.Ceiling), Ceiling: l.Ceiling, Streams: streamsOn(p, l)})
			}
			if takes {
				h.Rows = append(h.Rows, tui.Row{Name: l.Link, Way: tui.In, Rate: carried(l.In, l.Ceiling), Ceiling: l.Ceiling})
			}
		}
		if len(h.Rows) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// stillLink is the share of its ceiling below which a link counts as idle:
// somebody's keep-alives are no load.
const stillLink = 0.001

func carried(rate, ceiling unit.BitRate) unit.BitRate {
	if rate < ceiling*stillLink {
		return 0
	}
	return rate
}

func streamsOn(p measure.Progress, l measure.LinkLoad) []int {
	var out []int
	for _, s := range p.Streams {
		if s.Host == l.Host && s.Link == l.Link {
			out = append(out, s.Number)
		}
	}
	return out
}
