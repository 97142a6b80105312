package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// page is everything the template prints: finished words and coordinates.
type page struct {
	Title, Kind, Headline string
	Started, ID, Version  string
	Compared              bool
	Words                 pageWords
	Do                    advice
	Figures               []figure
	Context               string
	Results               []resultRow
	Ceilings              bool // some result has a ceiling
	ResultNote            string
	Failures              []record.Failure
	Many                  bool // more pairs than a headline speaks of singly
	Series                []seriesView
	Grids                 []heat // host by host
	Heats                 []heat // by stream count
	Ladders               []ladder
	Outage                *timeline // of the run in which a link failed
	Findings              []findingView
	Full                  int // findings of full links: folded unless there are no others
	FullOnly              bool
	Hosts                 []hostFindingView
	HostInfos             int // of them those to know about: folded
	Steps                 []stepView
	Settings              []settingRow
	Tuned                 []fact
	Latency               [][]string
	Trials                []trialView
	Facts                 []fact
	Bonds, SameBonds      []bondSetting // what changed, and what did not
	FabricText            string
	Repeat                []string
	Ceiling               string
	Protocols             string
	Left                  leftOut
}

// pageWords are what a page calls its rates: measured ones, or predicted.
type pageWords struct {
	Rate, Carried string
	Foreseen      bool
}

// leftOut is how many of each kind a page has no room for: it stays one that a
// browser opens in a moment, however much was measured.
type leftOut struct{ Results, Series, Findings, Hosts, Trials int }

// What a page has at most.
const (
	mostResults  = 300
	mostSeries   = 30
	mostFindings = 60
	mostTrials   = 60
)

// atMost shortens a list and says how much was left out.
func atMost[T any](all []T, most int) ([]T, int) {
	if len(all) <= most {
		return all, 0
	}
	return all[:most], len(all) - most
}

// figure is one of the large numbers at the top.
type figure struct{ Label, Value, Unit, Note, Class string }

type fact struct{ Name, Value string }

// resultRow is one line of the summary.
type resultRow struct {
	Qualifier, Way, Direction string
	Streams, Links            string
	Before, After             side
	Ceiling, MTU, Gain        string
	reached                   float64 // share of the ceiling by the newest side; 1 unknown
}

// side is one phase of one place: the number, what it is made of, its share of
// the ceiling as words and as the width of a bar from 0 to 100.
type side struct {
	Goodput, Interval, Ways string
	Share                   string
	Width                   float64
	Predicted               string
	Cause, Meaning          string
	Measured                bool
}

type seriesView struct {
	ID, Name string
	Open     bool
	Compared bool
	Maps     []mapRowView
	Panels   []panel
	Matrix   []matrixGroup
	Repeats  string
}

// mapRowView is the drawings of one direction, side by side.
type mapRowView struct {
	Name, Way, Streams string
	Maps               []topology
	Ceiling            string
	Table              [][]string
}

type matrixGroup struct {
	Direction, Way string
	Rows           []matrixRow
}

type matrixRow struct {
	Streams       string
	Before, After side
	Ceiling       string
}

// shownOpen is how many pairs are shown unfolded.
const shownOpen = 3

