package guest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// sessions run the commands that channels ask for.
type sessions struct {
	kernel string
	mu     sync.Mutex
	shown  map[string]bool // directories of the host that are writable here
	// homed says that the host's file system is under ours.
	homed bool
}

// serve is the life of a channel: a request, a command, its exit status. When
// the far end goes the command is hung up.
func (s *sessions) serve(ch *channel) {
	defer ch.Close()
	out := &frameWriter{to: ch}
	request, err := readRequest(ch)
	if err == nil {
		err = s.run(request, ch, out)
	}
	if err != nil {
		_ = out.send(frameRefused, []byte(err.Error()))
	}
}

// output is one stream of a command.
type output struct {
	to   *frameWriter
	kind frameKind
}

func (o output) Write(p []byte) (int, error) {
	if err := o.to.send(o.kind, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *sessions) run(r Request, ch *channel, out *frameWriter) error {
	if err := s.show(r.Dir); err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", r.Args...)
	cmd.Dir = r.Dir
	cmd.Env = append(guestEnv(s.kernel), r.Env...)
	// What a command leaves running may hold its output open: not for ever.
	cmd.WaitDelay = time.Second
	input, pty, err := s.connect(cmd, r, out)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start command: %w", err)
	}
	var copied sync.WaitGroup
	if pty != nil {
		pty.far.Close()
		copied.Go(func() { _, _ = io.Copy(output{out, frameStdout}, pty.near) })
	}
	ended := make(chan struct{})
	feed := newFeeder(input, pty == nil, out)
	go feed.run()
	go s.obey(ch, cmd.Process.Pid, feed, pty, ended)
	err = cmd.Wait()
	close(ended)
	if pty != nil {
		// What a background job holds the terminal for is not waited for.
		_ = pty.near.SetReadDeadline(time.Now().Add(time.Second))
		copied.Wait()
		pty.near.Close()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("wait for command: %w", err)
	}
	return out.send(frameExit, []byte{byte(exitStatus(cmd.ProcessState))})
}

// exitStatus is the status as a shell says it: 128 and the signal's number for
// a command that one ended.
func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// terminal is a pseudo-terminal: the command has the far end.
type terminal struct{ near, far *os.File }

// connect gives the command its streams: pipes, or a terminal.
func (s *sessions) connect(cmd *exec.Cmd, r Request, out *frameWriter) (io.WriteCloser, *terminal, error) {
	if !r.Terminal {
		cmd.Stdout, cmd.Stderr = output{out, frameStdout}, output{out, frameStderr}
		if r.Together {
			cmd.Stderr = cmd.Stdout
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		in, err := cmd.StdinPipe()
		return in, nil, err
	}
	near, far, err := sys.OpenTerminal()
	if err != nil {
		return nil, nil, err
	}
	_ = sys.SetTerminalSize(near, r.Rows, r.Columns)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = far, far, far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return near, &terminal{near, far}, nil
}

// obey does what the client says while the command runs: input, signals, the
// terminal's size. Input is written beside it, so that a command that reads
// none can still be interrupted.
func (s *sessions) obey(ch *channel, pid int, feed *feeder, pty *terminal, ended <-chan struct{}) {
	defer feed.close()
	for {
		kind, payload, err := readFrame(ch)
		switch {
		case err != nil:
			hangUp(pid, ended)
			return
		case kind == frameStdin:
			feed.add(payload)
		case kind == frameSignal && len(payload) == 1:
			signalGroup(pid, syscall.Signal(payload[0]), ended)
		case kind == frameSize && pty != nil:
			if rows, columns, ok := readSize(payload); ok {
				_ = sys.SetTerminalSize(pty.near, rows, columns)
			}
		}
	}
}

// signalGroup signals the command and what it started, while it runs: later
// its number may be another's.
func signalGroup(pid int, sig syscall.Signal, ended <-chan struct{}) {
	select {
	case <-ended:
	default:
		_ = syscall.Kill(-pid, sig)
	}
}

// hangUp ends a command whose client is gone.
func hangUp(pid int, ended <-chan struct{}) {
	signalGroup(pid, syscall.SIGHUP, ended)
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
		signalGroup(pid, syscall.SIGKILL, ended)
	}
}

// show makes a directory of the host writable, once.
func (s *sessions) show(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir == "" || dir == "/" || !s.homed || s.shown[dir] {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // below /run, which is our own
		return fmt.Errorf("show working directory: %w", err)
	}
	if err := sys.Mount("none", dir, "hostfs", dir); err != nil {
		return err
	}
	s.shown[dir] = true
	return nil
}
