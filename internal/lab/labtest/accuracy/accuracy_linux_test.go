package accuracy

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	within    = 0.01  // what accuracy is promised
	leastFull = 0.995 // of a shaper's rate, by its own counter
)

// link is a link to measure, and how.
type link struct {
	rate    unit.BitRate
	mtu     int
	streams int
	v6      bool
}

func (l link) String() string {
	family := "IPv4"
	if l.v6 {
		family = "IPv6"
	}
	return fmt.Sprintf("%v, MTU %d, %d streams, %s", l.rate, l.mtu, l.streams, family)
}

// headers is what a full segment has around its payload: Ethernet, IP, TCP with
// timestamps.
func (l link) headers() int {
	if l.v6 {
		return 14 + 40 + 32
	}
	return 14 + 20 + 32
}

// emulated is a kernel with one processor, that of a process.
func emulated() bool { return os.Getenv(guest.EnvGuest) != "" }

// links are all that `make prove-accuracy` measures, or a sample of them. One
// emulated processor fills no 2.5 Gbit/s.
func links() []link {
	fastest := 2500 * unit.Mbps
	if emulated() {
		fastest = 1500 * unit.Mbps
	}
	if os.Getenv("PROVE_RUN") == "" {
		return []link{{100 * unit.Mbps, 1500, 1, false}, {unit.Gbps, 1500, 4, false}, {fastest, 9000, 1, true}}
	}
	var out []link
	for _, rate := range []unit.BitRate{100 * unit.Mbps, unit.Gbps, fastest} {
		for _, mtu := range []int{1500, 9000} {
			for _, streams := range []int{1, 4} {
				out = append(out, link{rate, mtu, streams, false}, link{rate, mtu, streams, true})
			}
		}
	}
	return out
}

// TestAccuracy: goodput is the shaper's rate less headers, and what the link's
// counters say less headers; the wire is what its queue let through.
func TestAccuracy(t *testing.T) {
	for _, l := range links() {
		t.Run(l.String(), func(t *testing.T) { measureLink(t, l) })
	}
}

// tries is how often a link is measured that was not full: the machine has
// other things to do, and what is compared is the same only at a steady rate. Some
// machines are disturbed for a quarter of a minute, which the pauses outlast.
const tries = 7

// pauseBefore is the pause before a try: none before the first ones.
func pauseBefore(try int) { time.Sleep(time.Duration(max(try-2, 0)) * 2 * time.Second) }

func measureLink(t *testing.T, l link) {
	n := shaped(t, l.rate, l.mtu, l.v6)
	var r record.Trial
	var wire unit.BitRate
	var packets float64
	for try := range tries {
		pauseBefore(try)
		stop := n.counts(t)
		r = n.run(t, l.streams, 2*time.Second)
		all := stop()
		// Samples and queue are read by different clocks: a moment at both ends of
		// the window is left out, the rate is the same in it.
		opened := r.Started.Add(time.Duration((r.WarmUp + 0.3) * float64(time.Second)))
		wire, packets = passed(all, opened, opened.Add(time.Duration((r.Window-0.4)*float64(time.Second))))
		if float64(wire/l.rate) >= leastFull {
			break
		}
		t.Logf("%s: try %d filled %.3f of the link", l, try+1, float64(wire/l.rate))
	}
	headers := float64(l.headers())
	shaper := float64(l.rate) * (float64(l.mtu) + 14 - headers) / (float64(l.mtu) + 14)
	counted := float64(wire) - 8*headers*packets
	t.Logf("%s: %.2f Mbit/s, %.4f of the shaper's %.2f, %.4f of the queue's %.2f; wire %.4f of the queue's; interval +- %.2f %%", l,
		float64(r.Goodput)/1e6, float64(r.Goodput)/shaper, shaper/1e6, float64(r.Goodput)/counted, counted/1e6, float64(r.Wire/wire),
		50*float64((r.GoodputHigh-r.GoodputLow)/r.Goodput))
	ratios := map[string]float64{
		"goodput, of the queue's payload": float64(r.Goodput) / counted,
		"wire, of the queue's bytes":      float64(r.Wire / wire),
	}
	if full := float64(wire / l.rate); full < leastFull && emulated() {
		t.Logf("%s: the processor filled %.3f of the link: goodput is held to the counters only", l, full)
	} else {
		ratios["goodput, of the shaper's payload rate"] = float64(r.Goodput) / shaper
		ratios["wire, of the shaper's rate"] = float64(r.Wire / l.rate)
	}
	for what, ratio := range ratios {
		if math.Abs(ratio-1) > within || math.IsNaN(ratio) {
			t.Errorf("%s: %.4f, want 1 +- %.2f", what, ratio, within)
		}
	}
	if share, ok := r.ShareOfIngress(); !ok || math.Abs(share-1) > within {
		t.Errorf("goodput is %.4f of what the receiver's link counted", share)
	}
	if r.Shaper != nil {
		t.Errorf("a burst of 2 ms was taken for a bucket that shows: %+v", r.Shaper)
	}
	if r.Window < 1.99 || r.Window > 2.2 || r.Goodput > r.Wire {
		t.Errorf("window %.3f s, goodput %v, wire %v", r.Window, r.Goodput, r.Wire)
	}
	for _, wrong := range r.Check() {
		t.Error(wrong)
	}
}

