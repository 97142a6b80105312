package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestMain lets this test binary serve as a guest's first process and as the
// command that runs in it.
func TestMain(m *testing.M) {
	if IsInit() {
		Init()
	}
	if os.Getenv(EnvGuest) != "" {
		os.Exit(inside(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// inside is the command run in the guest.
func inside(args []string) int {
	switch args[0] {
	case "speak":
		release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
		fmt.Printf("out %s", release)
		fmt.Fprintln(os.Stderr, "err")
		fmt.Print(strings.Repeat("x", 300_000))
		if err := os.WriteFile("made-inside", []byte("yes"), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 9
		}
		_, err := os.Stat("/proc/net/bonding")
		if err != nil {
			return 8
		}
		return 7
	case "wait":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGINT)
		fmt.Println("waiting")
		<-signals
		fmt.Println("cleaned up")
		return 130
	}
	return 2
}

func needKernel(t *testing.T) {
	t.Helper()
	if err := Installed(); err != nil {
		t.Skip(err)
	}
}

func TestKernelRun(t *testing.T) {
	needKernel(t)
	dir := t.TempDir()
	var out, errs bytes.Buffer
	exit, err := Run(t.Context(), Command{Args: []string{"speak"}, Dir: dir, Modules: []string{"bonding"}, Stdout: &out, Stderr: &errs, MemoryMiB: 256})
	if err != nil {
		t.Fatal(err)
	}
	if exit.Status != 7 {
		t.Errorf("exit status %d, want 7 (stderr %q)", exit.Status, errs.String())
	}
	if want := "out " + exit.Kernel + "\n"; !strings.HasPrefix(out.String(), want) || out.Len() != len(want)+300_000 {
		t.Errorf("stdout is %d bytes and starts %.40q; want %q and 300000 more", out.Len(), out.String(), want)
	}
	if errs.String() != "err\n" {
		t.Errorf("stderr %q", errs.String())
	}
	if b, err := os.ReadFile(filepath.Join(dir, "made-inside")); err != nil || string(b) != "yes" {
		t.Errorf("file written inside: %q, %v", b, err)
	}
}

func TestKernelInterrupt(t *testing.T) {
	needKernel(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	w := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("waiting")) {
			cancel()
		}
		return out.Write(p)
	})
	start := time.Now()
	exit, err := Run(ctx, Command{Args: []string{"wait"}, Stdout: w, MemoryMiB: 256})
	if !errors.Is(err, context.Canceled) || exit.Status != 130 || !strings.Contains(out.String(), "cleaned up") {
		t.Errorf("Run = %+v, %v, output %q; want a clean end by the signal", exit, err, out.String())
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("interrupt took %v", d)
	}
	if left, _ := exec.Command("pgrep", "-f", "umid=guest").Output(); len(left) > 0 {
		t.Errorf("processes left behind: %s", left)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Byte(), 0, 3*maxFrame).Draw(t, "payload")
		var line bytes.Buffer
		if err := writeFrame(&line, frameStdout, want); err != nil {
			t.Fatal(err)
		}
		var got []byte
		for {
			kind, p, err := readFrame(&line)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || kind != frameStdout {
				t.Fatal(kind, err)
			}
			got = append(got, p...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, want %d", len(got), len(want))
		}
	})
	if _, _, err := readFrame(strings.NewReader("[    0.1] panic")); !errors.Is(err, errFrame) {
		t.Errorf("kernel output on the line: %v, want errFrame", err)
	}
}
