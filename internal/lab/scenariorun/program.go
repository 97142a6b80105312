package scenariorun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// programs are the tools' names on disk, the Debian package that has each, and
// what prints its version.
func programs() map[scenario.Tool][3]string {
	return map[scenario.Tool][3]string{
		scenario.IPerf3: {"iperf3", "iperf3", "--version"},
		scenario.IPerf2: {"iperf", "iperf", "--version"},
		scenario.Ping:   {"ping", "iputils-ping", "-V"},
		scenario.NFS:    {"mount.nfs", "nfs-common", "-V"},
	}
}

// MissingError is a program that a scenario needs and that is not installed.
type MissingError struct{ Program, Package string }

func (e *MissingError) Error() string { return fmt.Sprintf("find %s: not installed", e.Program) }

// installed is nil when the tool can be run.
func installed(tool scenario.Tool) error {
	p, external := programs()[tool]
	if !external {
		return nil
	}
	if _, err := exec.LookPath(p[0]); err != nil {
		return &MissingError{p[0], p[1]}
	}
	if tool != scenario.NFS {
		return nil
	}
	for _, name := range []string{"rpc.nfsd", "rpc.mountd", "exportfs"} {
		if _, err := exec.LookPath(name); err != nil {
			return &MissingError{name, "nfs-kernel-server"}
		}
	}
	return nil
}

// version is the first line of what the tool says of itself.
func version(ctx context.Context, tool scenario.Tool) (string, error) {
	p := programs()[tool]
	out, err := exec.CommandContext(ctx, p[0], p[2]).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line == "" && err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", p[0], err)
	}
	return line, nil // iperf ends its version with status 1
}

// errEnded is a program that ended well before it did what it was started for.
var errEnded = errors.New("it ended")

// program is one that runs in a lab host.
type program struct {
	name           string
	command        *exec.Cmd
	stdout, stderr output
	exited         chan error
}

// output keeps what a program says while others may look.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) Bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.text.Bytes())
}

func (o *output) String() string { return string(o.Bytes()) }

// start runs a program in a lab host until it ends, end is called, or ctx is
// over.
func start(ctx context.Context, host, name string, args ...string) (*program, error) {
	p := &program{name: name, command: exec.CommandContext(ctx, name, args...), exited: make(chan error, 1)}
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	p.command.Env = append(p.command.Environ(), "LC_ALL=C")
	// A program is in the namespace of the thread that starts it.
	if err := netns.Named(lab.Namespace(host)).Do(p.command.Start); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.exited <- p.command.Wait()
		close(p.exited)
	}()
	return p, nil
}

// wait waits until the program has ended well; else the error is what it said.
func (p *program) wait(ctx context.Context) error {
	err := <-p.exited
	if ctx.Err() != nil {
		return fmt.Errorf("run %s: %w", p.name, ctx.Err())
	}
	if err == nil {
		return nil
	}
	return p.failed(err)
}

func (p *program) failed(err error) error {
	said := strings.TrimSpace(p.stderr.String())
	if said == "" { // iperf3 -J tells its errors in the document
		said = strings.TrimSpace(p.stdout.String())
	}
	const most = 300
	if len(said) > most {
		said = said[len(said)-most:]
	}
	return fmt.Errorf("run %s: %w: %s", p.name, err, strings.Join(strings.Fields(said), " "))
}

// says waits until the program has said the words.
func (p *program) says(ctx context.Context, words string) error {
	for !strings.Contains(p.stdout.String(), words) {
		select {
		case err := <-p.exited:
			if err == nil {
				err = errEnded
			}
			return p.failed(err)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", p.name, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// end ends the program if it still runs, and waits for it.
func (p *program) end() {
	_ = p.command.Process.Kill() // it has ended by itself
	<-p.exited
}
