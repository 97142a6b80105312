package scenariorun

import (
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// TestSilentCable: a cable that is broken silently keeps its carrier at both
// ends; LACP that is fast misses its partner within what was predicted, and
// rolls it back when the cable is mended. Nothing else of it is left.
func TestSilentCable(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	s, _, err := scenario.Named("failover")
	floor.Must(t, err)
	raised, err := lab.Raise(t.Context(), lab.NetworkOf(s, nil))
	floor.Must(t, err)
	cable := raised.Cable(scenario.Port{Host: "client", Link: "eth0"})
	floor.Must(t, cable.Repair()) // of a whole one
	before := len(look(t, "switch").Links)
	floor.Must(t, cable.Break())
	noticed := awaitPorts(t, "client", 1)
	t.Logf("LACP noticed after %v", noticed)
	if noticed < 1500*time.Millisecond || noticed > 5*time.Second {
		t.Errorf("noticed after %v, want 2 to 3.3 s and what looking takes", noticed)
	}
	if l, _ := look(t, "client").Link("eth0"); !l.Carrier || !l.Up {
		t.Errorf("eth0 is up %v, carrier %v", l.Up, l.Carrier)
	}
	floor.Must(t, cable.Repair())
	t.Logf("in use again after %v", awaitPorts(t, "client", 2))
	if after := len(look(t, "switch").Links); after != before {
		t.Errorf("%d links in the switch, %d before", after, before)
	}
	for _, l := range look(t, "switch").Links {
		for _, q := range l.Qdiscs {
			if q.Kind == "clsact" {
				t.Errorf("%s has a %s still", l.Name, q.Kind)
			}
		}
	}
	floor.Must(t, raised.Down())
	nothingLeft(t)
}

// awaitPorts waits until so many ports of a bond are in use, and says how long
// it took.
func awaitPorts(t *testing.T, host string, want int) time.Duration {
	t.Helper()
	begin := time.Now()
	for time.Since(begin) < 40*time.Second {
		if len(look(t, host).UsablePorts("bond0")) == want {
			return time.Since(begin)
		}
		floor.Pause()
	}
	t.Fatalf("%d ports of %s are not in use", want, host)
	return 0
}
