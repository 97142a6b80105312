package maxmin

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// leafSpine is a generated fabric: hosts with a bond of two links of 25 Gbit/s,
// one to each of two leaves, 32 hosts to such a pair of leaves; every leaf
// joined with every one of 16 spines by a link of 100 Gbit/s; a card per host,
// and some hosts whose provider caps them. The resources are numbered in that
// order, each one once for each way.
type leafSpine struct {
	hosts, leaves, spines int
	capacity              []float64
}

const (
	fleetBond  = 2
	fleetHosts = 32 // of a pair of leaves
)

func newLeafSpine(hosts int, random *rand.Rand) leafSpine {
	l := leafSpine{hosts: hosts, leaves: fleetBond * ((hosts + fleetHosts - 1) / fleetHosts), spines: 16}
	add := func(n int, rate func() float64) {
		for range 2 * n {
			l.capacity = append(l.capacity, rate())
		}
	}
	add(hosts*fleetBond, func() float64 { return 25e9 })
	add(l.leaves*l.spines, func() float64 { return 100e9 })
	add(hosts, func() float64 { return 63e9 * 0.85 })
	add(hosts, func() float64 {
		if random.IntN(5) > 0 {
			return math.Inf(1)
		}
		return float64(5+random.IntN(40)) * 1e9
	})
	return l
}

// flows draws flows between hosts, of which some are far more in demand than
// others; a third is held back by a window over a round trip.
func (l leafSpine) flows(n int, random *rand.Rand) Flows {
	const line, frame = 1538.0 / 1448, 1514.0 / 1448
	var f Flows
	uplinks := 2 * l.hosts * fleetBond
	cards := uplinks + 2*l.leaves*l.spines
	hosts := cards + 2*l.hosts
	for range n {
		from, to := l.popular(random), l.popular(random)
		for to == from {
			to = random.IntN(l.hosts)
		}
		out, in, spine := random.IntN(fleetBond), random.IntN(fleetBond), random.IntN(l.spines)
		limit := math.Inf(1)
		if random.IntN(3) == 0 {
			limit = float64(int(1)<<(20+random.IntN(5))) * 8 / (0.0001 + 0.01*random.Float64())
		}
		f.Add(1, limit)
		f.Claim(2*(from*fleetBond+out), line)
		f.Claim(2*(to*fleetBond+in)+1, line)
		leafOut, leafIn := from/fleetHosts*fleetBond+out, to/fleetHosts*fleetBond+in
		if leafOut != leafIn {
			f.Claim(uplinks+2*(leafOut*l.spines+spine), line)
			f.Claim(uplinks+2*(leafIn*l.spines+spine)+1, line)
		}
		f.Claim(cards+2*from, frame)
		f.Claim(cards+2*to+1, frame)
		f.Claim(hosts+2*from, frame)
		f.Claim(hosts+2*to+1, frame)
	}
	return f
}

// popular is a host: half of the draws are among few.
func (l leafSpine) popular(random *rand.Rand) int {
	x := random.Float64()
	if random.IntN(2) == 0 {
		x *= x * x * x
	}
	return int(x * float64(l.hosts))
}

const millionFlows = 1_000_000

// fleetOf is a hundred flows a host.
func fleetOf(flows int, seed uint64) (leafSpine, Flows) {
	random := rand.New(rand.NewPCG(seed, 10))
	l := newLeafSpine(max(2*fleetHosts, flows/100), random)
	return l, l.flows(flows, random)
}

