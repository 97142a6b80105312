package procfs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// TestKept: a file that stays open says what it says now, however long it has
// become, and what a new one says.
func TestKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	k, err := keep(os.DevNull, func(b []byte) (string, error) { return string(b), nil })
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Read(); got != "" || err != nil {
		t.Errorf("nothing: %q, %v", got, err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	for _, size := range []int{1, keptSize - 1, keptSize, keptSize + 1, 5 * keptSize, 3} {
		want := bytes.Repeat([]byte("x"), size)
		if err := os.WriteFile(name, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if k.file.Name() != name {
			if k, err = keep(name, func(b []byte) (string, error) { return string(b), nil }); err != nil {
				t.Fatal(err)
			}
			defer k.Close()
		}
		if got, err := k.Read(); got != string(want) || err != nil {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
	}
	if _, err := keep(filepath.Join(t.TempDir(), "none"), ParseStat); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestKernelKept: the kernel's files kept open say what they say anew.
func TestKernelKept(t *testing.T) {
	stat, err := OpenStat()
	if err != nil {
		t.Fatal(err)
	}
	defer stat.Close()
	softnet, err := OpenSoftnet()
	if err != nil {
		t.Fatal(err)
	}
	defer softnet.Close()
	agreed := false
	for range 50 { // a tick may come between two readings
		times, err := stat.Read()
		anew, other := Stat()
		if err != nil || other != nil {
			t.Fatal(err, other)
		}
		rows, err := softnet.Read()
		if now, other := ReadSoftnet(); err != nil || other != nil || len(rows) != len(now) {
			t.Fatalf("%d rows, %v; %d anew, %v", len(rows), err, len(now), other)
		}
		agreed = agreed || cmp.Equal(times, anew)
	}
	if !agreed {
		t.Error("the file kept open never says what a new one says")
	}
}

// thread is a thread of this process that waits for its end.
func thread() (id int, end func()) {
	ids, goon, gone := make(chan int), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		runtime.LockOSThread() // and it ends with the goroutine
		ids <- sys.Gettid()
		<-goon
	}()
	return <-ids, func() { close(goon); <-gone }
}

// TestKernelThread: what is read of a thread grows, and is an error when the
// thread is gone.
func TestKernelThread(t *testing.T) {
	id, end := thread()
	if id == os.Getpid() { // the first thread outlives its goroutine: another, meanwhile
		defer end()
		id, end = thread()
	}
	switches, err := OpenSwitches(id)
	if err != nil {
		t.Fatal(err)
	}
	defer switches.Close()
	delay, err := OpenRunDelay(id)
	if err != nil {
		t.Fatal(err)
	}
	defer delay.Close()
	if s, err := switches.Read(); err != nil || s.Voluntary == 0 && s.Involuntary == 0 {
		t.Errorf("switches %+v, %v", s, err)
	}
	if d, err := delay.Read(); err != nil || d < 0 {
		t.Errorf("run delay %v, %v", d, err)
	}
	end()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		// The thread ends a moment after its goroutine.
		if _, err = os.Stat("/proc/self/task/" + strconv.Itoa(id)); err != nil {
			break
		}
	}
	if _, err := switches.Read(); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("switches of a thread that is gone: %v", err)
	}
	if _, err := delay.Read(); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("run delay of a thread that is gone: %v", err)
	}
}

func BenchmarkKernelRunDelay(b *testing.B) {
	k, err := OpenRunDelay(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	for b.Loop() {
		if _, err := k.Read(); err != nil {
			b.Fatal(err)
		}
	}
}