func pageOf(r record.Record, o Options) page {
	all := seriesOf(r)
	p := page{Title: title(r, o), Kind: kind(r), Headline: unbroken(headline(r, all, measured())), Started: instant(r.Started), ID: orUnknown(r.ID), Version: orUnknown(r.Linerate),
		Compared: phased(r), Failures: r.Failures, FabricText: r.Fabric.Text, Repeat: repeatCommands(r, o), Many: many(all), Words: pageWords{Rate: "Measured", Carried: "carried"}}
	p.Do = adviceOf(r, all, o)
	p.Figures = figuresOf(r, all, p.Compared)
	p.Context = contextOf(r, all)
	for _, s := range all {
		for _, c := range s.places() {
			row := resultOf(s, c, len(all) > 1)
			p.Ceilings = p.Ceilings || row.Ceiling != unknown
			p.Results = append(p.Results, row)
		}
	}
	p.Results, p.Left.Results = furthest(p.Results, mostResults, func(row resultRow) float64 { return row.reached })
	if p.Many {
		slices.SortStableFunc(p.Results, func(a, b resultRow) int { return cmp.Compare(a.reached, b.reached) })
	}
	p.ResultNote = ceilingNote(all)
	shown, left := atMost(all, mostSeries)
	p.Left.Series = left
	for i, s := range shown {
		p.Series = append(p.Series, seriesViewOf(fmt.Sprintf("pair-%d", i+1), s, r, i < shownOpen))
	}
	if h, ok := heatByStreams("heat-streams", all); ok {
		p.Heats = append(p.Heats, h)
	}
	p.Grids, p.Ladders = heatsByHost("heat-hosts", all), laddersOf(all)
	groups, left := atMost(findingGroups(r), mostFindings)
	p.Left.Findings = left
	for _, g := range groups {
		view := findingViewOf(g)
		if p.Findings = append(p.Findings, view); view.Good {
			p.Full++
		}
	}
	p.FullOnly = p.Full == len(p.Findings)
	end := r.Environment.After
	if len(end) == 0 {
		end = r.Environment.Hosts
	}
	p.Hosts, p.Left.Hosts = atMost(hostFindings(end), mostFindings)
	for _, f := range p.Hosts {
		if f.Info {
			p.HostInfos++
		}
	}
	if t, _, ok := worstOutage(r); ok && !p.Compared {
		if l, ok := timelineOf("outage-time", t); ok {
			p.Outage = &l
		}
	}
	for i, s := range r.Steps {
		p.Steps = append(p.Steps, stepViewOf(i+1, s))
	}
	p.Settings, p.Tuned = settingRows(r), tuneNotes(r)
	for _, l := range r.Latency {
		p.Latency = append(p.Latency, latencyRow(l, orUnknown))
	}
	trials, left := furthest(ordered(r), mostTrials, func(t record.Trial) float64 { return reached(&t, t.Ceiling) })
	p.Left.Trials = left
	for i, t := range trials {
		p.Trials = append(p.Trials, trialViewOf(i+1, t))
	}
	p.Facts = factsOf(r)
	for _, b := range bondSettings(r) {
		if p.Compared && b.Changed {
			p.Bonds = append(p.Bonds, b)
		} else {
			p.SameBonds = append(p.SameBonds, b)
		}
	}
	return p
}

// furthest are those that a page has room for: of too many those furthest below the
// ceiling, in the order they were in; and how many were left out.
func furthest[T any](all []T, most int, reached func(T) float64) ([]T, int) {
	if len(all) <= most {
		return all, 0
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(reached(all[a]), reached(all[b])) })
	order = order[:most]
	slices.Sort(order)
	out := make([]T, 0, most)
	for _, i := range order {
		out = append(out, all[i])
	}
	return out, len(all) - most
}

// reached is the share of the ceiling that a trial carried; 1 where it is unknown.
func reached(t *record.Trial, ceiling unit.BitRate) float64 {
	if f, ok := fraction(t.Goodput, ceiling); ok {
		return f
	}
	return 1
}

// united is a number, a blank and its unit.
var united = regexp.MustCompile(`(\d) (%|[kMGT]?bit/s|[mµu]?s\b)`)

// unbroken keeps numbers and their units on one line.
func unbroken(s string) string { return united.ReplaceAllString(s, "${1}\u00a0${2}") }

// figuresOf are the leading place's numbers: never one that nobody knows.
func figuresOf(r record.Record, all []series, compared bool) []figure {
	s, c, ok := lead(all)
	if !ok {
		return nil
	}
	t := c.last()
	ceiling, size := c.ceiling()
	note := s.way(t.Direction) + ", " + c.counted()
	var out []figure
	add := func(label, value, note, class string) {
		if value == unknown || value == "" {
			return
		}
		n, u, _ := strings.Cut(value, " ")
		out = append(out, figure{label, n, u, note, class})
	}
	switch _, outage, failed := worstOutage(r); {
	case compared:
		before, after := note, note
		if c.before != nil && c.after != nil {
			before, after = unit.Counted(c.before.Streams, "stream"), unit.Counted(c.after.Streams, "stream")
		}
		add("Before", goodput(c.before), joinWith(", ", before, ofTheCeiling(ofCeiling(c.before, ceiling))), "before")
		add("After", goodput(c.after), joinWith(", ", after, ofTheCeiling(ofCeiling(c.after, ceiling))), "after")
		if c.before != nil && c.after != nil {
			if times, ok := fraction(c.after.Goodput, c.before.Goodput); ok {
				out = append(out, figure{"Gain", "× " + number(times), "", s.way(t.Direction), "gain"})
			}
		}
	case failed:
		add("Measured", goodput(t), note, "single")
		add("Stood still", seconds(outage.LongestStall()), "longest of all streams", "before")
		add("Back at 90 %", seconds(outage.Recovered), "of what the links left allow", "")
	case many(all):
		return matrixFigures(all)
	default:
		add("Measured", goodput(t), note, "single")
		if ceiling > 0 {
			add("Of the ceiling", ofCeiling(t, ceiling), string(cause(t)), "")
		} else if value, u := perLink(t); value != "" {
			out = append(out, figure{"Each link", value, u, "of " + orUnknown(senderLinks(t)[0].Host), ""})
		}
	}
	words := "payload"
	if size > 0 {
		words = fmt.Sprintf("payload at MTU %d", size)
	}
	add("Ceiling", rate(ceiling), words, "")
	return out
}

