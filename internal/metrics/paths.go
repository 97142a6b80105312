package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/record"
)

// Bounds of what is told: a matrix of seventy hosts has 10000 paths, and the
// median of more runs than these says nothing else. All of it is some 40 MB.
const (
	mostPaths  = 10000
	mostPoints = 32
)

// PathsSince is how far back the paths go that a server tells of at its start.
const PathsSince = 30 * 24 * time.Hour

// Paths are what paths carried, as trials come. It is for many goroutines.
type Paths struct {
	mu    sync.Mutex
	lines map[history.Key]*history.Line
	said  map[history.Key]pathNow
}

// pathNow is what is told of one path.
type pathNow struct {
	history.Key
	last  history.Point
	usual history.Usual // of the runs before the last
}

// Add takes a trial of a run. One that came before is not taken again.
func (p *Paths) Add(run string, t record.Trial) {
	for _, r := range history.Of(record.Record{ID: run, Trials: []record.Trial{t}}) {
		p.AddLine(history.Line{Key: r.Key, Points: []history.Point{r.Point}})
	}
}

// AddLine takes what one path carried in earlier runs.
func (p *Paths) AddLine(add history.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines == nil {
		p.lines, p.said = make(map[history.Key]*history.Line), make(map[history.Key]pathNow)
	}
	l := p.lines[add.Key]
	if l == nil {
		p.leaveOut()
		l = &history.Line{Key: add.Key}
		p.lines[add.Key] = l
	}
	for _, point := range add.Points {
		if !slices.ContainsFunc(l.Points, func(o history.Point) bool { return o.Run == point.Run && o.Started.Equal(point.Started) }) {
			l.Points = append(l.Points, point)
		}
	}
	slices.SortStableFunc(l.Points, func(a, b history.Point) int { return a.Started.Compare(b.Started) })
	l.Points = slices.Clone(l.Points[max(0, len(l.Points)-mostPoints):])
	p.said[add.Key] = now(*l)
}

func now(l history.Line) pathNow {
	newest := last(&l)
	l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(o history.Point) bool { return o.Run == newest.Run })
	return pathNow{l.Key, newest, l.Usual()}
}

// leaveOut makes room for one more: the path that was measured longest ago goes.
func (p *Paths) leaveOut() {
	if len(p.lines) < mostPaths {
		return
	}
	oldest := slices.MinFunc(slices.Collect(maps.Values(p.lines)), func(a, b *history.Line) int { return last(a).Started.Compare(last(b).Started) })
	delete(p.lines, oldest.Key)
	delete(p.said, oldest.Key)
}

func last(l *history.Line) history.Point {
	if len(l.Points) == 0 {
		return history.Point{}
	}
	return l.Points[len(l.Points)-1]
}

func (p *Paths) all() []pathNow {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.said))
}

type pathCollector struct {
	collector
	paths *Paths
}

// OfThePaths tells what paths carried.
func OfThePaths(p *Paths) prometheus.Collector { return pathCollector{newCollector(OfPaths), p} }

// Collect implements prometheus.Collector.
func (t pathCollector) Collect(out chan<- prometheus.Metric) {
	for _, l := range t.paths.all() {
		t.line(out, l)
	}
}

// fewestNoisy is how many runs it takes to say how much they vary.
const fewestNoisy = 3

func (t pathCollector) line(out chan<- prometheus.Metric, p pathNow) {
	labels := []string{p.From, p.To, string(p.Direction), strconv.Itoa(p.Streams), p.Protocol, p.Tool, p.Setting, cmp.Or(string(p.Phase), "measure")}
	t.tell(out, "linerate_path_goodput_bytes_per_second", perSecond(p.last.Goodput), labels...)
	t.tell(out, "linerate_path_measured_time_seconds", seconds(p.last.Started), labels...)
	if p.last.Ceiling > 0 {
		t.tell(out, "linerate_path_ceiling_bytes_per_second", perSecond(p.last.Ceiling), labels...)
	}
	if p.usual.Runs > 0 {
		t.tell(out, "linerate_path_usual_bytes_per_second", perSecond(p.usual.Median), labels...)
	}
	if p.usual.Runs >= fewestNoisy {
		t.tell(out, "linerate_path_usual_noise_ratio", p.usual.Noise, labels...)
	}
}
