package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Bounds of the status page.
const (
	pathsShown  = 200
	alarmsShown = 8
	runsOnTop   = 5
	// statusSince is how far back it looks.
	statusSince = "month"
)

// statusView is what got worse, what is going on, and how every path stands.
type statusView struct {
	Since     string
	Headline  string
	Worse     []pathStanding // at most alarmsShown, the greatest loss first
	MoreWorse int
	Paths     []pathStanding // at most pathsShown, the worse ones first
	MorePaths int
	Measuring []Measuring // that go on
	Hosts     int
	Gone      []string // hosts that have said nothing for long
	Runs      []store.Run
	AllRuns   int
}

// pathStanding is one way between two hosts as the page tells of it.
type pathStanding struct {
	From, To string // as the traffic went
	Words    string // the traffic: "4 streams, tcp"
	history.Standing
	Last  history.Point
	Spark spark
	Cause record.Cause
	Back  bool // both ways at the same time
}

// Lost is what is gone of the usual, as a share; below zero it is a gain.
func (p pathStanding) Lost() float64 {
	if !(p.Usual.Median > 0) {
		return 0
	}
	return 1 - float64(p.Now/p.Usual.Median)
}

// State is a word for the table.
func (p pathStanding) State() string {
	switch p.Verdict {
	case compare.Worse:
		return "worse"
	case compare.Better:
		return "better"
	case compare.TooFew:
		return "new"
	}
	return "as usual"
}

// status is the first page.
func (s *site) status(w http.ResponseWriter, r *http.Request, who session) {
	v, err := s.statusOf(r.Context())
	if err != nil {
		s.failed(w, who, err)
		return
	}
	page := view{Title: v.Headline, Here: "status", Session: &who, Data: v}
	if len(v.Measuring) > 0 {
		page.Scripts = []string{"again.js"}
	}
	s.show(w, http.StatusOK, "status.tmpl", page)
}

func (s *site) statusOf(ctx context.Context) (statusView, error) {
	v := statusView{Since: statusSince}
	q := store.Query{Span: store.Span{Since: s.cfg.Now().Add(-spans[statusSince])}}
	lines, err := s.cfg.Store.Lines(ctx, q)
	if err != nil {
		return v, err
	}
	if v.Runs, v.AllRuns, err = s.cfg.Store.Runs(ctx, store.Span{}, runsOnTop); err != nil {
		return v, err
	}
	v.Paths = standings(lines)
	all := len(v.Paths)
	for _, p := range v.Paths {
		if p.Verdict == compare.Worse {
			v.Worse = append(v.Worse, p)
		}
	}
	v.Headline = headline(len(v.Worse), all, v.AllRuns)
	v.Worse, v.MoreWorse = bounded(v.Worse, alarmsShown)
	v.Paths, v.MorePaths = bounded(v.Paths, pathsShown)
	return v, s.addFleet(ctx, &v)
}

// addFleet adds what hosts are there and what they measure.
func (s *site) addFleet(ctx context.Context, v *statusView) error {
	if s.cfg.Fleet == nil {
		return nil
	}
	hosts, err := s.cfg.Fleet.Hosts(ctx)
	if err != nil {
		return err
	}
	v.Hosts = len(hosts)
	for _, h := range hosts {
		if h.Gone {
			v.Gone = append(v.Gone, h.Name)
		}
	}
	for _, m := range s.cfg.Fleet.Measuring() {
		if !m.Ended {
			v.Measuring = append(v.Measuring, m)
		}
	}
	return nil
}

// bounded is the first of a list, and how many are left out.
func bounded[T any](all []T, most int) ([]T, int) {
	n := min(len(all), most)
	return all[:n], len(all) - n
}

func headline(worse, paths, runs int) string {
	switch {
	case worse == 1:
		return "One path got worse"
	case worse > 1:
		return fmt.Sprintf("%d paths got worse", worse)
	case paths == 0 && runs == 0:
		return "Nothing is measured yet"
	case paths == 0:
		return "Nothing was measured this month"
	case paths == 1:
		return "The path is as usual"
	}
	return fmt.Sprintf("All %d paths are as usual", paths)
}

// standings are the ways between hosts, one row each: of several kinds of traffic
// the one that lost most, else that of most streams. The worse ones come first,
// then by name.
func standings(lines []history.Line) []pathStanding {
	rows := make(map[[3]string]pathStanding)
	streams := make(map[[3]string]int)
	for _, l := range lines {
		if len(l.Points) == 0 || l.Phase == record.PhaseStep {
			continue
		}
		p := standingOf(l)
		key := [3]string{p.From, p.To, fmt.Sprint(p.Back)}
		have, there := rows[key]
		if there && !before(p, l.Streams, have, streams[key]) {
			continue
		}
		rows[key], streams[key] = p, l.Streams
	}
	out := make([]pathStanding, 0, len(rows))
	for _, p := range rows {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b pathStanding) int {
		if c := cmp.Compare(rank(a), rank(b)); c != 0 {
			return c
		}
		if rank(a) == 0 {
			if c := cmp.Compare(b.Lost(), a.Lost()); c != 0 {
				return c
			}
		}
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), strings.Compare(a.Words, b.Words))
	})
	return out
}

// before reports whether a row is told rather than another of the same hosts.
func before(p pathStanding, streams int, have pathStanding, than int) bool {
	if a, b := rank(p), rank(have); a != b {
		return a < b
	}
	if rank(p) == 0 && p.Lost() != have.Lost() {
		return p.Lost() > have.Lost()
	}
	if streams != than {
		return streams > than
	}
	return p.Last.Started.After(have.Last.Started)
}

func rank(p pathStanding) int {
	if p.Verdict == compare.Worse {
		return 0
	}
	return 1
}

func standingOf(l history.Line) pathStanding {
	last := l.Points[len(l.Points)-1]
	p := pathStanding{From: l.From, To: l.To, Words: trafficOf(l.Key), Standing: l.Standing(), Last: last, Cause: last.Cause, Spark: sparkOf(l.Points), Back: l.Direction == flow.Both}
	if l.Direction == flow.Reverse {
		p.From, p.To = l.To, l.From
	}
	return p
}

// moment is a time in words as a person needs it: the hour where it was today.
func (s *site) moment(t time.Time) string {
	t = t.UTC()
	if now := s.cfg.Now().UTC(); t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}

// fallen is what got worse, in a sentence.
func fallen(p pathStanding) string {
	now := "nothing comes through"
	if p.Now > 0 {
		now = p.Now.String()
	}
	return fmt.Sprintf("%s instead of %s", now, unit.BitRate(p.Usual.Median))
}
