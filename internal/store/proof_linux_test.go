package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// year is a fleet that was measured for a year: every run is a full matrix of
// so many hosts.
type year struct {
	hosts, runs int
	rnd         *rand.Rand
}

var yearStreams = []int{1, 2, 4, 8}

// trials is how many trials there are in all.
func (y year) trials() int {
	return y.runs * y.hosts * (y.hosts - 1) / 2 * len(yearStreams) * len(flow.Directions())
}

func (y year) run(i int) record.Record {
	at := day0.Add(time.Duration(i) * 365 * 24 * time.Hour / time.Duration(y.runs))
	r := recordOf(at)
	r.Environment.Hosts = nil
	for h := range y.hosts {
		r.Environment.Hosts = append(r.Environment.Hosts, netstate.Host{Name: hostName(h)})
	}
	for a := range y.hosts {
		for b := a + 1; b < y.hosts; b++ {
			for _, d := range flow.Directions() {
				for _, n := range yearStreams {
					r.Trials = append(r.Trials, y.trial(a, b, d, n, at.Add(time.Duration(len(r.Trials))*3*time.Second)))
				}
			}
		}
	}
	return r
}

func hostName(i int) string { return fmt.Sprintf("host%02d", i) }

// trial has what a record of two bonded hosts has at the least: blocks, a lane a
// stream, links and processors of both ends.
func (y year) trial(a, b int, d flow.Direction, streams int, at time.Time) record.Trial {
	rate := unit.BitRate(9e8 * (1 + 0.01*y.rnd.NormFloat64()))
	t := trialOf(d, streams, at, rate)
	t.From, t.To = hostName(a), hostName(b)
	for range 12 {
		t.Blocks = append(t.Blocks, rate*unit.BitRate(1+0.02*y.rnd.NormFloat64()))
	}
	for i := range streams {
		t.Lanes = append(t.Lanes, record.Lane{Way: flow.Forward, Sport: uint16(40000 + i), Dport: 5201, Goodput: rate / unit.BitRate(streams), Retransmits: y.rnd.Uint64N(100), EgressLink: "eth0"})
	}
	for _, host := range []string{t.From, t.To} {
		for _, link := range []string{"eth0", "eth1"} {
			t.Links = append(t.Links, record.LinkUse{Host: host, Link: link, Tx: rate * unit.BitRate(y.rnd.Float64()), Rx: rate * unit.BitRate(y.rnd.Float64()), Ceiling: 5e8})
		}
		t.CPU = append(t.CPU, record.CPUUse{Host: host, Cores: 48, Busy: y.rnd.Float64(), Softirq: y.rnd.Float64(), Busiest: y.rnd.Float64()})
	}
	return t
}

// fill stores the year, and returns how long that took.
func (y year) fill(tb testing.TB, s *Store) time.Duration {
	tb.Helper()
	var spent time.Duration
	for i := range y.runs {
		r := y.run(i)
		begin := time.Now()
		mustAdd(tb, s, r, New)
		spent += time.Since(begin)
	}
	return spent
}

// pairs are paths of the year, dealt.
func (y year) pairs(n int) (out [][2]string) {
	for range n {
		a := y.rnd.IntN(y.hosts)
		b := (a + 1 + y.rnd.IntN(y.hosts-1)) % y.hosts
		out = append(out, [2]string{hostName(a), hostName(b)})
	}
	return out
}

// reads times a query of each pair over the year, and checks that all of it
// came.
func (y year) reads(tb testing.TB, s *Store, pairs [][2]string, q Query, want int) (times []time.Duration) {
	tb.Helper()
	for _, p := range pairs {
		q.From, q.To = p[0], p[1]
		begin := time.Now()
		lines := linesOf(tb, s, q)
		times = append(times, time.Since(begin))
		n := 0
		for _, l := range lines {
			n += len(l.Points)
		}
		if n != want {
			tb.Fatalf("%d results, want %d", n, want)
		}
	}
	slices.Sort(times)
	return times
}

