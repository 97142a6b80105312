package corerate

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/procfs"
)

// processors is each core's time so far.
func processors() (agentapi.CPUCount, error) {
	all, err := procfs.Stat()
	var out agentapi.CPUCount
	for _, c := range all {
		out.Cores, out.Busy, out.Softirq = append(out.Cores, c.CPU), append(out.Busy, c.Busy), append(out.Softirq, c.Softirq)
	}
	return out, err
}

func measured(t *testing.T, length time.Duration) agentapi.CoreRateReply {
	t.Helper()
	r, err := Run(t.Context(), Config{CPU: processors, Time: length})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestKernelCoreRate measures a core of this machine. Only relations that hold
// on any machine are asked for: packets one by one carry less than joined ones,
// the parts add up, two runs agree, and nothing is left behind.
func TestKernelCoreRate(t *testing.T) {
	before, err := netns.List()
	if err != nil {
		t.Fatal(err)
	}
	const length = 700 * time.Millisecond
	first := measured(t, length)
	if os.Getuid() == 0 && first.Over != agentapi.OverVeth {
		t.Errorf("as root it ran over %s: %s", first.Over, first.Why)
	}
	if (first.Over == agentapi.OverLoopback) != (first.Why != "") {
		t.Errorf("over %s, because %q", first.Over, first.Why)
	}
	full := first.PacketRate * 1448 * 8
	if full <= 0 || full >= float64(first.StreamRate) {
		t.Errorf("full packets one by one carry %.3g bit/s, joined %v", full, first.StreamRate)
	}
	if first.StreamMost < first.StreamRate || first.Stream.Send <= 0 || first.Stream.Receive <= 0 || first.Packet.Send <= 0 || first.Packet.Receive <= 0 {
		t.Errorf("the parts do not make sense: %+v", first)
	}
	// A single packet cannot cost less than a full one's share of joined ones.
	share := (first.Stream.Send + first.Stream.Softirq + first.Stream.Receive) * 1448 / gigabyte
	if all := first.Packet.Send + first.Packet.Softirq + first.Packet.Receive; all <= share {
		t.Errorf("a packet takes %.3g s, as a part of joined ones %.3g s", all, share)
	}
	// Other programs disturb a run: a few are asked for two that agree.
	rates, agree := []float64{float64(first.StreamRate)}, false
	for !agree && len(rates) < 6 {
		next := float64(measured(t, length).StreamRate)
		agree = slices.ContainsFunc(rates, func(r float64) bool { return min(r, next) >= 0.7*max(r, next) })
		rates = append(rates, next)
	}
	if !agree {
		t.Errorf("no two of %.3g bit/s agree within 30 %%", rates)
	}
	after, err := netns.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range after {
		if !slices.Contains(before, name) {
			t.Logf("namespace %s appeared meanwhile", name) // somebody else's: ours have no names
		}
	}
}

// TestKernelArenaGoes: the namespaces are gone as soon as they are let go of.
func TestKernelArenaGoes(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	a, err := vethArena()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []end{a.from, a.to} {
		if err := e.space.Do(func() error { return nil }); err != nil {
			t.Errorf("the namespace of %s: %v", e.addr, err)
		}
	}
	a.release()
	for _, e := range []end{a.from, a.to} {
		if err := e.space.Do(func() error { return nil }); err == nil {
			t.Errorf("the namespace of %s is there after it was let go of", e.addr)
		}
	}
}

// TestRunStops: an interrupt ends a measurement at once.
func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := Run(ctx, Config{CPU: processors, Time: 20 * time.Second})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// TestRunWithoutTime: figures that would be made up are refused.
func TestRunWithoutTime(t *testing.T) {
	none := func() (agentapi.CPUCount, error) { return agentapi.CPUCount{}, nil }
	if _, err := Run(t.Context(), Config{CPU: none, Time: agentapi.ShortestCoreRate}); !errors.Is(err, ErrNothing) {
		t.Errorf("without processor time: %v, want ErrNothing", err)
	}
}
