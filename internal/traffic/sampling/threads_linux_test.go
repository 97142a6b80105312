package sampling

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
)

// sleeper is a thread that wakes and sleeps, its id, and what ends it.
func sleeper(t *testing.T) (id int, end func()) {
	t.Helper()
	ids, stop, gone := make(chan int), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		runtime.LockOSThread() // and it ends with the goroutine
		ids <- sys.Gettid()
		for {
			select {
			case <-stop:
				return
			default:
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	return <-ids, func() { close(stop); <-gone }
}

// opened is how many files of threads this process has open.
func opened(t *testing.T) (n int) {
	t.Helper()
	dir, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range dir {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && (strings.HasSuffix(to, "/schedstat") || strings.HasSuffix(to, "/status")) {
			n++
		}
	}
	return n
}

// TestThreads: what a thread used and how often it gave its core up grows from
// count to count, a place without a thread has none, and the files that stay
// open are those of threads that are asked for.
func TestThreads(t *testing.T) {
	before := opened(t)
	id, end := sleeper(t)
	var threads Threads
	var first, last agentapi.CPUCount
	threads.Count(&first, 0, []int{0, id})
	if got := opened(t) - before; got != 2 {
		t.Errorf("%d files of one thread are open, want 2", got)
	}
	time.Sleep(50 * time.Millisecond)
	threads.Count(&last, 50*time.Millisecond, []int{0, id})
	for _, c := range []agentapi.CPUCount{first, last} {
		if len(c.Threads) != 2 || len(c.Switches) != 2 || len(c.Waited) != 2 || c.Threads[0] != 0 || c.Switches[0] != (agentapi.Switches{}) || c.Waited[0] != 0 {
			t.Fatalf("counted %+v", c)
		}
	}
	if last.Threads[1] <= first.Threads[1] || last.Switches[1].Voluntary < first.Switches[1].Voluntary+10 || last.Waited[1] < first.Waited[1] {
		t.Errorf("from %+v to %+v", first, last)
	}
	// Another thread in its place, then the first is gone.
	other, endOther := sleeper(t)
	defer endOther()
	end()
	last = agentapi.CPUCount{}
	threads.Count(&last, 100*time.Millisecond, []int{other})
	if len(last.Switches) != 1 || opened(t)-before != 2 {
		t.Errorf("another thread: %+v with %d files", last, opened(t)-before)
	}
	threads.Close()
	if got := opened(t) - before; got != 0 {
		t.Errorf("%d files are left open", got)
	}
}