// bucketFills is how long the bucket of TestTokenBucket takes to fill again.
const bucketFills = 3 * time.Second

// steady reports whether a shaper that gives every packet its time was let do so:
// behind the burst its rate is the same in each half of the window.
func steady(r record.Trial) bool {
	n := len(r.Blocks) / 2
	if n == 0 {
		return false
	}
	mean := func(blocks []unit.BitRate) (sum float64) {
		for _, b := range blocks {
			sum += float64(b) / float64(len(blocks))
		}
		return sum
	}
	first, second := mean(r.Blocks[:n]), mean(r.Blocks[n:])
	return math.Abs(first/second-1) < within
}

// TestTokenBucket: behind a bucket of many megabytes the window begins when it
// is empty, exact length or not, and the record says what it was.
func TestTokenBucket(t *testing.T) {
	const link, rate, bucket = 400 * unit.Mbps, 150 * unit.Mbps, 30 * unit.MB
	for _, exact := range []time.Duration{0, 2 * time.Second} {
		t.Run(fmt.Sprintf("exact %v", exact), func(t *testing.T) {
			n := network{near: floor.NewSpace(t, "acc-near"), far: floor.NewSpace(t, "acc-far")}
			middle := floor.NewSpace(t, "acc-middle")
			floor.Must(t, n.near.Builder.Veth("eth0", middle.Builder, "to-near"))
			floor.Must(t, n.far.Builder.Veth("eth0", middle.Builder, "to-far"))
			floor.Must(t, middle.Builder.Bridge("bridge0", []string{"to-near", "to-far"}))
			floor.Must(t, n.near.Builder.Shape("eth0", link, bucketOf(link), wait))
			floor.Must(t, middle.Builder.Shape("to-far", rate, bucket, wait))
			n.address(t, false)
			n.reach(t, link)
			var r record.Trial
			for try := range tries {
				pauseBefore(try)
				if r = n.run(t, 1, exact); r.Shaper != nil && steady(r) {
					break
				}
				t.Logf("try %d: not steady: %v", try+1, r.Series)
				time.Sleep(bucketFills)
			}
			if r.Shaper == nil {
				t.Fatalf("no bucket seen, %v over %.1f s after %.1f s: %v", r.Goodput, r.Window, r.WarmUp, r.Series)
			}
			t.Logf("%+v: %v over %.2f s after %.2f s, %s %q", *r.Shaper, r.Goodput, r.Window, r.WarmUp, r.Stop, r.Notes)
			payload := float64(rate) * 1448 / 1514
			for what, ratio := range map[string]float64{
				"goodput, of the plateau":   float64(r.Goodput) / payload / 1,
				"rate":                      float64(r.Shaper.Rate) / payload,
				"bucket (payload)":          float64(r.Shaper.Bucket) / (float64(bucket) * 1448 / 1514),
				"burst, of the link's rate": float64(r.Shaper.Burst) / (float64(link) * 1448 / 1514),
			} {
				tolerance := 0.02
				if strings.HasPrefix(what, "b") {
					tolerance = 0.1
				}
				if math.Abs(ratio-1) > tolerance {
					t.Errorf("%s: %.3f, want 1 +- %.2f", what, ratio, tolerance)
				}
			}
			if !strings.Contains(strings.Join(r.Notes, "\n"), "the window begins after it") {
				t.Errorf("notes %q", r.Notes)
			}
		})
	}
}
