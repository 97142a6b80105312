package care

import (
	"errors"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// gamma is the third host's address, nobody one that no host has.
const (
	gamma  = "10.0.0.3"
	nobody = "10.0.0.9"
)

// inUse is a network that somebody else is in too.
type inUse struct {
	*campaign.Campaign
	notes []string
}

// TestNetworkInUse: what a measurement between two hosts says of latency, and
// what it spares a third one.
func TestNetworkInUse(t *testing.T) {
	n := new(inUse)
	n.Campaign = open(t, hosts([]string{"alpha", "beta", "gamma"}, 1, nil), func(e campaign.Event) {
		if e.Kind == campaign.Noted {
			n.notes = append(n.notes, e.Note)
		}
	})
	t.Run("as ping(8)", n.asPing)
	t.Run("under load", func(t *testing.T) { n.underLoad(t, &measure.Pings{}, "icmp") })
	t.Run("held", n.held)
	t.Run("cap of bytes", func(t *testing.T) { n.capped(t, campaign.Care{MaxBytes: 30e6}, measure.StopBytes) })
	t.Run("watched", n.watched)
	if thorough() {
		t.Run("under load, TCP", func(t *testing.T) { n.underLoad(t, &measure.Pings{TCP: 9}, "tcp") })
		t.Run("cap of seconds", func(t *testing.T) { n.capped(t, campaign.Care{MaxTime: 3 * time.Second}, measure.StopSeconds) })
		t.Run("nobody to watch", n.nobody)
	}
}

// forward is a matrix of one direction.
func forward(streams int, d time.Duration) campaign.Matrix {
	return campaign.Matrix{Streams: []int{streams}, Directions: []flow.Direction{flow.Forward}, Ports: "kernel", Duration: d}
}

// asPing: the figures are those of ping(8) over the same path.
func (n *inUse) asPing(t *testing.T) {
	program, err := exec.LookPath("ping")
	if err != nil {
		t.Fatal("no ping(8) to compare with: apt-get install iputils-ping")
	}
	theirs := pinged(t, program)
	for range 2 { // a first question for the neighbour may be lost: a second for all
		if theirs[2] > 20*theirs[0] {
			theirs = pinged(t, program)
		}
	}
	floor.Must(t, n.Latency(t.Context()))
	ours := n.Record().Latency[0]
	t.Logf("min/avg/max/mdev: ping(8) %.3f, linerate [%.3f %.3f %.3f %.3f], p50 %.3f, p99 %.3f", theirs, ours.MinMS, ours.AvgMS, ours.MaxMS, ours.MdevMS, ours.P50MS, ours.P99MS)
	// One echo that a busy machine held up moves the average, not the least.
	if math.Abs(ours.MinMS-theirs[0]) > 0.3 || math.Abs(ours.P50MS-theirs[0]) > 1 || math.Abs(ours.AvgMS-theirs[1]) > 2 {
		t.Errorf("the figures are not those of ping(8)")
	}
	if ours.LossRatio != 0 || ours.Sent != 50 || len(ours.Notes) == 0 {
		t.Errorf("%+v: want all of 50, and a note that p99 is their largest", ours)
	}
}

// pinged is what ping(8) says of fifty echoes: min, avg, max, mdev in ms.
func pinged(t *testing.T, program string) (ms [4]float64) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "ip", "netns", "exec", lab.Namespace("alpha"), program, "-q", "-i", "0.01", "-c", "50", "10.0.0.2").Output()
	if err != nil {
		t.Fatalf("ping: %v\n%s", err, text)
	}
	found := regexp.MustCompile(`= ([0-9.]+)/([0-9.]+)/([0-9.]+)/([0-9.]+) ms`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("ping says:\n%s", text)
	}
	for i := range ms {
		ms[i], err = strconv.ParseFloat(string(found[i+1]), 64)
		floor.Must(t, err)
	}
	return ms
}

// underLoad: a full path takes what waits in its queue as well.
func (n *inUse) underLoad(t *testing.T, p *measure.Pings, protocol string) {
	m := forward(4, 2*time.Second)
	m.Loaded = p
	floor.Must(t, n.Run(t.Context(), m))
	all := n.Record().Latency
	if len(all) == 0 {
		t.Fatal("no latency was measured under load")
	}
	l := all[len(all)-1]
	t.Logf("%s under %v: p50 %.1f ms, p99 %.1f ms of %d", l.Protocol, l.Load, l.P50MS, l.P99MS, l.Sent)
	if l.Load == nil || l.Protocol != protocol || l.From != "alpha" || l.To != "beta" {
		t.Fatalf("the last series is %+v", l)
	}
	if l.Load.Streams != 4 || l.Load.Direction != flow.Forward || l.Load.Goodput < 80e6 {
		t.Errorf("load %+v", l.Load)
	}
	// The queue holds 50 ms and is never empty.
	if l.P50MS < 9 || l.P50MS > 75 || l.Sent < 20 {
		t.Errorf("under load: %+v", l)
	}
}

