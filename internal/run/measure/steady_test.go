package measure

import (
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/analysis/series"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestSteady: a rate that swings with each round trip hides slow start, which is
// no part of the window all the same.
func TestSteady(t *testing.T) {
	// As a stream over 75 ms that its window holds was seen every eighth of a second.
	rates := []unit.BitRate{5, 19, 30, 64, 43, 81, 39, 63, 73, 42}
	const tick = 125 * time.Millisecond
	var s series.Series
	for i, rate := range rates {
		s = append(s, series.Point{From: time.Duration(i) * tick, To: time.Duration(i+1) * tick, Rate: rate * unit.Mbps})
	}
	with := func(minimum float64) *round {
		var tcp agentapi.TCPCount
		tcp.Last = record.TCP{MinRTTMS: minimum, RTTMS: 4 * minimum}
		return &round{ends: ends{{sending: true, samples: []agentapi.Sample{{TCP: []agentapi.TCPCount{tcp}}}}}}
	}
	for _, c := range []struct {
		minimum float64
		silent  int // points before the first byte
		want    int
		over    bool
	}{
		{0, 0, 1, true}, // nothing is known of the path
		{1, 0, 1, true}, // 8 ms
		{75, 0, 5, true},
		{75, 10, 15, true}, // from the first byte on
		{500, 0, len(rates), false},
	} {
		all := s
		for range c.silent {
			all = append(series.Series{{}}, all...)
		}
		for i := range all {
			all[i].From, all[i].To = time.Duration(i)*tick, time.Duration(i+1)*tick
		}
		if w := with(c.minimum).steady(all); w.First != c.want || w.Over != c.over {
			t.Errorf("a path of %v ms, silent for %d points: from %d on, over %v; want %d, %v", c.minimum, c.silent, w.First, w.Over, c.want, c.over)
		}
	}
	if w := with(75).steady(make(series.Series, 20)); w.Over && w.First >= 20 {
		t.Errorf("of silence: %+v", w)
	}
}
