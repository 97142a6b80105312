package campaign

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

func TestCareHalts(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name        string
		care        Care
		after       time.Duration
		moved, next unit.Bytes
		left        float64
		word, why   string
	}{
		{"no bounds", Care{}, time.Hour, 1 << 50, 1 << 40, 1, "", ""},
		{"within both", Care{MaxTime: time.Minute, MaxBytes: 1e9}, 59 * time.Second, 8e8, 1e8, 1. / 60, "", ""},
		{"its time is over", Care{MaxTime: time.Minute}, time.Minute, 0, 0, 0, measure.StopSeconds, "the cap of 1m0s was reached"},
		{"more than its bytes", Care{MaxBytes: 1e9}, 0, 2e9, 0, 0, measure.StopBytes, "was reached"},
		{"its bytes are", Care{MaxBytes: 1e9}, 0, 1e9, 0, 0, measure.StopBytes, "was reached"},
		{"they would be", Care{MaxBytes: 1e9}, 0, 9e8, 1e8, 0.1, measure.StopBytes, "was reached"},
	} {
		k := &care{Care: c.care, began: begin, now: func() time.Time { return begin.Add(c.after) }}
		k.Moved(c.moved)
		if got := k.Left(); math.Abs(got-c.left) > 1e-9 {
			t.Errorf("%s: %v is left, want %v", c.name, got, c.left)
		}
		if got := k.Halt(c.next); got != c.word {
			t.Errorf("%s: %q, want %q", c.name, got, c.word)
		}
		k.end(measure.StopWatch, "later")
		word, why := k.ended()
		if c.word != "" && (word != c.word || !strings.Contains(why, c.why)) {
			t.Errorf("%s: the first reason did not stand: %q, %q", c.name, word, why)
		}
	}
}

func TestWatchedAddress(t *testing.T) {
	c := &Campaign{state: predict.Fabric{Hosts: map[string]netstate.Host{
		"alpha": {Name: "alpha"}, "bare": {Name: "bare"},
	}}}
	for host, want := range map[string]string{"192.0.2.9": "192.0.2.9", "2001:db8::9": "2001:db8::9", "bare": "", "nobody": ""} {
		a, err := c.watched("alpha", host)
		if want == "" && err == nil || want != "" && (err != nil || a.String() != want) {
			t.Errorf("%s: %v, %v", host, a, err)
		}
	}
}
