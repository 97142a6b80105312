package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/sys"
)

// throttledGroup makes a group of version 1 with a quota, gone with the test.
func throttledGroup(t *testing.T, quota string) string {
	t.Helper()
	const cpu = "/sys/fs/cgroup/cpu"
	if os.Getuid() != 0 {
		t.Skip("making a control group needs root")
	}
	if _, err := os.Stat(filepath.Join(cpu, "cpu.cfs_quota_us")); err != nil {
		t.Skip("no version 1 of the cpu controller here")
	}
	dir := filepath.Join(cpu, fmt.Sprintf("linerate-test-%d", os.Getpid()))
	inner := filepath.Join(dir, "inner")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, d := range []string{inner, dir} {
			if err := os.Remove(d); err != nil {
				t.Error(err)
			}
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "cpu.cfs_quota_us"), []byte(quota), 0o644); err != nil {
		t.Fatal(err)
	}
	return inner
}

// TestThrottledThread: a thread that spins in a group whose parent has a quota
// of 0.05 cores is stopped for the rest, its run delay says so too, and another
// thread of the process is in no such group.
func TestThrottledThread(t *testing.T) {
	group := throttledGroup(t, "5000")
	ids, gone := make(chan int), make(chan struct{})
	var stop atomic.Bool
	go func() {
		defer close(gone)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := os.WriteFile(filepath.Join(group, "tasks"), []byte(fmt.Sprint(sys.Gettid())), 0o644); err != nil {
			t.Error(err)
			close(ids)
			return
		}
		ids <- sys.Gettid()
		for !stop.Load() { // keeps a core busy
		}
		if err := os.WriteFile(filepath.Join(group, "../../tasks"), []byte(fmt.Sprint(sys.Gettid())), 0o644); err != nil {
			t.Error(err)
		}
	}()
	id, ok := <-ids
	if !ok {
		t.FailNow()
	}
	defer func() { stop.Store(true); <-gone }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tree, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if own, err := tree.Of(sys.Gettid()); err != nil || own.Name() == group {
		t.Errorf("another thread of the process is in %q, %v", own.Name(), err)
	}
	var w Watch
	began := time.Now()
	first := w.See(0, []int{0, id})
	if first.Quota != 0.05 || first.Throttled != 0 {
		t.Errorf("at first %+v, want a quota of 0.05 and no time yet", first)
	}
	delay, err := procfs.OpenRunDelay(id)
	if err != nil {
		t.Fatal(err)
	}
	defer delay.Close()
	waited, err := delay.Read()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1200 * time.Millisecond)
	last := w.See(time.Since(began), []int{0, id})
	after, err := delay.Read()
	if err != nil {
		t.Fatal(err)
	}
	span := time.Since(began).Seconds()
	// The machine may run others on the core meanwhile: then less is stopped.
	if share := last.Throttled.Seconds() / span; share < 0.3 || share > 1 {
		t.Errorf("stopped for %.2f of the time, want about 0.95", share)
	}
	if share := (after - waited).Seconds() / span; share < 0.5 || share > 1 {
		t.Errorf("run delay is %.2f of the time, want about 0.95", share)
	}
	if last.Quota != 0.05 {
		t.Errorf("quota %v", last.Quota)
	}
}
