package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/unit"
)

// pathView is what a path carried over time, a line a key.
type pathView struct {
	From, To string
	Since    string
	Lines    []lineView
	// All are the paths to choose from, before two hosts are named, the worse
	// ones first; More how many are left out.
	All  []pathStanding
	More int
	// Asked is false before somebody named two hosts.
	Asked bool
}

type lineView struct {
	history.Line
	history.Usual
	Now    history.Standing
	Name   string
	Newest []history.Point // the newest first
	Older  int
	Marks  []marked
	Chart  string // JSON for the page's script
}

// marked is something that happened on a path: what its hosts were set to, another
// ceiling, a rate that left its usual.
type marked struct {
	When  time.Time
	Words string
}

// mostMarks are the newest of a line that its chart shows.
const mostMarks = 12

// pointsListed is how many results of a line the page's table has; its chart
// has all.
const pointsListed = 20

// pathsListed is how many paths there are to choose from.
const pathsListed = 2000

// chart is a line for uPlot: columns of seconds since 1970 and bits a second.
type chart struct {
	At      []int64   `json:"at"`
	Rate    []float64 `json:"rate"`
	Low     []float64 `json:"low"`
	High    []float64 `json:"high"`
	Ceiling []float64 `json:"ceiling"`
	Marks   []mark    `json:"marks"`
}

// mark is a moment to be seen in a chart.
type mark struct {
	At   int64  `json:"at"`
	Word string `json:"word"`
}

// spans are the times that a path can be looked at for.
var spans = map[string]time.Duration{"": 0, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour, "month": 31 * 24 * time.Hour, "year": 366 * 24 * time.Hour}

func (s *site) path(w http.ResponseWriter, r *http.Request, who session) {
	v := pathView{From: r.FormValue("from"), To: r.FormValue("to"), Since: r.FormValue("since")}
	scripts := []string{"uPlot.iife.min.js", "path.js"}
	if v.From == "" && v.To == "" {
		lines, err := s.cfg.Store.Lines(r.Context(), store.Query{Span: store.Span{Since: s.cfg.Now().Add(-spans["year"])}})
		if err != nil {
			s.failed(w, who, err)
			return
		}
		v.All, v.More = bounded(standings(lines), pathsListed)
		s.show(w, http.StatusOK, "path.tmpl", view{Title: "Paths over time", Here: "path", Session: &who, Data: v})
		return
	}
	v.Asked = true
	q, err := queryOf(v, s.cfg.Now())
	if err != nil {
		s.failed(w, who, err)
		return
	}
	lines, err := s.cfg.Store.Lines(r.Context(), q)
	if err != nil {
		s.failed(w, who, err)
		return
	}
	changes := s.changesOf(r.Context(), who.User, v.From, v.To)
	for _, l := range lines {
		v.Lines = append(v.Lines, lineOf(l, changes))
	}
	s.show(w, http.StatusOK, "path.tmpl", view{Title: v.From + " to " + v.To, Here: "path", Session: &who, Scripts: scripts, Data: v})
}

func queryOf(v pathView, now time.Time) (store.Query, error) {
	q := store.Query{From: v.From, To: v.To}
	span, known := spans[v.Since]
	switch {
	case v.From == "" || v.To == "":
		return q, fmt.Errorf("%w: a path has two hosts", errAsked)
	case !known:
		return q, fmt.Errorf("%w: since %.40q: want day, week, month or year", errAsked, v.Since)
	case span > 0:
		q.Since = now.Add(-span)
	}
	return q, nil
}

func lineOf(l history.Line, changes []marked) lineView {
	v := lineView{Line: l, Usual: l.Usual(), Now: l.Standing(), Name: lineName(l.Key)}
	newest := slices.Clone(l.Points)
	slices.Reverse(newest)
	v.Newest = newest[:min(len(newest), pointsListed)]
	v.Older = len(newest) - len(v.Newest)
	var c chart
	v.Marks = marksOf(l, changes)
	for _, m := range v.Marks {
		c.Marks = append(c.Marks, mark{m.When.Unix(), m.Words})
	}
	if v.Now.Verdict == compare.Worse || v.Now.Verdict == compare.Better {
		c.Marks = append(c.Marks, mark{v.Now.Since.Unix(), string(v.Now.Verdict)})
	}
	for _, p := range l.Points {
		c.At, c.Rate = append(c.At, p.Started.Unix()), append(c.Rate, number(p.Goodput))
		c.Low, c.High, c.Ceiling = append(c.Low, number(p.Low)), append(c.High, number(p.High)), append(c.Ceiling, number(p.Ceiling))
	}
	text, err := json.Marshal(c)
	if err == nil { // always: they are numbers and strings
		v.Chart = string(text)
	}
	return v
}

// journalPatience is how long a page waits for a host's journal.
const journalPatience = 2 * time.Second

// changesOf is what the journals of hosts say was changed and stands, the oldest first; a
// host that does not answer is left out.
func (s *site) changesOf(ctx context.Context, who User, hosts ...string) []marked {
	if s.cfg.Fleet == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, journalPatience)
	defer cancel()
	replies := make([][]marked, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() {
			reply, err := s.cfg.Fleet.Journal(ctx, who, host)
			if err != nil {
				s.log.Debug("read a journal for a chart", "host", host, "error", err)
				return
			}
			for _, e := range reply.Entries {
				if c := changeOf(e); (c.Waits || e.State == agentapi.ChangeConfirmed) && len(c.Steps) > 0 {
					words := host + ": " + c.Steps[0]
					if len(c.Steps) > 1 {
						words += fmt.Sprintf(" and %d more", len(c.Steps)-1)
					}
					replies[i] = append(replies[i], marked{e.Started, words})
				}
			}
		})
	}
	all.Wait()
	return slices.Concat(replies...)
}

