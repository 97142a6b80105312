package probes

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
)

func forward(streams int) campaign.Matrix {
	return campaign.Matrix{Streams: []int{streams}, Directions: []flow.Direction{flow.Forward}, Duration: time.Second}
}

// TestStalls: streams that connect and carry nothing, or too little, are a
// trial with the sizes that get through, in seconds; a healthy one is asked for
// nothing more. Every other draw takes one case; PROVE_PROBES=all takes all.
func TestStalls(t *testing.T) {
	cases := []struct {
		name  string
		links int
		spoil func(*stand)
		// carried is the least share of the ceiling, most of it.
		least, most float64
		stop        string
		passes      int // the largest packet, zero: not probed
		// late: after a lost SYN timeouts begin at a second, and the kernel may find out too late.
		late    bool
		longest time.Duration
	}{
		{name: "healthy", links: 1, spoil: func(*stand) {}, least: 0.75, most: 1.01, stop: "duration", longest: 4 * time.Second},
		{name: "jumbo frames vanish", links: 1, spoil: func(s *stand) { s.hole(0, "0") }, stop: measure.StopStalled, passes: ethernet + 4, longest: 9 * time.Second},
		{name: "and the sender finds out", links: 1, spoil: func(s *stand) { s.hole(0, "1") }, least: 0.1, most: 1, stop: "duration", late: true, passes: ethernet + 4, longest: 20 * time.Second},
		{name: "on one of two links", links: 2, spoil: func(s *stand) { s.hole(1, "0") }, least: 0.4, most: 0.55, stop: "duration", passes: ethernet + 4, longest: 6 * time.Second},
		{name: "everything but small packets vanishes", links: 1, spoil: func(s *stand) {
			floor.Must(s.t, s.middle.Builder.Shape(port("far", 0), rate, 300, queueTime))
		}, stop: measure.StopStalled, passes: -1, longest: 9 * time.Second},
	}
	for i, c := range cases {
		if !turn(t, 0, i, len(cases)) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t, c.links)
			c.spoil(s)
			r, took := s.measure(forward(c.links))
			if len(r.Failures) > 0 || len(r.Trials) != 1 {
				t.Fatalf("%d trials, failures %+v", len(r.Trials), r.Failures)
			}
			got := r.Trials[0]
			t.Logf("%v of %v in %v, stop %s, warm-up %.1f s: %+v", got.Goodput, got.Ceiling, took.Round(time.Millisecond), got.Stop, got.WarmUp, got.Sizes)
			t.Logf("%s: %s; %q", got.Finding.Cause, got.Finding.Summary, got.Notes)
			share := float64(got.Goodput / got.Ceiling)
			late := c.late && got.Stop == measure.StopStalled && share == 0
			if !late && (share < c.least || share > c.most || got.Stop != c.stop) || took > c.longest {
				t.Errorf("%.3f of the ceiling, stop %s, in %v; want %v to %v, %s, %v", share, got.Stop, took, c.least, c.most, c.stop, c.longest)
			}
			checkSizes(t, got, c.passes)
			// A sender that found out early fills the link with small packets, and the hole is said all the same.
			full := share >= 0.85 && got.Finding.Cause == record.LineRate && strings.Contains(got.Finding.Summary, "1504 bytes pass")
			if want := record.MTU; c.passes != 0 && got.Finding.Cause != want && !full {
				t.Errorf("%s, want %s: %s", got.Finding.Cause, want, got.Finding.Summary)
			}
			if len(got.Routes) != c.links || got.Routes[0].Link != eth(0) {
				t.Errorf("routes %+v", got.Routes)
			}
		})
	}
}

// hole makes the switch take no more than Ethernet's usual MTU on one link.
func (s *stand) hole(link int, probing string) {
	floor.Must(s.t, s.middle.Builder.MTU(port("far", link), ethernet))
	s.set(s.near, map[string]string{"ipv4/tcp_mtu_probing": probing})
}

// checkSizes: what passes was found each way; -1 is nothing beyond an echo.
func checkSizes(t *testing.T, got record.Trial, passes int) {
	t.Helper()
	small := 0
	for _, p := range got.Sizes {
		if !p.Answers {
			t.Errorf("no answer: %+v", p)
		}
		if p.Passed < p.Sent && (passes < 0 && p.Passes == 0 || p.Passes == passes) {
			small++
		}
	}
	want := 2
	if passes == 0 {
		want = 0
	}
	if small != want || passes == 0 && len(got.Sizes) > 0 {
		t.Errorf("%d ways too small, want %d: %+v", small, want, got.Sizes)
	}
}
