package disturbed

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate/linerate/internal/kernel/sys"
)

const (
	// taken is the mean part of the time that a spell takes from every core.
	taken = 0.08
	// shortestStall and longestStall are how long the cores are gone at a time.
	shortestStall = 2 * time.Millisecond
	longestStall  = 60 * time.Millisecond
	// ahead of every thread that shares its time, and of the kernel's own of
	// priority 50.
	ahead = 60
)

// takeCores takes all cores from everything else, at the same moments, in spells
// of seconds between which there is peace, until ctx is over. A seed has one
// story.
func takeCores(ctx context.Context, t *testing.T, seed uint64) {
	t.Helper()
	cores, err := sys.Affinity()
	if err != nil {
		t.Fatal(err)
	}
	start, ready := time.Now().Add(200*time.Millisecond), make(chan error)
	for _, core := range cores {
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with this
			err := inFront(core)
			ready <- err
			if err == nil {
				stall(ctx, start, rand.New(rand.NewPCG(seed, 1)))
			}
		}()
	}
	for range cores {
		if err := <-ready; err != nil {
			t.Fatalf("take a core: %v", err)
		}
	}
}

// inFront ties the calling thread to a core, ahead of all that share their time.
func inFront(core int) error {
	if err := sys.Pin(core); err != nil {
		return err
	}
	return unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: ahead}, 0)
}

// stall is a thread's whole story from start on; all threads of a seed tell the
// same one.
func stall(ctx context.Context, start time.Time, random *rand.Rand) {
	between := func(low, high float64) float64 { return low + (high-low)*random.Float64() }
	for at := start; ctx.Err() == nil; {
		end := at.Add(time.Duration(between(2, 10) * float64(time.Second)))
		part := []float64{0, taken / 2, taken, 1.5 * taken}[random.IntN(4)]
		for part > 0 && at.Before(end) && ctx.Err() == nil {
			length := between(float64(shortestStall), float64(longestStall))
			time.Sleep(time.Until(at))
			for gone := at.Add(time.Duration(length)); time.Now().Before(gone); {
				continue
			}
			at = at.Add(time.Duration(length + length*(1-part)/part*between(0.5, 1.5)))
		}
		if part == 0 {
			at = end
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(at)):
		}
	}
}
