package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// sshArguments is the command line for the system's OpenSSH: the user's
// configuration, keys, agent and jump hosts apply. The remote side runs the
// linerate on its own path. The host comes after "--", so that no name can be
// taken for an option.
func sshArguments(reach string, fresh bool) ([]string, error) {
	u, err := url.Parse(reach)
	if err != nil || u.Scheme != "ssh" || u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || (u.Path != "" && u.Path != "/") || u.RawQuery != "" {
		return nil, fmt.Errorf("%w %q: want ssh://user@host or ssh://user@host:port", ErrReach, reach)
	}
	args := []string{"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-T"}
	if fresh {
		args = append(args, "-o", "ControlMaster=no", "-o", "ControlPath=none")
	}
	if u.Port() != "" {
		args = append(args, "-p", u.Port())
	}
	if name := u.User.Username(); name != "" {
		args = append(args, "-l", name)
	}
	return append(args, "--", u.Hostname(), "linerate", "agent", "--stdio"), nil
}

// newSSH starts an agent on the far host by ssh. It needs linerate on that
// host's path, and root there for changes and raw ICMP.
func newSSH(_ context.Context, reach string, cfg Config) (Transport, error) {
	args, err := sshArguments(reach, cfg.Fresh)
	if err != nil {
		return nil, err
	}
	// Not bound to the context: an interrupted run still has to end its
	// sessions and roll back over this connection. Close ends it.
	cmd := exec.Command("ssh", args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start ssh: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start ssh: %w", err)
	}
	// A group of its own: a Ctrl-C at the terminal must reach us and not the
	// connection that the way back needs.
	cmd.SysProcAttr = ownGroup()
	words := &tail{}
	cmd.Stderr = words
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: start ssh: %w", ErrUnreachable, err)
	}
	p := &sshProcess{cmd: cmd, words: words, ended: make(chan struct{})}
	return newStream(out, in, p.end, p.lastWords), nil
}

// sshProcess is a running ssh. It is waited for once.
type sshProcess struct {
	cmd    *exec.Cmd
	words  *tail
	reaped sync.Once
	ended  chan struct{} // closed once err holds
	err    error
}

// wait begins to wait for ssh; the channel closes when it has ended and all
// that it printed has been copied.
func (p *sshProcess) wait() <-chan struct{} {
	p.reaped.Do(func() {
		go func() {
			defer close(p.ended)
			p.err = p.cmd.Wait()
		}()
	})
	return p.ended
}

// lastWords are what ssh said before its output ended: it may still be
// saying it then.
func (p *sshProcess) lastWords() string {
	select {
	case <-p.wait():
	case <-time.After(2 * time.Second):
	}
	return p.words.String()
}

// end waits for ssh, whose input is closed, and kills it where it stays.
func (p *sshProcess) end() error {
	timer := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	<-p.wait()
	if p.err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(p.err, &exit) {
			return nil // what it had to say, its calls have said
		}
		return fmt.Errorf("end ssh: %w", p.err)
	}
	return nil
}

// tail keeps the last words of ssh: "Permission denied", "command not found".
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.buf.Len() > 4096 {
		t.buf.Reset()
	}
	return t.buf.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(t.buf.String()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