// BenchmarkFleetMaxMin10k shares 10,000 hosts' links among 1,000,000 flows.
func BenchmarkFleetMaxMin10k(b *testing.B) {
	l, f := fleetOf(millionFlows, 1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	var s Shares
	for range b.N {
		var err error
		if s, err = Share(l.capacity, f); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	certify(b, l.capacity, f, s)
	b.ReportMetric(float64(f.Len()), "flows")
	b.ReportMetric(float64(l.hosts), "hosts")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
	b.ReportMetric(float64(after.Sys)/1e6, "MB")
}

// TestFleetGrowth: steps grow no faster than the claims times the logarithm of
// the resources, from 1,000 to 100,000 flows; in the proof (PROVE_RUNS) to
// 1,000,000, in under 2 s of processors and 2 GB. The time that is said beside grows faster:
// the small fabrics fit a processor's caches, and the large ones do not.
func TestFleetGrowth(t *testing.T) {
	sizes := []int{1000, 10_000, 100_000}
	proof := os.Getenv("PROVE_RUNS") != ""
	if proof {
		sizes = []int{1000, 3000, 10_000, 30_000, 100_000, 300_000, millionFlows}
	}
	var first, last point
	for i, n := range sizes {
		p := growthPoint(t, n, proof)
		if i == 0 {
			first = p
		}
		last = p
	}
	n := last.flows / first.flows
	steps := math.Log(last.steps/first.steps) / math.Log(n)
	most := math.Log(n*math.Log(last.flows)/math.Log(first.flows)) / math.Log(n)
	seconds := math.Log(last.seconds/first.seconds) / math.Log(n)
	t.Logf("flows shared: from %.0f to %.0f steps grow as n^%.3f (n log n: n^%.3f), seconds of processors as n^%.2f", first.flows, last.flows, steps, most, seconds)
	if steps > most {
		t.Errorf("steps grow as n^%.3f, faster than n log n (n^%.3f)", steps, most)
	}
	if proof && (last.seconds > 2 || last.bytes > 2e9) {
		t.Errorf("%.0f flows: %.2f s and %.0f MB, want less than 2 s and 2000 MB", last.flows, last.seconds, last.bytes/1e6)
	}
}

// TestFleetAllocations: however many flows there are, a fixed number of lists is
// made for them, which a claim takes at most 12.5 bytes of: nothing is made for a
// flow or a resource by itself. Neither number depends on the machine's load.
func TestFleetAllocations(t *testing.T) {
	type made struct{ lists, bytes float64 }
	of := func(flows int) made {
		l, f := fleetOf(flows, 1)
		share := func() {
			if _, err := Share(l.capacity, f); err != nil {
				t.Fatal(err)
			}
		}
		lists := testing.AllocsPerRun(3, share)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		share()
		runtime.ReadMemStats(&after)
		return made{lists, float64(after.TotalAlloc-before.TotalAlloc) / float64(len(f.Resource))}
	}
	few, many := of(1000), of(64_000)
	t.Logf("1,000 flows: %.0f lists, %.1f bytes a claim; 64,000: %.0f and %.1f", few.lists, few.bytes, many.lists, many.bytes)
	if many.lists > few.lists {
		t.Errorf("64,000 flows make %.0f lists, 1,000 make %.0f", many.lists, few.lists)
	}
	if many.bytes > 12.5 {
		t.Errorf("64,000 flows take %.1f bytes a claim, want at most 12.5", many.bytes)
	}
}

// TestPoolSize: four pools lie in a cache line, and so do the four that wait below one.
// A million flows look at pools that lie anywhere, and memory is what they wait for.
func TestPoolSize(t *testing.T) {
	const line = 64
	if size := unsafe.Sizeof(pool{}); size > line/4 {
		t.Errorf("a pool has %d bytes, want at most %d", size, line/4)
	}
	if size := unsafe.Sizeof(waiting{}); size > line/fan {
		t.Errorf("one that waits has %d bytes, want at most %d", size, line/fan)
	}
}

// point is one size's cost; seconds are of processors, which other programs on
// the machine do not add to.
type point struct{ flows, steps, seconds, elapsed, bytes float64 }

// processorTime is what the process has used of processors, in seconds.
func processorTime(t *testing.T) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func growthPoint(t *testing.T, n int, said bool) point {
	l, f := fleetOf(n, 1)
	runtime.GC()
	var s *sharing
	var got Shares
	p := point{flows: float64(n), seconds: math.Inf(1), elapsed: math.Inf(1)}
	for range max(1, 100_000/n) { // the best of several where it is short
		start, busy := time.Now(), processorTime(t)
		s = newSharing(l.capacity, f)
		s.fill()
		got = s.shares()
		p.elapsed = min(p.elapsed, time.Since(start).Seconds())
		p.seconds = min(p.seconds, processorTime(t)-busy)
	}
	p.steps = float64(s.work)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	p.bytes = float64(memory.Sys)
	certify(t, l.capacity, f, got)
	if said {
		t.Logf("flows shared: %7d over %5d hosts, %6d resources, %8d claims: %.4f s of processors, %.4f s elapsed, %.0f steps, %.0f MB", n, l.hosts, len(l.capacity), len(f.Resource), p.seconds, p.elapsed, p.steps, p.bytes/1e6)
	}
	return p
}
