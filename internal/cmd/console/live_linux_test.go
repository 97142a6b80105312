package console

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/linerate/linerate/internal/tui"
	"github.com/linerate/linerate/unit"
)

// TestLiveCost: drawing 32 links that change four times a second takes less
// than 3 % of a core.
func TestLiveCost(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds, and none of the race detector's work beside its own")
	}
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer ours.Close()
	defer theirs.Close()
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 60, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	go func() {
		buffer := make([]byte, 4096)
		for {
			if _, err := ours.Read(buffer); err != nil {
				return
			}
		}
	}()
	l := &Live{out: theirs}
	draw := func(i int) {
		v := tui.View{What: "alpha to beta both, 8 streams", Stage: "measuring", Elapsed: time.Duration(i) * time.Second / 4, Rate: unit.BitRate(i) * 1e8, Ceiling: 1e10}
		for _, name := range []string{"alpha", "beta"} {
			h := tui.Host{Name: name}
			for n := range 16 {
				h.Rows = append(h.Rows, tui.Row{Name: fmt.Sprint("eth", n), Rate: unit.BitRate((i*7+n*13)%100) * 1e8, Ceiling: 1e10, Streams: []int{n + 1}})
			}
			v.Hosts = append(v.Hosts, h)
		}
		l.Show(v)
	}
	draw(0)
	time.Sleep(300 * time.Millisecond) // it begins
	before, began := cpuTime(t), time.Now()
	for i := range 16 {
		draw(i)
		time.Sleep(250 * time.Millisecond)
	}
	share := float64(cpuTime(t)-before) / float64(time.Since(began))
	l.Stop()
	t.Logf("%.2f %% of a core", 100*share)
	if share > 0.03 {
		t.Errorf("%.2f %% of a core, want 3 at most", 100*share)
	}
}

// cpuTime is what this process has taken until now.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
