package rounds

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// matrices are every pair of n hosts: alone; twice; of hosts that share machines, and
// links of racks; all but some pairs.
func matrices(n int) map[string][]Test {
	all := allPairs(n)
	var shared, some []Test
	for i, t := range all {
		if i%7 != 0 {
			some = append(some, t)
		}
		var a, z int
		if _, err := fmt.Sscanf(t.A+" "+t.B, "h%d h%d", &a, &z); err != nil {
			panic(err)
		}
		t.Over = []string{fmt.Sprintf("machine %d", a/2), fmt.Sprintf("machine %d", z/2)}
		if a/20 != z/20 {
			t.Over = append(t.Over, fmt.Sprintf("uplink %d", a/20), fmt.Sprintf("uplink %d", z/20))
		}
		shared = append(shared, t)
	}
	return map[string][]Test{"all": all, "twice": slices.Concat(all, all), "some": some, "shared": shared}
}

// BenchmarkRounds is the matrix of 200 hosts.
func BenchmarkRounds(b *testing.B) {
	for name, tests := range matrices(200) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = len(Rounds(tests))
			}
			b.ReportMetric(float64(n), "rounds")
		})
	}
}

// used is the processor time that this program has had: others that run beside it do
// not count.
func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestGrowth: the matrix of 200 hosts is in rounds within a second of a processor,
// whatever its hosts share; it takes a tenth of that.
func TestGrowth(t *testing.T) {
	for name, tests := range matrices(200) {
		best := time.Hour
		for range 3 {
			start := used(t)
			Rounds(tests)
			best = min(best, used(t)-start)
		}
		t.Logf("%s: %d tests in %v", name, len(tests), best)
		if best > time.Second {
			t.Errorf("%s: %d tests took %v of a processor, want less than 1 s", name, len(tests), best)
		}
	}
}