// sampleOfProof is what prove-store asks, of a small year.
func sampleOfProof(t *testing.T, place string) {
	y := year{hosts: 4, runs: 52, rnd: rand.New(rand.NewPCG(1, 1))}
	s := open(t, place)
	y.fill(t, s)
	if n := count(t, s, "trials"); n != y.trials() {
		t.Fatalf("%d trials, want %d", n, y.trials())
	}
	one, whole := Query{Direction: flow.Forward, Streams: 4}, Query{}
	y.reads(t, s, y.pairs(5), one, y.runs)
	times := y.reads(t, s, y.pairs(20), whole, y.runs*12)
	if median := times[len(times)/2]; median > asked {
		t.Errorf("a year of one path: %v", median)
	}
	// What it is for: the newest run judged by the year before it.
	now := y.run(y.runs)
	now.Trials[5].Goodput /= 2
	key := now.Trials[5]
	lines := linesOf(t, s, Query{From: key.From, To: key.To, Span: Span{Until: now.Started}})
	var worse []string
	for _, row := range history.Against(now, lines, history.Options{MinEffect: 0.01}).Rows {
		if row.Verdict == "worse" {
			worse = append(worse, fmt.Sprint(row.From, row.To, row.Direction, row.Streams))
		}
	}
	if want := fmt.Sprint(key.From, key.To, key.Direction, key.Streams); len(worse) != 1 || worse[0] != want {
		t.Errorf("worse: %v, want %s alone", worse, want)
	}
}

// asked is how long a year's history of one path may take to read.
const asked = 100 * time.Millisecond

// TestStoreProof fills both stores with a million trials and reads from them;
// `make prove-store` runs it.
func TestStoreProof(t *testing.T) {
	if os.Getenv("PROVE_RUNS") == "" {
		t.Skip("a million trials take minutes: make prove-store")
	}
	seed, err := strconv.ParseUint(os.Getenv("PROVE_SEED"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	c := startCluster(t)
	sqlite := filepath.Join(t.TempDir(), "history.db")
	postgres := c.database(t)
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d, kernel %s, SQLite %s, PostgreSQL %s", seed, strings.TrimSpace(string(release)), ask(t, sqlite, `SELECT sqlite_version()`), ask(t, postgres, `SHOW server_version`))
	for _, b := range []struct{ name, place string }{{"SQLite", sqlite}, {"PostgreSQL", postgres}} {
		y := year{hosts: 8, runs: 2977, rnd: rand.New(rand.NewPCG(seed, 1))}
		s := open(t, b.place)
		spent := y.fill(t, s)
		if IsURL(b.place) { // what autovacuum does within a minute or two
			execute(t, b.place, "VACUUM ANALYZE")
		}
		trials := count(t, s, "trials")
		if trials != y.trials() || trials < 1e6 {
			t.Fatalf("%s: %d trials, want %d", b.name, trials, y.trials())
		}
		t.Logf("%s: %d trials in %d runs of a year, 28 paths: stored in %.0f s, %.0f trials/s, %.0f bytes a trial", b.name, trials, y.runs, spent.Seconds(), float64(trials)/spent.Seconds(), float64(s.size(t))/float64(trials))
		for _, q := range []struct {
			name string
			Query
			want int
		}{{"one path, direction and stream count", Query{Direction: flow.Forward, Streams: 4}, y.runs}, {"one path, all 12 directions and stream counts", Query{}, y.runs * 12}} {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, b.place)
			first := y.reads(t, s, y.pairs(1), q.Query, q.want)[0]
			times := y.reads(t, s, y.pairs(51), q.Query, q.want)
			median, most := times[len(times)/2], times[len(times)-1]
			t.Logf("%s: a year of %s, %d results: median %.1f ms, slowest of 51 %.1f ms, the first after opening %.1f ms", b.name, q.name, q.want, ms(median), ms(most), ms(first))
			if median > asked {
				t.Errorf("%s: a year of %s takes %v, more than %v", b.name, q.name, median, asked)
			}
		}
	}
}

// ask is the one word that a database answers.
func ask(t *testing.T, place, query string) (word string) {
	t.Helper()
	if err := open(t, place).db.QueryRowContext(context.Background(), query).Scan(&word); err != nil {
		t.Fatal(err)
	}
	return word
}

func ms(d time.Duration) float64 { return unit.Milliseconds(d) }

// size is how many bytes the store takes on the disk.
func (s *Store) size(t *testing.T) (n int64) {
	t.Helper()
	query := `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	if IsURL(s.place) {
		query = `SELECT pg_database_size(current_database())`
	}
	if err := s.db.QueryRowContext(context.Background(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
