package web

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/unit"
)

// TestMarks: a line's marks are what its hosts were set to since its first point, and
// ceilings that differ, the oldest first and no more than a chart can show.
func TestMarks(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 5, n, 3, 0, 0, 0, time.UTC) }
	point := func(n int, ceiling float64) history.Point {
		return history.Point{Started: day(n), Ceiling: unit.BitRate(ceiling)}
	}
	l := history.Line{Points: []history.Point{point(1, 9.4e9), point(2, 9.4e9), point(3, 0), point(4, 9.4e9), point(5, 9.9e9)}}
	before, within := marked{day(1).Add(-time.Hour), "a: old"}, marked{day(3).Add(time.Hour), "a: mtu 9000"}
	want := []marked{within, {day(5), "ceiling 9.90 Gbit/s instead of 9.40 Gbit/s"}}
	if diff := cmp.Diff(want, marksOf(l, []marked{before, within})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var many []marked
	for n := range 40 {
		many = append(many, marked{day(2).Add(time.Duration(n) * time.Minute), "change"})
	}
	if got := marksOf(l, many); len(got) != mostMarks || got[mostMarks-1].When != day(5) {
		t.Errorf("%d marks, the last %+v", len(got), got[len(got)-1])
	}
	if got := marksOf(history.Line{}, many); got != nil {
		t.Errorf("a line without points: %v", got)
	}
}

// TestCarriers: of a host's links those that carry traffic are named, a bond by its ports.
func TestCarriers(t *testing.T) {
	links := []wire.Link{{Name: "lo"}, {Name: "eth0", Speed: 25e9, PartOf: "bond0"}, {Name: "eth1", Speed: 25e9, PartOf: "bond0"}, {Name: "bond0", Speed: 50e9},
		{Name: "eth2", Speed: 1e9, PartOf: "br0"}, {Name: "eth3", PartOf: "br0"}, {Name: "br0"}, {Name: "mgmt0"}}
	if got := strings.Join(carriers(links), "; "); got != "bond0: 2 x 25.0 Gbit/s; br0: 1.00 Gbit/s + unknown; mgmt0" {
		t.Error(got)
	}
	for _, name := range []string{"a", "b", "c"} {
		links = append(links, wire.Link{Name: name})
	}
	if got := carriers(links); len(got) != mostCarriers+1 || got[mostCarriers] != "3 more links" {
		t.Error(got)
	}
}
