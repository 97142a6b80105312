package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// overTime is a trial behind a shaper, over which a link fails.
func overTime() record.Trial {
	t := sampleTrial(record.PhaseBefore, flow.Forward, 2)
	for i := range 50 {
		rate := unit.BitRate(800e6)
		switch {
		case i < 5:
			rate = unit.BitRate(i) * 100e6
		case i >= 20:
			rate = 400e6
		}
		t.Series, t.SeriesAt = append(t.Series, rate), append(t.SeriesAt, 0.2*float64(i+1))
	}
	t.WarmUp, t.Window = 1, 9
	t.Shaper = &record.TokenBucket{Rate: 400e6, Bucket: 200 << 20, Burst: 800e6, BurstFor: 4}
	t.Outages = []record.Outage{{Host: "a", Link: "a0", Event: "down", At: 7}, {Host: "a", Link: "a0", Event: "up", At: 9}, {Host: "a", Link: "a0", Event: "down", At: 99}}
	return t
}

func TestTimeline(t *testing.T) {
	l, ok := timelineOf("id", overTime())
	if !ok {
		t.Fatal("nothing is drawn")
	}
	x := func(s float64) float64 { return tenth(l.Left + (l.Right-l.Left)*s/10) }
	if l.WarmUp.W != tenth(x(1)-l.Left) || !l.CeilingKnown || l.Class != "before" {
		t.Errorf("%+v", l)
	}
	if l.Plateau == nil || l.Plateau.X != x(4) {
		t.Errorf("the plateau: %+v", l.Plateau)
	}
	var at []float64
	for _, e := range l.Events {
		at = append(at, e.X)
	}
	if len(at) != 3 || at[0] != x(7) || at[1] != x(9) || at[2] != x(4) {
		t.Errorf("events at %v", at)
	}
	for _, word := range []string{"50 samples over 10.0 s", "between 400 Mbit/s and 800 Mbit/s", "a0 on a went down at 7.0", "then 400 Mbit/s"} {
		if !strings.Contains(l.Desc, word) {
			t.Errorf("no %q in %q", word, l.Desc)
		}
	}
	if n := strings.Count(l.Line, "H"); n != 50 {
		t.Errorf("%d steps", n)
	}
	if len(l.Table) != 1+timeRows || l.Table[1][0] != "0 s" || l.Table[timeRows][1] != "10.0 s" {
		t.Errorf("%v", l.Table)
	}
	for name, spoil := range map[string]func(*record.Trial){
		"no series":   func(t *record.Trial) { t.Series = nil },
		"no times":    func(t *record.Trial) { t.SeriesAt = t.SeriesAt[1:] },
		"backward":    func(t *record.Trial) { t.SeriesAt[7] = 0.1 },
		"not numbers": func(t *record.Trial) { t.Series[3] = unit.BitRate(math.NaN()) },
		"nothing":     func(t *record.Trial) { clear(t.Series) },
	} {
		spoilt := overTime()
		spoil(&spoilt)
		if _, ok := timelineOf("id", spoilt); ok {
			t.Errorf("%s is drawn", name)
		}
	}
}

// A thinned series carries as many bytes as the whole one.
func TestThinned(t *testing.T) {
	var points []timePoint
	for i := range 1003 {
		points = append(points, timePoint{float64(i), float64(i + 1), float64(i * i % 977)})
	}
	sum := func(all []timePoint) (bytes float64) {
		for i, p := range all {
			bytes += p.rate * (p.to - p.from)
			if i > 0 && all[i-1].to != p.from {
				t.Fatalf("a gap at %v", p.from)
			}
		}
		return bytes
	}
	few := thinned(points, timePoints)
	if len(few) != timePoints || math.Abs(sum(few)/sum(points)-1) > 1e-9 {
		t.Errorf("%d points, %v of %v", len(few), sum(few), sum(points))
	}
}

// TestPlots: every drawing is a document by itself, has a name of its own, and
// asks nobody for anything.
func TestPlots(t *testing.T) {
	r := sampleRecord()
	r.Trials = append(r.Trials, overTime())
	all, err := Plots(r)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	kinds := map[string]int{}
	for _, p := range all {
		if names[p.Name] {
			t.Errorf("%s twice", p.Name)
		}
		names[p.Name] = true
		for _, kind := range []string{"links", "bars", "heat", "ladder", "time"} {
			if strings.Contains(p.Name, kind) {
				kinds[kind]++
			}
		}
		d := xml.NewDecoder(strings.NewReader(string(p.SVG)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", p.Name, err, p.SVG)
			}
		}
		text := strings.ReplaceAll(string(p.SVG), `xmlns="http://www.w3.org/2000/svg"`, "")
		for _, word := range []string{"http", "script", "@media", "url("} {
			if strings.Contains(text, word) {
				t.Errorf("%s: %s in it", p.Name, word)
			}
		}
	}
	for _, kind := range []string{"links", "bars", "heat", "ladder", "time"} {
		if kinds[kind] == 0 {
			t.Errorf("no plot of %s among %v", kind, names)
		}
	}
}

func TestLadder(t *testing.T) {
	before := sampleTrial(record.PhaseBefore, flow.Forward, 2)
	before.Goodput, before.Ceiling = 480e6, 990e6
	before.Finding = &record.Finding{Cause: record.SingleLink, Expected: 960e6, Remedy: "choose ports", Next: &record.NextLimit{Cause: record.MTU, Rate: 975e6, Why: "frames of 1500 bytes"},
		Also: []record.Alternative{{Cause: record.Shaper, Expected: 700e6}, {Cause: record.Congestion, Expected: 961e6}, {Cause: record.MTU, Expected: 100e6}}}
	var got []string
	for _, s := range ladderSteps(cell{before: &before}) {
		got = append(got, s.name+" "+s.rate.String())
	}
	want := "measured 480 Mbit/s, if it is shaper 700 Mbit/s, with the remedy 960 Mbit/s, the next limit 975 Mbit/s, ceiling 990 Mbit/s"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
}

// A fleet's heat map has a cell for each pair that was measured, and none else.
func TestHeatByHost(t *testing.T) {
	var r record.Record
	for _, pair := range [][2]string{{"h1", "h2"}, {"h1", "h3"}, {"h2", "h3"}} {
		for _, d := range []flow.Direction{flow.Forward, flow.Reverse} {
			trial := sampleTrial("", d, 4)
			trial.From, trial.To, trial.Ceiling = pair[0], pair[1], 1e9
			trial.Goodput = 950e6
			if pair[1] == "h3" && d == flow.Reverse && pair[0] == "h2" {
				trial.Goodput = 310e6
			}
			r.Trials = append(r.Trials, trial)
		}
	}
	all := seriesOf(r)
	byStreams, ok := heatByStreams("heat-streams", all)
	if !ok {
		t.Fatal("no heat map by stream count")
	}
	maps := append([]heat{byStreams}, heatsByHost("heat-hosts", all)...)
	if len(maps) != 2 {
		t.Fatalf("%d heat maps", len(maps))
	}
	h := maps[1]
	if len(h.Cells) != 6 || len(h.Rows) != 3 || h.Name != "From each host to each, 4 streams" || !strings.Contains(h.Desc, "31 % of the ceiling, h3, to h2") {
		t.Errorf("%d cells, %d rows, %q, %q", len(h.Cells), len(h.Rows), h.Name, h.Desc)
	}
}
