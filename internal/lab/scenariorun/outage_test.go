package scenariorun

import (
	"math"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// series is a trial whose rate is 200 Mbit/s, 100 from 2 to 5 s on, 200 again
// from 6 s on, in points of 100 ms.
func series(outages ...record.Outage) record.Trial {
	t := record.Trial{Outages: outages}
	for k := range 100 {
		rate := 200 * unit.Mbps
		if k >= 20 && k < 60 {
			rate = 100 * unit.Mbps
		}
		t.Series, t.SeriesAt = append(t.Series, rate), append(t.SeriesAt, float64(k+1)/10)
	}
	return t
}

func TestOutageOf(t *testing.T) {
	m := scenario.Measurement{Fail: scenario.Failure{Port: scenario.Port{Host: "a", Link: "eth0"}, At: 2 * time.Second, For: 3 * time.Second}, FailKind: scenario.Silent}
	down := record.Outage{Event: "down", At: 2, Asked: true, Stalled: []float64{0.3, 0.02}, Recovered: 0.4, Retransmits: 9, Moved: []int{0}, Resolution: 0.02}
	up := record.Outage{Event: "up", At: 5, Asked: true, Stalled: []float64{0.5, 0.02}, Recovered: 1, Resolution: 0.02}
	never := down
	never.Stalled, never.Recovered, never.Moved = []float64{2.98, 0.02}, -1, nil
	for _, c := range []struct {
		name                  string
		all                   []record.Outage
		gap, back             float64
		moved                 int
		before, during, after unit.BitRate
	}{
		{"it moves", []record.Outage{down, up}, 300, 1000, 1, 200 * unit.Mbps, 100 * unit.Mbps, 200 * unit.Mbps},
		{"nobody notices", []record.Outage{never, up}, 3500, 1000, 0, 200 * unit.Mbps, 100 * unit.Mbps, 200 * unit.Mbps},
		{"another's failure before", []record.Outage{{Event: "down", At: 1, Stalled: []float64{9}}, down, up}, 300, 1000, 1, 200 * unit.Mbps, 100 * unit.Mbps, 200 * unit.Mbps},
		{"it does not come back", []record.Outage{down}, 300, -1, 1, 200 * unit.Mbps, unit.BitRate(math.Round((36*100 + 40*200) / 76.0 * 1e6)), 0},
	} {
		o, err := outageOf(series(c.all...), m)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(o.Gap-c.gap) > 1 || o.Back != c.back || o.Moved != c.moved || o.Port != "a.eth0" || o.How != scenario.Silent {
			t.Errorf("%s: %+v", c.name, o)
		}
		for _, r := range [][2]unit.BitRate{{o.Before, c.before}, {o.During, c.during}, {o.After, c.after}} {
			if math.Abs(float64(r[0]-r[1])) > float64(unit.Mbps) {
				t.Errorf("%s: rate %v, want %v of %+v", c.name, r[0], r[1], o)
			}
		}
	}
	if _, err := outageOf(series(up), m); err == nil {
		t.Error("a failure that nobody saw was measured")
	}
}
