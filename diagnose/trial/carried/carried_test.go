package carried

import (
	"testing"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func lane(rate unit.BitRate, queue float64) record.Lane {
	return record.Lane{Goodput: rate, TCP: record.TCP{MinRTTMS: 20, MeanRTTMS: 20 + queue}}
}

// TestLanes: what a link carried is the streams that find no queue where the others wait,
// of any number of streams; else those whose rates add up; and nobody's where none do.
func TestLanes(t *testing.T) {
	var many []record.Lane
	for range 10 {
		many = append(many, lane(7.5e6, 170))
	}
	for range 6 {
		many = append(many, lane(2.4e6, 3))
	}
	four := []record.Lane{lane(10e6, 1), lane(20e6, 1.2), lane(5e6, 0.9), lane(1e6, 1.1)}
	for name, c := range map[string]struct {
		all     []record.Lane
		payload unit.BitRate
		want    unit.BitRate // of those found
		n       int
	}{
		"six of sixteen without a queue":      {many, 14.6e6, 14.4e6, 6},
		"the queue is not what parts them":    {many, 40e6, 0, 0},
		"rates that add up":                   {four, 21.2e6, 21e6, 2},
		"other traffic":                       {four, 90e6, 0, 0},
		"nothing":                             {four, 0, 0, 0},
		"all of them is no part of the whole": {four, 36e6, 35e6, 3},
	} {
		got := Lanes(c.all, c.payload)
		if len(got) != c.n || Goodput(got) != c.want {
			t.Errorf("%s: %d streams with %v, want %d with %v", name, len(got), Goodput(got), c.n, c.want)
		}
	}
}

// TestEven: blocks of measured trials, in Mbit/s: what a policer lets through is steadier than
// what as many losses by chance leave; few losses tell nothing.
func TestEven(t *testing.T) {
	policed := []unit.BitRate{53.5, 58.5, 56.7, 54.1, 52.9, 60.2, 54.1, 56.0, 53.0, 56.5, 56.8, 55.3, 62.8}
	chance := []unit.BitRate{28.2, 29.2, 21.5, 40.8, 31.1, 30.2, 25.6, 34.4, 30.1, 24.3, 33.2, 36.9, 38.7, 33.7, 21.7, 22.5, 39.0, 30.4}
	for _, c := range []struct {
		name   string
		blocks []unit.BitRate
		lost   float64
		want   bool
	}{
		{"three streams below a policer", policed, 203, true},
		{"one in thirty lost", chance, 108, false},
		{"few losses", policed, 20, false},
		{"few blocks", policed[:4], 203, false},
		{"nothing carried", make([]unit.BitRate, 12), 203, false},
	} {
		if got := Even(c.blocks, c.lost); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