// perLink are the sending links' rates in one unit: "95.6 · 95.6 · 48.1" and
// "Mbit/s"; of many the least and the most.
func perLink(t *record.Trial) (value, of string) {
	rates := linkRates(t)
	if len(rates) == 0 || slices.Max(rates) <= 0 {
		return "", ""
	}
	scale := unitOf(slices.Max(rates))
	low, high := number(float64(slices.Min(rates)/scale.of)), number(float64(slices.Max(rates)/scale.of))
	switch {
	case low == high:
		return low, scale.name
	case len(rates) > mostEach:
		return low + " to " + high, scale.name
	}
	var words []string
	for _, v := range rates {
		words = append(words, number(float64(v/scale.of)))
	}
	return strings.Join(words, " · "), scale.name
}

// matrixFigures are a matrix's numbers: how many ways are full, and how far apart
// they lie.
func matrixFigures(all []series) []figure {
	m := matrixOf(all)
	var out []figure
	add := func(label string, v float64, class string) {
		if value := rate(unit.BitRate(v)); value != unknown {
			n, u, _ := strings.Cut(value, " ")
			out = append(out, figure{label, n, u, fmt.Sprintf("of %d ways", m.ways), class})
		}
	}
	if m.known > 0 {
		out = append(out, figure{"At the ceiling", fmt.Sprintf("%d of %d", m.full, m.ways), "", "97 % of it or more", "single"})
	}
	add("Slowest", m.rates[0], "before")
	add("Median", m.rates[len(m.rates)/2], "")
	add("Fastest", m.rates[len(m.rates)-1], "")
	return out
}

// contextOf is the line under the headline.
func contextOf(r record.Record, all []series) string {
	var parts []string
	switch {
	case r.Environment.BackEnd != "":
		parts = append(parts, "Measured in the "+r.Environment.BackEnd+" lab on a real Linux kernel "+orUnknown(r.Environment.Kernel))
	case r.Environment.Kernel != "":
		parts = append(parts, "Measured on kernel "+r.Environment.Kernel)
	}
	if len(r.Trials) > 0 {
		parts = append(parts, unit.Counted(len(r.Trials), "trial")+" of "+unit.Counted(len(all), "pair"))
	}
	if n := len(r.Steps); n > 0 {
		parts = append(parts, fmt.Sprintf("%s tried, %d kept", unit.Counted(n, "change"), kept(r)))
	}
	if n := len(r.Failures); n > 0 {
		parts = append(parts, unit.Counted(n, "pair")+" not measured")
	}
	return strings.Join(parts, " · ")
}

func sideOf(c cell, t *record.Trial) side {
	if t == nil {
		return side{Goodput: "not measured", Predicted: unknown}
	}
	ceiling, _ := c.ceiling()
	v := side{Goodput: goodput(t), Interval: interval(t), Share: ofCeiling(t, ceiling), Predicted: rate(t.Predicted),
		Cause: string(cause(t)), Meaning: Meaning(cause(t)), Measured: true}
	if f, ok := fraction(t.Goodput, ceiling); ok {
		v.Width = tenth(100 * min(f, 1))
	}
	if t.Direction == flow.Both && positive(float64(t.Forward)) && positive(float64(t.Reverse)) {
		v.Ways = t.Forward.String() + " forward, " + t.Reverse.String() + " reverse"
	}
	return v
}

func resultOf(s series, c place, named bool) resultRow {
	ceiling, size := c.ceiling()
	row := resultRow{Way: s.way(c.direction), Direction: string(c.direction), Streams: c.streams, Before: sideOf(c.cell, c.before), After: sideOf(c.cell, c.after), Ceiling: rate(ceiling), MTU: mtu(size)}
	if value, of := perLink(c.last()); value != "" {
		row.Links = value + " " + of
	}
	row.reached = reached(c.last(), ceiling)
	if named {
		row.Qualifier = s.qualifier
	}
	if c.before != nil && c.after != nil {
		row.Gain = change(c.before.Goodput, c.after.Goodput)
	}
	return row
}

