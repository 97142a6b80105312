package paths

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/plan"
)

// TestSweep measures values by turns: what a socket is asked for, and what the
// hosts have to be changed for, which they are not any more afterwards.
func TestSweep(t *testing.T) {
	s := newStand(t, "a", "b")
	s.cable("a", "eth0", "10.7.0.1/24", "b", "eth0", "10.7.0.2/24", linkRate)
	c := s.campaign(s.fabric("a", "b"), nil)
	m := campaign.Matrix{Streams: []int{1}, Directions: []flow.Direction{flow.Forward}, Ports: "kernel", Duration: 300 * time.Millisecond}
	mss := func(n int) func(*measure.Spec) { return func(s *measure.Spec) { s.Socket.MSS = n } }
	floor.Must(t, c.Sweep(t.Context(), m, campaign.Sweep{Setting: "mss", Repeats: 2, Variants: []campaign.Variant{{Value: "256", Lay: mss(256)}, {Value: "1400", Lay: mss(1400)}}}))
	var shown []plan.Plan
	floor.Must(t, c.Sweep(t.Context(), m, campaign.Sweep{Setting: "mtu", Repeats: 1, Variants: []campaign.Variant{{Value: "1500", MTU: 1500}, {Value: "9000", MTU: 9000}},
		Approve: func(p []plan.Plan) (bool, error) { shown = p; return true, nil }}))
	r := c.Record()
	var order []string
	for _, trial := range r.Trials {
		order = append(order, trial.Variant)
		largest := 0
		for _, l := range trial.Lanes {
			largest = max(largest, l.TCP.SndMSS)
			if strings.HasPrefix(trial.Variant, "mss") && (l.Asked == nil || l.Granted == nil || l.Granted.MSS == 0) {
				t.Errorf("%s: asked %v, granted %v", trial.Variant, l.Asked, l.Granted)
			}
		}
		limits := map[string][2]int{"mss=256": {100, 256}, "mss=1400": {1300, 1400}, "mtu=1500": {1400, 1460}, "mtu=9000": {8900, 8960}}
		if at := limits[trial.Variant]; largest < at[0] || largest > at[1] {
			t.Errorf("%s: segments of %d bytes", trial.Variant, largest)
		}
	}
	if want := []string{"mss=256", "mss=1400", "mss=256", "mss=1400", "mtu=1500", "mtu=9000"}; !slices.Equal(order, want) {
		t.Fatalf("in the order %q, want %q; failures %+v", order, want, r.Failures)
	}
	if len(shown) != 2 || len(shown[0].Steps) != 1 {
		t.Errorf("shown: %v", shown)
	}
	if len(r.Sweeps) != 2 || len(r.Sweeps[0].Values) != 2 || !strings.Contains(r.Sweeps[0].Verdict, "1400") {
		t.Errorf("sweeps %+v", r.Sweeps)
	}
	for _, host := range []string{"a", "b"} {
		reply, err := s.dial(host).Observe(t.Context())
		floor.Must(t, err)
		if l, _ := reply.Host.Link("eth0"); l.MTU != 1500 {
			t.Errorf("%s is left with an MTU of %d", host, l.MTU)
		}
	}
}
