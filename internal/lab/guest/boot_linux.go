package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// kernelProgram is Debian's User-Mode Linux: a kernel that runs as an
// ordinary process and needs no privilege.
const kernelProgram = "linux.uml"

// Installed reports whether a lab kernel can be started here; otherwise the
// error wraps ErrNoKernel.
func Installed() error {
	if _, err := exec.LookPath(kernelProgram); err != nil {
		return fmt.Errorf("%w: %s is not on the path", ErrNoKernel, kernelProgram)
	}
	return nil
}

// Run boots a kernel, runs the command in it and returns how it ended. When
// ctx ends the command is interrupted, given some seconds to clean up, and
// then the kernel is stopped. Nothing is left behind: no process, no mount
// (all mounts are the guest's own), no file. Should this program be killed,
// the guest notices that the line is dead and powers itself off.
func Run(ctx context.Context, c Command) (Exit, error) {
	if err := Installed(); err != nil {
		return Exit{}, err
	}
	dir, err := os.MkdirTemp("", "linerate-lab-")
	if err != nil {
		return Exit{}, fmt.Errorf("make lab directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := writeOrders(dir, c); err != nil {
		return Exit{}, err
	}
	machine, err := start(dir, c)
	if err != nil {
		return Exit{}, err
	}
	defer machine.stop()
	return machine.converse(ctx, c)
}

func writeOrders(dir string, c Command) error {
	orders, err := json.Marshal(config{Args: c.Args, Env: c.Env, Dir: c.Dir, Writable: c.Writable, Modules: c.Modules})
	if err != nil {
		return fmt.Errorf("encode lab orders: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), orders, 0o644); err != nil {
		return fmt.Errorf("write lab orders: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	// A link, because the kernel's command line cannot say a path with blanks.
	if err := os.Symlink(self, filepath.Join(dir, "init")); err != nil {
		return fmt.Errorf("link own program: %w", err)
	}
	return nil
}

// machine is one running lab kernel.
type machine struct {
	cmd     *exec.Cmd
	line    *os.File // our end of the serial line
	console *bytes.Buffer
	done    chan struct{}
	waitErr error
	log     *slog.Logger
}

func start(dir string, c Command) (*machine, error) {
	ours, theirs, err := linePair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	memory := c.MemoryMiB
	if memory == 0 {
		memory = 1024
	}
	m := &machine{line: ours, console: &bytes.Buffer{}, done: make(chan struct{}), log: c.Logger}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.cmd = exec.Command(kernelProgram,
		fmt.Sprintf("mem=%dM", memory), "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet",
		"init="+filepath.Join(dir, "init"), "con=null", "con0=null,fd:1", "ssl0=fd:3,fd:3", "ssl=null",
		"uml_dir="+dir, "umid=guest", envConfig+"="+dir)
	m.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + roomyDir(uint64(memory)<<20)}
	m.cmd.ExtraFiles = []*os.File{theirs}
	m.cmd.Stdout, m.cmd.Stderr = m.console, m.console
	// A group of its own: a Ctrl-C at the terminal reaches us, not the kernel.
	// No signal for our own death: a killed kernel leaves its helper processes
	// behind, while the guest, when the line goes dead, ends all in order.
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	m.cmd.WaitDelay = 2 * time.Second
	if err := m.cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start %s: %w", kernelProgram, err)
	}
	go func() {
		m.waitErr = m.cmd.Wait()
		m.line.Close() // ends the reader when the kernel died
		close(m.done)
	}()
	return m, nil
}

// linePair makes the serial line: a stream socket pair.
func linePair() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make serial line: %w", err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		return nil, nil, fmt.Errorf("make serial line: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "serial line"), os.NewFile(uintptr(fds[1]), "serial line of guest"), nil
}

// roomyDir is where the kernel's memory file goes: memory-backed where there
// is room (a container's /dev/shm often has 64 MB, and the kernel would die
// of it).
func roomyDir(need uint64) string {
	for _, dir := range []string{"/dev/shm", os.TempDir(), "/var/tmp"} {
		if free, err := sys.FreeBytes(dir); err == nil && free > need+need/8 {
			return dir
		}
	}
	return os.TempDir()
}

// bootTime is the longest from start to the guest's first word: 2 s usually,
// more on a busy machine.
const bootTime = 60 * time.Second

// graceTime is how long an interrupted command may take to clean up.
const graceTime = 20 * time.Second

func (m *machine) converse(ctx context.Context, c Command) (Exit, error) {
	type result struct {
		exit Exit
		err  error
	}
	ready := make(chan string, 1)
	finished := make(chan result, 1)
	go func() {
		exit, err := m.read(c, ready)
		finished <- result{exit, err}
	}()
	boot := time.NewTimer(bootTime)
	defer boot.Stop()
	interrupted := ctx.Done()
	up := false
	for {
		select {
		case release := <-ready:
			up = true
			boot.Stop()
			m.log.Debug("lab kernel is up", "release", release)
		case r := <-finished:
			if r.err != nil {
				return r.exit, m.explainDeath(r.err)
			}
			if ctx.Err() != nil {
				return r.exit, ctx.Err()
			}
			return r.exit, nil
		case <-boot.C:
			return Exit{}, m.explainDeath(fmt.Errorf("start lab kernel: no word within %v", bootTime))
		case <-interrupted:
			if !up {
				// Nobody listens yet, and nothing runs that wants to clean up.
				m.kill()
				return Exit{}, ctx.Err()
			}
			interrupted = nil
			boot.Reset(graceTime)
			_ = writeFrame(m.line, frameSignal, []byte{byte(syscall.SIGINT)})
		}
	}
}

// read passes the guest's output on until the command's exit status comes.
func (m *machine) read(c Command, ready chan<- string) (Exit, error) {
	var exit Exit
	for {
		kind, payload, err := readFrame(m.line)
		if err != nil {
			return exit, fmt.Errorf("hear lab kernel: %w", err)
		}
		switch kind {
		case frameReady:
			exit.Kernel = string(payload)
			ready <- exit.Kernel
		case frameStdout:
			err = pass(c.Stdout, payload)
		case frameStderr:
			err = pass(c.Stderr, payload)
		case frameExit:
			if len(payload) == 1 {
				exit.Status = int(payload[0])
			}
			return exit, writeFrame(m.line, frameBye, nil)
		}
		if err != nil {
			return exit, fmt.Errorf("pass output on: %w", err)
		}
	}
}

func pass(w io.Writer, p []byte) error {
	if w == nil {
		return nil
	}
	_, err := w.Write(p)
	return err
}

// stop ends the kernel, with force if it does not go by itself.
func (m *machine) stop() {
	select {
	case <-m.done:
	case <-time.After(3 * time.Second):
	}
	m.kill() // also after a clean end: a helper process may have outlived its parent
}

// kill ends the kernel and its helper processes at once.
func (m *machine) kill() {
	_ = syscall.Kill(-m.cmd.Process.Pid, syscall.SIGKILL)
	<-m.done
}

// explainDeath adds the kernel's last words to an error, which is nearly
// always the reason.
func (m *machine) explainDeath(err error) error {
	m.kill()
	var words []string
	for _, line := range strings.Split(m.console.String(), "\n") {
		if l := strings.TrimSpace(line); l != "" {
			words = append(words, l)
		}
	}
	if len(words) > 3 {
		words = words[len(words)-3:]
	}
	if errors.Is(err, fs.ErrClosed) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		err = errors.New("lab kernel ended unexpectedly")
	}
	if len(words) == 0 {
		return err
	}
	return fmt.Errorf("%w (its last words: %s)", err, strings.Join(words, " | "))
}
