package care

import (
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// failure is one link of two that goes down for two seconds while two streams
// run.
type failure struct {
	name string
	bond lab.Bond
	// asked is set where the run takes the link down; else somebody pulls the
	// cable's other end.
	asked bool
	moved int // lanes that the failure moves
	// back is the longest until the links are used again after the return.
	back time.Duration
	// fine is the coarsest that the times may be.
	fine float64
}

func failures() []failure {
	const miimon = 100 * time.Millisecond
	layer34 := netstate.Layer34
	backup := lab.Bond{Mode: netstate.ActiveBackup, Miimon: miimon}
	all := []failure{{"active-backup", backup, true, 2, time.Second, 0.25}}
	if thorough() {
		all = append(all,
			failure{"802.3ad", lab.Bond{Mode: netstate.LACP, HashPolicy: &layer34, Miimon: miimon}, true, 1, 6 * time.Second, 0.25},
			failure{"active-backup, a cable pulled", backup, false, 2, time.Second, 0.6})
	}
	return all
}

// TestFailLink: the streams go on over the other link, what they felt is told,
// and the link is back at the end.
func TestFailLink(t *testing.T) {
	for _, c := range failures() {
		t.Run(c.name, func(t *testing.T) {
			pull := func() {}
			run := open(t, hosts([]string{"alpha", "beta"}, 2, &c.bond), func(e campaign.Event) {
				if e.Kind == campaign.Running && e.Progress.Stage == "measuring" {
					pull()
				}
			})
			m := campaign.Matrix{Streams: []int{2}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: 3*time.Second + c.back}
			if c.asked {
				m.Base.Fail = &measure.Failing{Host: "alpha", Link: "eth0", At: time.Second, For: 2 * time.Second}
			} else {
				m.Duration += time.Second
				pull = sync.OnceFunc(puller(t))
			}
			floor.Must(t, run.Run(t.Context(), m))
			r := run.Record()
			if len(r.Trials) != 1 {
				t.Fatalf("%d trials, failures %+v", len(r.Trials), r.Failures)
			}
			trial := r.Trials[0]
			for _, n := range trial.Notes {
				t.Log(n)
			}
			t.Logf("%+v", trial.Outages)
			c.check(t, trial.Outages)
			floor.Must(t, run.Observe(t.Context()))
			alpha := run.State().Hosts["alpha"]
			if l, _ := alpha.Link("eth0"); !l.Up || !l.Carrier {
				t.Error("eth0 of alpha was left down")
			}
		})
	}
}

// puller takes the switch's end of alpha's first cable down, and up two seconds
// later.
func puller(t *testing.T) func() {
	b, err := rtnl.OpenBuilder(netns.Named(lab.Namespace("switch")))
	floor.Must(t, err)
	var wg sync.WaitGroup
	t.Cleanup(func() {
		wg.Wait()
		b.Close()
	})
	return func() {
		wg.Go(func() {
			time.Sleep(time.Second) // so that something ran before
			if err := b.Down("alpha0"); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * time.Second)
			if err := b.Up("alpha0"); err != nil {
				t.Error(err)
			}
		})
	}
}

func (c failure) check(t *testing.T, all []record.Outage) {
	t.Helper()
	if len(all) != 2 || all[0].Event != "down" || all[1].Event != "up" {
		t.Fatalf("want one failure and one return, not %+v", all)
	}
	down, up := all[0], all[1]
	for _, o := range all {
		if o.Host != "alpha" || o.Link != "eth0" || o.Asked != c.asked || o.Resolution <= 0 || o.Resolution > c.fine {
			t.Errorf("outage %+v", o)
		}
	}
	if gone := up.At - down.At; gone < 2-c.fine || gone > 2.6+c.fine {
		t.Errorf("the link was gone for %.2f s, asked for 2", gone)
	}
	if len(down.Moved) != c.moved {
		t.Errorf("lanes %v moved, want %d", down.Moved, c.moved)
	}
	for i, stalled := range down.Stalled {
		if stalled > 1.5 {
			t.Errorf("lane %d stood still for %.2f s: it did not go on over the other link", i, stalled)
		}
	}
	if down.Retransmits == 0 {
		t.Error("what was on its way over the link was not sent again")
	}
	if down.Recovered < 0 || down.Recovered > 1.5 {
		t.Errorf("back at what is left after %.2f s", down.Recovered)
	}
	if up.Recovered < 0 || up.Recovered > c.back.Seconds() {
		t.Errorf("back at what both allow after %.2f s", up.Recovered)
	}
}
