package guest

import (
	"bufio"
	"bytes"
	"cmp"
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

// envHost makes this test binary a program that runs a kernel until killed.
const envHost = "LINERATE_TEST_HOST"

// TestMain lets this test binary serve as a guest's first process, as the
// command that runs in it, and as the program that runs it.
func TestMain(m *testing.M) {
	if IsInit() {
		Init()
	}
	if os.Getenv(EnvGuest) != "" {
		os.Exit(inside(os.Args[1:]))
	}
	if kernel, ok := os.LookupEnv(envHost); ok {
		_, _ = Run(context.Background(), Command{Args: []string{"wait"}, Kernel: kernel, Stdout: os.Stdout, MemoryMiB: 512})
		os.Exit(1)
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
		given, err := os.ReadFile("given")
		if err := errors.Join(err, os.Mkdir("made", 0o755), os.WriteFile("made/inside", given, 0o644)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 9
		}
		if _, err := os.Stat("/proc/net/bonding"); err != nil {
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

// onEachKernel runs a test on User-Mode Linux and on an emulated kernel.
func onEachKernel(t *testing.T, test func(t *testing.T, kernel string)) {
	t.Run("uml", func(t *testing.T) {
		if err := Installed(); err != nil {
			t.Skip(err)
		}
		test(t, "")
	})
	t.Run("qemu", func(t *testing.T) {
		if testing.Short() {
			t.Skip("left out by -short: it takes half a minute")
		}
		if err := Emulator(); err != nil {
			t.Skip(err)
		}
		dir := filepath.Join(cmp.Or(os.Getenv("LINERATE_LAB_KERNELS"), "../../../.lab-kernels"), "6.1")
		if _, err := OpenKernel(dir); err != nil {
			t.Skipf("%v: make deps-qemu fetches it", err)
		}
		test(t, dir)
	})
}

func TestKernelRun(t *testing.T) {
	onEachKernel(t, func(t *testing.T, kernel string) {
		dir := t.TempDir()
		given := filepath.Join(dir, "given")
		if err := os.WriteFile(given, []byte("from the host"), 0o644); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		exit, err := Run(t.Context(), Command{
			Args: []string{"speak"}, Dir: dir, Files: []string{given}, Modules: []string{"bonding"}, Kernel: kernel, Stdout: &out, Stderr: &errs, MemoryMiB: 512,
		})
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
		if b, err := os.ReadFile(filepath.Join(dir, "made", "inside")); err != nil || string(b) != "from the host" {
			t.Errorf("file written inside: %q, %v", b, err)
		}
	})
}

func TestKernelInterrupt(t *testing.T) {
	onEachKernel(t, func(t *testing.T, kernel string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out bytes.Buffer
		var at time.Time
		w := writerFunc(func(p []byte) (int, error) {
			if bytes.Contains(p, []byte("waiting")) {
				at = time.Now()
				cancel()
			}
			return out.Write(p)
		})
		exit, err := Run(ctx, Command{Args: []string{"wait"}, Kernel: kernel, Stdout: w, MemoryMiB: 512})
		if !errors.Is(err, context.Canceled) || exit.Status != 130 || !strings.Contains(out.String(), "cleaned up") {
			t.Errorf("Run = %+v, %v, output %q; want a clean end by the signal", exit, err, out.String())
		}
		// An emulated kernel on a busy machine boots for longer than it may take to end.
		if d := time.Since(at); d > 60*time.Second {
			t.Errorf("interrupt took %v", d)
		}
		if left := children(t, os.Getpid()); len(left) > 0 {
			t.Errorf("processes left behind: %v", left)
		}
	})
}

// TestKernelOfKilledProgram kills the program that runs a kernel, which gets
// no chance to end it.
func TestKernelOfKilledProgram(t *testing.T) {
	onEachKernel(t, func(t *testing.T, kernel string) {
		host := exec.Command("/proc/self/exe")
		host.Env = append(os.Environ(), envHost+"="+kernel, "TMPDIR="+t.TempDir())
		out, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "waiting\n" {
			t.Errorf("from the guest: %q, %v", line, err)
		}
		group := children(t, host.Process.Pid)
		if len(group) == 0 {
			t.Error("no kernel runs")
		}
		_ = host.Process.Kill()
		_ = host.Wait()
		// Each kernel leads a process group with all that belongs to it.
		for _, pid := range group {
			for start := time.Now(); syscall.Kill(-pid, 0) == nil; time.Sleep(50 * time.Millisecond) {
				if time.Since(start) > 20*time.Second {
					t.Errorf("processes of group %d left behind", pid)
					_ = syscall.Kill(-pid, syscall.SIGKILL)
				}
			}
		}
	})
}

// children are the processes that a process has started and that still run.
func children(t *testing.T, parent int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		var pid, ppid int
		var state string
		_, rest, _ := strings.Cut(string(text), ") ") // the name may hold blanks
		if _, err := fmt.Sscan(string(text), &pid); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(rest, &state, &ppid); err != nil {
			t.Fatal(err)
		}
		if ppid == parent && state != "Z" {
			out = append(out, pid)
		}
	}
	return out
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