// held: a run that is held to half the link's rate keeps to it, and the host
// that is watched meanwhile feels nothing.
func (n *inUse) held(t *testing.T) {
	m := forward(4, 2*time.Second)
	m.Base, m.Care = measure.Spec{Rate: 50 * unit.Mbps}, campaign.Care{Watch: []string{gamma}}
	if err := n.Run(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	held := n.last()
	t.Logf("held to %v: %v, %s", held.RateLimit, held.Goodput, held.Finding.Cause)
	if share := float64(held.Goodput / held.RateLimit); share < 0.75 || share > 1.02 || held.RateLimit != m.Base.Rate {
		t.Errorf("goodput is %.3f of the limit", share)
	}
	if said := strings.Join(n.notes, "\n"); !strings.Contains(said, "alpha watches "+gamma) || !strings.Contains(said, "beta watches "+gamma) {
		t.Errorf("it was not said who watches: %q", said)
	}
}

func (n *inUse) last() record.Trial {
	all := n.Record().Trials
	return all[len(all)-1]
}

// moved is what a trial's streams carried from the first byte on, warm-up
// included.
func moved(t record.Trial) unit.Bytes {
	sum, from := 0.0, 0.0
	for i, rate := range t.Series {
		sum += float64(rate) / 8 * (t.SeriesAt[i] - from)
		from = t.SeriesAt[i]
	}
	return unit.Bytes(sum)
}

// capped: a run ends at its cap without an error, and keeps what it has.
func (n *inUse) capped(t *testing.T, care campaign.Care, stop string) {
	before, begin := len(n.Record().Trials), time.Now()
	m := forward(1, 5*time.Second)
	m.Streams, m.Care = []int{1, 2}, care
	err := n.Run(t.Context(), m)
	r := n.Record()
	t.Logf("%v: %q, after %v at %v", stop, r.Ended, time.Since(begin).Round(time.Millisecond), n.last().Goodput)
	if err != nil || len(r.Failures) > 0 || !strings.Contains(r.Ended, "cap") {
		t.Errorf("%v, failures %+v, ended %q", err, r.Failures, r.Ended)
	}
	if len(r.Trials) != before+1 || n.last().Stop != stop {
		t.Fatalf("%d trials kept, the last ended by %q", len(r.Trials)-before, n.last().Stop)
	}
	last := n.last()
	if moved := moved(last); care.MaxBytes > 0 && (float64(moved) > 1.02*float64(care.MaxBytes) || float64(moved) < 0.6*float64(care.MaxBytes)) {
		t.Errorf("moved %v, the cap is %v", moved, care.MaxBytes)
	}
	if care.MaxTime > 0 && time.Since(begin) > care.MaxTime+3*time.Second {
		t.Errorf("it took %v", time.Since(begin))
	}
}

// watched: a run that fills the queue on the way to a third host ends within
// seconds and says why.
func (n *inUse) watched(t *testing.T) {
	before, begin := len(n.Record().Trials), time.Now()
	m := forward(4, 20*time.Second)
	m.Care = campaign.Care{Watch: []string{gamma}}
	err := n.Run(t.Context(), m)
	t.Logf("ended after %v: %v", time.Since(begin).Round(time.Millisecond), err)
	if !errors.Is(err, campaign.ErrWatch) || time.Since(begin) > 15*time.Second {
		t.Fatalf("%v after %v, want ErrWatch soon", err, time.Since(begin))
	}
	r := n.Record()
	if !strings.Contains(r.Ended, "to "+gamma) || len(r.Failures) > 0 {
		t.Errorf("the record says %q, failures %+v", r.Ended, r.Failures)
	}
	for _, trial := range r.Trials[before:] { // none, where it ended before the window
		if trial.Stop != measure.StopWatch {
			t.Errorf("kept a trial of %.1f s that ended by %q", trial.Window, trial.Stop)
		}
	}
}

// nobody: who does not answer cannot be watched, and nothing is sent.
func (n *inUse) nobody(t *testing.T) {
	before := len(n.Record().Trials)
	m := forward(1, time.Second)
	m.Care = campaign.Care{Watch: []string{nobody}}
	err := n.Run(t.Context(), m)
	if err == nil || !strings.Contains(err.Error(), "watch "+nobody) || len(n.Record().Trials) != before {
		t.Errorf("%v, %d trials", err, len(n.Record().Trials)-before)
	}
}
