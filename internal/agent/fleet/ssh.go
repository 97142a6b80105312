package fleet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/kernel/process"
)

// Become is how an agent gets root where root may not log in.
type Become string

// The ways there are; "" runs the agent as whoever logs in.
const BecomeSudo Become = "sudo"

// sshReach is an ssh:// reach taken apart.
type sshReach struct {
	user, host, port string
	become           Become
}

// parseSSH reads ssh://[user@]host[:port][?become=sudo]; anything else is
// ErrReach.
func parseSSH(reach string) (sshReach, error) {
	bad := fmt.Errorf("%w %q: want ssh://user@host, ssh://user@host:port or ssh://user@host?become=sudo", ErrReach, reach)
	u, err := url.Parse(reach)
	if err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret {
			return sshReach{}, fmt.Errorf("%w: it has a password for %s: install a key (ssh-copy-id), and write ssh://user@host", ErrReach, plain(u.User.Username()))
		}
	}
	if err != nil || u.Scheme != "ssh" || u.Hostname() == "" || u.Fragment != "" || (u.Path != "" && u.Path != "/") {
		return sshReach{}, bad
	}
	r := sshReach{user: u.User.Username(), host: u.Hostname(), port: u.Port()}
	if !plainWord(r.user, userSigns) {
		return sshReach{}, fmt.Errorf("%w %q: a shell may read its user: want letters, digits and %s; a domain's user is user@domain, and any other may be User in ~/.ssh/config", ErrReach, reach, userSigns)
	}
	if !plainWord(r.host, hostSigns) {
		return sshReach{}, fmt.Errorf("%w %q: a shell may read its host: want letters, digits and %s; any other may be HostName in ~/.ssh/config", ErrReach, reach, hostSigns)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return sshReach{}, bad
	}
	for key, values := range query {
		if key != "become" || len(values) != 1 || Become(values[0]) != BecomeSudo {
			return sshReach{}, bad
		}
		r.become = BecomeSudo
	}
	return r, nil
}

// What a user and a host may have besides letters and digits: a ProxyCommand of the
// user's is a shell's, and OpenSSH before 9.6 writes them into it as they are
// (CVE-2023-51385). A host may be an IPv6 address with a zone.
const (
	userSigns = "._-+@"
	hostSigns = "._-:%"
)

// plainWord reports a word of letters, digits and those signs that is no option.
func plainWord(s, signs string) bool {
	return !strings.HasPrefix(s, "-") && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(signs, r)
	})
}

// arguments name the host for the system's OpenSSH. The host comes after "--",
// so that no name can be taken for an option.
func (r sshReach) arguments() []string {
	var args []string
	if r.port != "" {
		args = append(args, "-p", r.port)
	}
	if r.user != "" {
		args = append(args, "-l", r.user)
	}
	return append(args, "--", r.host)
}

// bounded ends ssh when its host is gone, instead of waiting for it.
// A command or forwards that the user's configuration has for people are not
// wanted.
var bounded = []string{
	"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes", "-T",
}

// answerWithin is how long the far shell may take for each thing it says.
const answerWithin = 30 * time.Second

// newSSH starts an agent on the far host by the system's OpenSSH: the user's
// configuration, keys, agent and jump hosts apply. It runs the linerate that is
// installed there, or one that it brings along and that goes again with the
// connection.
func newSSH(ctx context.Context, reach string, cfg Config) (Transport, error) {
	to, err := parseSSH(reach)
	if err != nil {
		return nil, err
	}
	args := append([]string{}, bounded...)
	switch {
	case cfg.Fresh:
		args = append(args, "-o", "ControlMaster=no", "-o", "ControlPath=none")
	case cfg.SSH != nil:
		args = append(args, cfg.SSH.control(ctx, to)...)
	}
	become := "-"
	if to.become != "" {
		become = string(to.become)
	}
	args = append(append(args, to.arguments()...), "exec sh -c '"+farScript+"' linerate "+become)
	p, s, err := agentBy(ctx, args, to, cfg.SSH, func(p *sshProcess) error { return p.settle(to, cfg) })
	if err != nil {
		return nil, err
	}
	var via Transport = s
	if p.copied != "" && !cfg.Fresh {
		via = copier{s, cfg.SSH.hold(args, to, p.copied)}
	}
	return managed{via, p.managedAt}, nil
}

// agentBy starts ssh and comes to an agent at its other end by settle.
func agentBy(ctx context.Context, args []string, to sshReach, shared *SSH, settle func(*sshProcess) error) (*sshProcess, *stream, error) {
	p, err := startSSH(args, shared.limits())
	if err != nil {
		return nil, nil, err
	}
	ended := context.AfterFunc(ctx, p.kill)
	err = settle(p)
	ended()
	if err != nil {
		p.kill()
		_ = process.Leave(p.wait()) // why there is no agent says more
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, nil, err
	}
	s := newStream(p.out, p.in, p.end, func() error { return to.refused(p.lastWords()) })
	go s.beat(shared.limits().answer)
	return p, s, nil
}

// sshProcess is a running ssh. It is waited for once.
type sshProcess struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	pipes  [2]io.Closer // of in and out
	left   sshLimits    // of what there was at first
	words  *tail
	reaped sync.Once
	ended  chan struct{} // closed once err holds
	err    error
	// managedAt is the far host's own address of this connection; "" not said.
	managedAt string
	// copied is the sum of the program that was copied over it; "" none was.
	copied string
}

func startSSH(args []string, most sshLimits) (*sshProcess, error) {
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
	return &sshProcess{cmd: cmd, in: in, out: bufio.NewReader(out), pipes: [2]io.Closer{in, out}, left: most, words: words, ended: make(chan struct{})}, nil
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

// kill ends ssh, and whoever waits at its pipes: what it started may still hold
// their other ends.
func (p *sshProcess) kill() {
	_ = p.cmd.Process.Kill()
	for _, pipe := range p.pipes {
		_ = pipe.Close() // it may be closed
	}
}

// lastWords are what ssh, or the far side, said before its output ended: it
// may still be saying it then.
func (p *sshProcess) lastWords() string {
	select {
	case <-p.wait():
	case <-time.After(2 * time.Second):
	}
	return p.words.String()
}

// endWithin is how long ssh may take to end by itself.
const endWithin = 5 * time.Second

// end waits for ssh, whose input is closed, and kills it where it stays.
func (p *sshProcess) end() error {
	timer := time.NewTimer(endWithin)
	defer timer.Stop()
	select {
	case <-p.wait():
	case <-timer.C:
		p.kill()
		if err := process.Leave(p.wait()); err != nil {
			return fmt.Errorf("end ssh (process %d): %w", p.cmd.Process.Pid, err)
		}
	}
	if exit := (*exec.ExitError)(nil); p.err == nil || errors.As(p.err, &exit) || errors.Is(p.err, exec.ErrWaitDelay) {
		return nil // what it had to say, its calls have said
	}
	return fmt.Errorf("end ssh: %w", p.err)
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
	return strings.TrimSpace(t.buf.String())
}
