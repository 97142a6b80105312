package guest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// Run boots a kernel, runs the command in it and returns how it ended. When
// ctx ends the command is interrupted, given some seconds to clean up, and
// then the kernel is stopped. Nothing is left behind: no process, no mount
// (all mounts are the guest's own), no file but those of the command. Should
// this program be killed, the kernel ends too. Errors wrap ErrNoKernel or
// ErrNoEmulator where there is none to boot.
func Run(ctx context.Context, c Command) (Exit, error) {
	boot := bootUML
	if c.Kernel != "" {
		boot = bootEmulated
	}
	machine, err := boot(c)
	if err != nil {
		return Exit{}, err
	}
	if c.Started != nil {
		c.Started(machine.cmd.Process.Pid)
	}
	defer machine.stop()
	if c.Calls != nil {
		admitted := make(chan struct{})
		go func() {
			machine.admit(c.Calls)
			close(admitted)
		}()
		defer func() {
			c.Calls.Close()
			machine.room.end()
			machine.channels.end()
			<-admitted
		}()
	}
	return machine.converse(ctx, c)
}

// machine is one running lab kernel.
type machine struct {
	cmd      *exec.Cmd
	line     *os.File // our end of the serial line
	console  *bytes.Buffer
	done     chan struct{}
	waitErr  error
	log      *slog.Logger
	bootTime time.Duration // the longest from start to the guest's first word
	cleanUp  func()        // after its end; may be nil
	channels *channels
	said     sync.Mutex // held for a frame to the guest
	room     *allowance // on the line, for frames of channels
	core     *core      // nil: not bound
}

// sayChannel is say for frames of channels, which wait for room on the line.
func (m *machine) sayChannel(kind frameKind, payload []byte) error {
	if !m.room.take(4 + len(payload)) {
		return io.ErrClosedPipe
	}
	return m.say(kind, payload)
}

// say writes a frame to the guest.
func (m *machine) say(kind frameKind, payload []byte) error {
	m.said.Lock()
	defer m.said.Unlock()
	return writeFrame(m.line, kind, payload)
}

// newMachine prepares the process of a kernel: its serial line is the file
// descriptor 3.
func newMachine(c Command, program string, args ...string) (*machine, *os.File, error) {
	ours, theirs, err := linePair()
	if err != nil {
		return nil, nil, err
	}
	m := &machine{line: ours, console: &bytes.Buffer{}, done: make(chan struct{}), log: c.Logger}
	m.channels, m.room = newChannels(m.sayChannel, nil), newAllowance(lineWindow)
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.cmd = exec.Command(program, args...)
	m.cmd.ExtraFiles = []*os.File{theirs}
	m.cmd.Stdout, m.cmd.Stderr = m.console, m.console
	// A group of its own: a Ctrl-C at the terminal reaches us, not the kernel.
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	m.cmd.WaitDelay = 2 * time.Second
	return m, theirs, nil
}

// start starts the process and watches it. It watches from the thread that
// started it, because a parent-death signal follows the thread; and so does the
// core, which the process has from that thread.
func (m *machine) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		if m.core == nil {
			defer runtime.UnlockOSThread()
		} // else the thread is bound, and ends with this goroutine
		err := m.bind()
		if err == nil {
			err = m.cmd.Start()
		}
		started <- err
		if err != nil {
			return
		}
		m.waitErr = m.cmd.Wait()
		m.line.Close() // ends the reader when the kernel died
		close(m.done)
	}()
	if err := <-started; err != nil {
		m.line.Close()
		return fmt.Errorf("start %s: %w", m.cmd.Path, err)
	}
	return nil
}

// bind keeps the calling thread, and what it starts, on the kernel's core.
func (m *machine) bind() error {
	if m.core == nil {
		return nil
	}
	return sys.SetThreadAffinity(0, []int{m.core.number})
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
	boot := time.NewTimer(m.bootTime)
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
			return Exit{}, m.explainDeath(fmt.Errorf("start lab kernel: no word within %v", m.bootTime))
		case <-c.Cut:
			m.kill()
			return Exit{}, ErrCut
		case <-interrupted:
			if !up {
				// Nobody listens yet, and nothing runs that wants to clean up.
				m.kill()
				return Exit{}, ctx.Err()
			}
			interrupted = nil
			boot.Reset(graceTime)
			_ = m.say(frameSignal, []byte{byte(syscall.SIGINT)})
		}
	}
}

// read passes the guest's output on until the command's exit status comes.
func (m *machine) read(c Command, ready chan<- string) (Exit, error) {
	var exit Exit
	var parcel bytes.Buffer
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
		case frameParcel:
			if parcel.Len()+len(payload) > maxParcel {
				return exit, fmt.Errorf("receive files: more than %d MiB", maxParcel>>20)
			}
			parcel.Write(payload)
		case frameData, frameRoom, frameClose:
			err = m.channels.handle(kind, payload)
		case frameTaken:
			if len(payload) == 4 {
				m.room.add(int(binary.BigEndian.Uint32(payload)))
			}
		case frameExit:
			if len(payload) == 1 {
				exit.Status = int(payload[0])
			}
			return exit, errors.Join(unpackParcel(&parcel, c.shared()), m.say(frameBye, nil))
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
	if m.cleanUp != nil {
		m.cleanUp()
	}
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
