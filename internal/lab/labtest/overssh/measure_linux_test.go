package overssh

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What a matrix is measured over, and how far two transports may differ, as a
// share of the ceiling: both windows end anywhere between two refills of the
// shapers' buckets.
const (
	cable     = 100 * unit.Mbps
	mostApart = 0.03
)

// TestMatrix measures a rack of four locally, over ssh and over NATS.
func TestMatrix(t *testing.T) { matrix(t, 4, "1s") }

// TestProof is TestMatrix with eight hosts, and says how far two local matrices
// differ.
func TestProof(t *testing.T) {
	long(t)
	matrix(t, 8, "2s")
}

// way is one way of measuring the same matrix.
type way struct {
	name    string
	apart   bool // the hosts are machines of their own, measured side by side
	measure func() record.Record
}

// matrix measures all pairs of n hosts in their namespaces, over ssh, as root and
// as users who become root, and over NATS, and holds the trials of each way to the
// local ones.
func matrix(t *testing.T, n int, window string) {
	as := make([]hosting, n)
	seed := drawCables(t, as)
	r := newRack(t, cable, as...)
	bus := r.serve(t)
	ways := []way{
		{"in their namespaces", false, func() record.Record {
			return r.measure(t, "netns", window, r.run, func(i int) string { return "{reach: \"netns:" + r.spaces[i-1].NS.Name + "\"" })
		}},
		{"over ssh, an sshd each", true, func() record.Record {
			defer r.clean()
			return r.measure(t, "ssh", window, r.run, bySSH)
		}},
		{"over NATS, an agent each", true, func() record.Record {
			defer r.clean()
			defer bus.agents(t)()
			rec := r.measure(t, "nats", window, bus.measure, byBus)
			return r.onStream(t, bus, window, rec)
		}},
	}
	if proving() { // how far apart no transport at all is
		ways = append(ways, way{"in their namespaces again", false, ways[0].measure})
	}
	t.Logf("%d hosts, kernel %s, cables of %v to %v, seed %d; compared with the trials in namespaces those of another way may be %.1f %% of the ceiling apart",
		n, strings.TrimSpace(own(t, "/proc/sys/kernel/osrelease")), slices.Min(r.rates), slices.Max(r.rates), seed, 100*mostApart)
	recs := make([]record.Record, len(ways))
	for i, w := range ways {
		begin := time.Now()
		recs[i] = w.measure()
		took := time.Since(begin)
		if !w.apart { // one machine's namespaces take turns
			t.Logf("%s: compared with the others it has one pair at a time, all of it took %.0f s", w.name, took.Seconds())
			continue
		}
		rounds := conflictFree(t, recs[i], n)
		t.Logf("%s: %d trials in %d rounds of %d pairs, none with a host in common, as predicted for %d hosts; all of it took %.0f s", w.name, len(recs[i].Trials), rounds, n/2, n, took.Seconds())
	}
	// A machine that does other work takes from a trial and never adds to it.
	again := 0
	for ; again < 2 && slices.ContainsFunc(recs, func(o record.Record) bool { return furthest(recs[0], o) > mostApart }); again++ {
		for i, w := range ways {
			recs[i] = better(recs[i], w.measure())
		}
	}
	if again > 0 {
		t.Logf("compared is the better of %d runs each: the machine was busy", again+1)
	}
	for i, w := range ways {
		apart := compareRecords(t, w.name, recs[i], recs[0], n)
		t.Logf("%s: the least carries %.1f %% of its ceiling, the most %.1f %%; compared trial by trial with the first the most apart is %.2f %%, the median %.2f %%", w.name, 100*least(recs[i]), 100*most(recs[i]), 100*slices.Max(apart), 100*median(apart))
	}
}

// drawCables gives each host a cable of its own rate.
func drawCables(t *testing.T, as []hosting) (seed uint64) {
	t.Helper()
	seed = floor.Number(t, "PROVE_SEED", floor.Draw(t))
	r := rand.New(rand.NewPCG(seed, 8))
	for i := range as {
		as[i].cable = unit.BitRate(60+r.IntN(41)) * unit.Mbps
	}
	return seed
}

// bySSH is how a host is reached by ssh: every other by a user who becomes root.
func bySSH(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf("{reach: \"ssh://ann@h%d\", become: sudo", i)
	}
	return fmt.Sprintf("{reach: \"ssh://root@h%d\"", i)
}

// fabricFile declares the hosts, with the cables' rates and one path a pair.
func (r *rack) fabricFile(name string, reach func(i int) string) string {
	var text strings.Builder
	text.WriteString("linerate: v1\nhosts:\n")
	for i := range r.spaces {
		speed, err := r.rates[i].MarshalText()
		floor.Must(r.t, err)
		fmt.Fprintf(&text, "  h%d: %s, hardware: {links: {eth0: {speed: %s, framing: l2}}}}\n", i+1, reach(i+1), speed)
	}
	text.WriteString("measure: {streams: [1], directions: [forward]}\n")
	file := filepath.Join(r.path, name+".yaml")
	floor.Must(r.t, os.WriteFile(file, []byte(text.String()), 0o600))
	return file
}

// measure measures every pair of a file's hosts, and fails the test unless all
// of them were.
func (r *rack) measure(t *testing.T, name, window string, run func(...string) said, reach func(i int) string, more ...string) record.Record {
	t.Helper()
	got := run(append([]string{"measure", r.fabricFile(name, reach), "--duration", window, "--ping-count", "3", "--no-loaded-latency", "--json"}, more...)...)
	if got.status != 0 {
		t.Fatalf("%s: status %d\n%s", name, got.status, got.err)
	}
	var out record.Record
	floor.Must(t, json.Unmarshal([]byte(got.out), &out))
	return out
}

// onStream is the run as the stream has it: a command that goes on with it finds
// nothing left to measure.
func (r *rack) onStream(t *testing.T, bus *onBus, window string, rec record.Record) record.Record {
	t.Helper()
	kept := r.measure(t, "nats", window, bus.measure, byBus, "--resume", "nats:"+results.RunName(rec.ID))
	if had, has := measured(rec), measured(kept); !slices.Equal(had, has) {
		t.Errorf("the stream has other trials than the record: %q and %q", has, had)
	}
	return kept
}

// measured is when each trial was measured and what it came to, by its ID.
func measured(r record.Record) []string {
	var out []string
	for i, id := range results.TrialIDs(r.Trials) {
		one := r.Trials[i]
		out = append(out, fmt.Sprintf("%s %s to %s %v %.0f", id, one.From, one.To, one.Started.UTC(), float64(one.Goodput)))
	}
	slices.Sort(out)
	return out
}