// ceilingNote says at which MTU the ceilings are.
func ceilingNote(all []series) string {
	sizes := map[int]bool{}
	last := 0
	for _, s := range all {
		for _, c := range s.cells {
			if limit, size := c.ceiling(); limit > 0 {
				sizes[size], last = true, size
			}
		}
	}
	switch {
	case len(sizes) == 0:
		return "The ceiling is unknown: no link's speed was declared or readable. What each link carried stands instead."
	case len(sizes) > 1:
		return "Ceilings are at different MTUs: see the single trials."
	case last <= 0:
		return "The ceiling is the payload the links can carry at most; its MTU is unknown."
	}
	return fmt.Sprintf("The ceiling is the payload the links can carry at most, at an MTU of %d bytes: declared speed less the headers of every packet.", last)
}

func seriesViewOf(id string, s series, r record.Record, open bool) seriesView {
	compared := phased(r)
	v := seriesView{ID: id, Name: s.name(), Open: open, Compared: compared, Panels: panelsOf(id, s, compared)}
	for _, d := range s.directions {
		g := matrixGroup{Direction: string(d), Way: s.way(d)}
		for _, n := range s.streams {
			if c, ok := s.cells[at{d, n}]; ok {
				ceiling, _ := c.ceiling()
				g.Rows = append(g.Rows, matrixRow{Streams: fmt.Sprint(n), Before: sideOf(c, c.before), After: sideOf(c, c.after), Ceiling: rate(ceiling)})
			}
		}
		v.Matrix = append(v.Matrix, g)
	}
	for i, c := range s.places() {
		// Reverse looks like forward, mirrored: shown only when nothing else is.
		if c.direction == flow.Reverse && len(s.directions) > 1 {
			continue
		}
		if row, ok := mapRowOf(fmt.Sprintf("%s-links-%d", id, i), s, c, r); ok {
			v.Maps = append(v.Maps, row)
		}
	}
	return v
}

func mapRowOf(id string, s series, c place, r record.Record) (mapRowView, bool) {
	compared := phased(r)
	end := r.Environment.After
	if len(end) == 0 {
		end = r.Environment.Hosts
	}
	v := mapRowView{Name: string(c.direction), Way: s.way(c.direction), Streams: c.counted(), Table: linkRows(c.cell, compared)}
	class := "single"
	if compared {
		class = "before"
	}
	if m, ok := topologyOf(id+"-before", class, c.before, r.Environment.Hosts, roundTrip(r, s)); ok {
		v.Maps = append(v.Maps, m)
	}
	if m, ok := topologyOf(id+"-after", "after", c.after, end, roundTrip(r, s)); ok {
		v.Maps = append(v.Maps, m)
	}
	return v, len(v.Maps) > 0
}

// roundTrip is a pair's average round trip in words.
func roundTrip(r record.Record, s series) string {
	for _, l := range r.Latency {
		if l.From == s.from && l.To == s.to && l.Load == nil {
			return milliseconds(l.AvgMS)
		}
	}
	return unknown
}

func factsOf(r record.Record) []fact {
	e := r.Environment
	out := []fact{{"Kernel", orUnknown(e.Kernel)}}
	if r.Ended != "" {
		out = append(out, fact{"Ended early", r.Ended})
	}
	if e.BackEnd != "" {
		out = append(out, fact{"Lab back end", e.BackEnd + ": " + orUnknown(e.Why)})
	}
	for _, h := range e.Hosts {
		words := []string{"kernel " + orUnknown(h.Kernel.Release)}
		if h.CPU.Cores > 0 {
			words = append(words, unit.Counted(h.CPU.Cores, "core"))
		}
		if h.CPU.Model != "" {
			words = append(words, h.CPU.Model)
		}
		words = append(words, unit.Counted(len(h.Links), "link"))
		if len(h.Owners) > 0 {
			words = append(words, "network managed by "+strings.Join(h.Owners, ", "))
		}
		out = append(out, fact{"Host " + orUnknown(h.Name), strings.Join(words, " · ")})
	}
	if r.Fabric.File != "" {
		out = append(out, fact{"Fabric", r.Fabric.File})
	}
	return append(out, fact{"Record", orUnknown(r.ID)}, fact{"Started", instant(r.Started)}, fact{"linerate", orUnknown(r.Linerate)})
}