// marksOf are a line's: its hosts' changes, and ceilings that differ from the run before;
// the oldest first.
func marksOf(l history.Line, changes []marked) []marked {
	if len(l.Points) == 0 {
		return nil
	}
	first := l.Points[0].Started
	var out []marked
	for _, m := range changes {
		if !m.When.Before(first) {
			out = append(out, m)
		}
	}
	for i, p := range l.Points[1:] {
		if was := l.Points[i].Ceiling; was > 0 && p.Ceiling > 0 && was != p.Ceiling {
			out = append(out, marked{p.Started, "ceiling " + rate(p.Ceiling) + " instead of " + rate(was)})
		}
	}
	slices.SortStableFunc(out, func(a, b marked) int { return a.When.Compare(b.When) })
	return out[max(0, len(out)-mostMarks):]
}

// number is a rate that JSON can say.
func number(r unit.BitRate) float64 {
	if v := float64(r); v >= 0 && v < 1e30 {
		return v
	}
	return 0
}

// lineName is a key in words.
func lineName(k history.Key) string {
	words := k.From + " to " + k.To
	switch k.Direction {
	case flow.Reverse:
		words = k.To + " to " + k.From
	case flow.Both:
		words += " and back"
	}
	return words + ", " + trafficOf(k)
}

// trafficOf is what the traffic of a key was asked to be, in words.
func trafficOf(k history.Key) string {
	words := unit.Counted(k.Streams, "stream") + ", " + k.Protocol
	if k.Tool != "linerate" {
		words += " by " + k.Tool
	}
	for _, more := range []string{k.Setting, string(k.Phase)} {
		if more != "" {
			words += ", " + more
		}
	}
	return words
}

// matrixView is who reached whom how well, by the newest result of each.
type matrixView struct {
	Streams int
	Counts  []int
	Since   string
	Hosts   []string
	Rows    []matrixRow
}

// mostTitled is up to how many hosts each cell says its figures to a pointer that
// rests on it: of more they are most of a large page, and its path has them.
const mostTitled = 60

// Titled reports whether cells say their figures.
func (v matrixView) Titled() bool { return len(v.Hosts) <= mostTitled }

type matrixRow struct {
	From  string
	Cells []*matrixCell // nil where nothing was measured
}

type matrixCell struct {
	From, To string
	history.Point
}

// matrixSince is how far back a matrix looks unless asked.
const matrixSince = "month"

func (s *site) matrix(w http.ResponseWriter, r *http.Request, who session) {
	v := matrixView{Since: r.FormValue("since")}
	if v.Since == "" {
		v.Since = matrixSince
	}
	span, known := spans[v.Since]
	if !known {
		s.failed(w, who, fmt.Errorf("%w: since %.40q: want day, week, month or year", errAsked, v.Since))
		return
	}
	q := store.Query{}
	q.Since = s.cfg.Now().Add(-span)
	lines, err := s.cfg.Store.Lines(r.Context(), q)
	if err != nil {
		s.failed(w, who, err)
		return
	}
	_, _ = fmt.Sscan(r.FormValue("streams"), &v.Streams) // what is no number is none
	v.fill(lines)
	s.show(w, http.StatusOK, "matrix.tmpl", view{Title: "Throughput matrix", Here: "matrix", Session: &who, Data: v})
}

// fill takes the newest result of each pair of hosts, in one direction and of
// one stream count: the one asked for, or that which most pairs have.
func (v *matrixView) fill(lines []history.Line) {
	byCount := map[int]map[[2]string]*matrixCell{}
	for _, l := range lines {
		pair := [2]string{l.From, l.To}
		switch l.Direction {
		case flow.Reverse:
			pair = [2]string{l.To, l.From}
		case flow.Forward:
		default:
			continue
		}
		if len(l.Points) == 0 {
			continue
		}
		newest := l.Points[len(l.Points)-1]
		if byCount[l.Streams] == nil {
			byCount[l.Streams] = map[[2]string]*matrixCell{}
		}
		if have := byCount[l.Streams][pair]; have == nil || have.Started.Before(newest.Started) {
			byCount[l.Streams][pair] = &matrixCell{pair[0], pair[1], newest}
		}
	}
	for n := range byCount {
		v.Counts = append(v.Counts, n)
	}
	slices.Sort(v.Counts)
	if byCount[v.Streams] == nil {
		v.Streams = 0
		for _, n := range v.Counts {
			if v.Streams == 0 || len(byCount[n]) > len(byCount[v.Streams]) {
				v.Streams = n
			}
		}
	}
	cells := byCount[v.Streams]
	for pair := range cells {
		for _, h := range pair {
			if !slices.Contains(v.Hosts, h) {
				v.Hosts = append(v.Hosts, h)
			}
		}
	}
	slices.Sort(v.Hosts)
	for _, from := range v.Hosts {
		row := matrixRow{From: from}
		for _, to := range v.Hosts {
			row.Cells = append(row.Cells, cells[[2]string{from, to}])
		}
		v.Rows = append(v.Rows, row)
	}
}
