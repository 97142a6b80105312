// Package externaltool runs another traffic tool that the host has installed,
// from typed values alone, for a bounded time, and reads what it reports. It
// must never run a command line, or an argument, that came as text from
// elsewhere. Don't leave a program behind.
package externaltool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/process"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/internal/traffic/socket"
	"github.com/linerate/linerate/unit"
)

// Errors of a tool.
var (
	// ErrRequest is a request that asks for nothing sensible.
	ErrRequest = errors.New("bad request for a tool")
	// ErrMissing is a tool that is not installed.
	ErrMissing = fmt.Errorf("not installed: %w", fs.ErrNotExist)
)

// Config is where tools run and what is sampled meanwhile.
type Config struct {
	Namespace netns.Namespace
	Host      sampling.Host // the zero Host counts links and processors not
	// Sockets lists the namespace's TCP connections that have the port at their own
	// end (a server's) or at the far one (a client's); nil is none.
	Sockets func(port uint16, far bool) ([]agentapi.ToolSocket, error)
}

// Runner holds one host's running tools. It is safe for many goroutines.
type Runner struct {
	cfg  Config
	runs *socket.Table[*run] // nil inside while one is being started

	finding sync.Mutex
	path    string // "" until it was found
	version string
}

// mostRuns bounds the tools that run at a time.
const mostRuns = 512

// New returns a runner with nothing running.
func New(cfg Config) *Runner {
	return &Runner{cfg: cfg, runs: socket.NewTable(mostRuns, func(_ string, one *run, _ bool) {
		if one != nil {
			one.kill()
		}
	})}
}

// Close kills every tool. Afterwards none can be started.
func (r *Runner) Close() { r.runs.Close() }

// run is one program.
type run struct {
	role    agentapi.ToolRole
	command *exec.Cmd
	out     output
	errors  output
	exited  chan struct{} // closed once it has been waited for
	sampled *sampler
}

// settleTime is how long a program is watched that may fail at once, as one
// does whose port is taken.
const settleTime = 300 * time.Millisecond

// pipeTime is how long what a program wrote is read after its end: somebody that it
// started, and that left its group, may keep the pipe open.
const pipeTime = time.Second

// Start runs a tool. It is killed when its lifetime is over. Errors:
// ErrRequest, ErrMissing, agentapi.ErrPortTaken, or what the program said when
// it ended at once.
func (r *Runner) Start(ctx context.Context, req agentapi.ToolRequest) (agentapi.ToolReply, error) {
	if err := check(req); err != nil {
		return agentapi.ToolReply{}, err
	}
	path, version, err := r.find(ctx)
	if err != nil {
		return agentapi.ToolReply{}, err
	}
	one := &run{role: req.Role, exited: make(chan struct{}), sampled: newSampler(r.cfg, req)}
	one.command = exec.Command(path, arguments(req)...)
	one.command.Stdout, one.command.Stderr = &one.out, &one.errors
	one.command.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	one.command.WaitDelay = pipeTime
	ownGroup(one.command)
	if err := r.runs.Add(req.Session, nil, req.Lifetime); err != nil {
		return agentapi.ToolReply{}, err
	}
	// A program is in the namespace of the thread that starts it.
	if err := r.cfg.Namespace.Do(one.command.Start); err != nil {
		_, _ = r.runs.Remove(req.Session)
		return agentapi.ToolReply{}, fmt.Errorf("start iperf: %w", err)
	}
	if !req.Unsampled {
		one.sampled.start(one.command.Process.Pid)
	}
	go func() {
		_ = one.command.Wait() // what it reports tells how it went
		close(one.exited)
	}()
	if err = r.runs.Set(req.Session, one); err == nil {
		err = one.settled(ctx)
	}
	if err != nil {
		_, _ = r.runs.Remove(req.Session)
		one.kill()
		return agentapi.ToolReply{}, err
	}
	return agentapi.ToolReply{Version: version}, nil
}

// settled is an error where the program ends at once.
func (o *run) settled(ctx context.Context) error {
	if o.role == agentapi.ToolClient {
		return nil // it says at its end how it went
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settleTime):
		if !strings.Contains(o.errors.String(), "bind failed") {
			return nil
		}
	case <-o.exited:
	}
	said := o.said()
	if strings.Contains(said, "in use") {
		return fmt.Errorf("%w: iperf says: %s", agentapi.ErrPortTaken, said)
	}
	return fmt.Errorf("iperf ended at once: %s", said)
}

// said is the program's complaint in one line.
func (o *run) said() string {
	words := strings.Join(strings.Fields(o.errors.String()), " ")
	if len(words) > 200 {
		words = words[:200]
	}
	if words == "" {
		return "it gave no reason"
	}
	return words
}

// End waits for a client, stops a server, and returns what the tool reported.
func (r *Runner) End(ctx context.Context, req agentapi.SessionRequest) (agentapi.ToolEndReply, error) {
	one, err := r.runs.Get(req.Session)
	if err == nil && one == nil { // it is being started, and is ended then
		err = fmt.Errorf("session %q: %w", req.Session, socket.ErrSession)
	}
	if err != nil {
		return agentapi.ToolEndReply{}, err
	}
	defer func() {
		_, _ = r.runs.Remove(req.Session)
		one.kill()
	}()
	if one.role == agentapi.ToolServer {
		_ = one.command.Process.Signal(os.Interrupt) // so that it writes what it holds
	}
	limit := time.After(stopTime)
	if one.role == agentapi.ToolClient {
		limit = nil // its lifetime is the limit
	}
	select {
	case <-ctx.Done():
		return agentapi.ToolEndReply{}, ctx.Err()
	case <-one.exited:
	case <-limit:
		one.kill()
	}
	reply := agentapi.ToolEndReply{Samples: one.sampled.stop()}
	streams, err := resultfile.ParseIPerf2(one.out.Bytes())
	if errors.Is(err, resultfile.ErrNothing) {
		return reply, fmt.Errorf("iperf reported nothing: %s", one.said())
	}
	if err != nil {
		return reply, fmt.Errorf("read iperf's report: %w", err)
	}
	reply.Streams = reported(streams)
	return reply, nil
}

// stopTime is how long a server may take to end when it is asked to.
const stopTime = 2 * time.Second

func reported(streams []resultfile.Stream) []agentapi.ToolStream {
	out := make([]agentapi.ToolStream, len(streams))
	span := func(s resultfile.Span) agentapi.ToolRow {
		return agentapi.ToolRow{From: s.From, Until: s.Until, Length: s.Length, Bytes: unit.Bytes(s.Bytes)}
	}
	for i, s := range streams {
		out[i] = agentapi.ToolStream{Client: s.Client, Server: s.Server, Total: span(s.Total)}
		for _, row := range s.Rows {
			out[i].Rows = append(out[i].Rows, span(row))
		}
		if s.UDP != nil {
			out[i].Packets, out[i].Lost, out[i].Late = s.UDP.Sent, s.UDP.Lost, s.UDP.Reordered
			out[i].Jitter = time.Duration(s.UDP.JitterMS * float64(time.Millisecond))
		}
	}
	return out
}

// kill ends the program and frees what it held.
func (o *run) kill() {
	if o.command.Process != nil {
		select {
		case <-o.exited: // its number may be somebody else's by now
		default:
			killGroup(o.command.Process)
			_ = process.Leave(o.exited) // one that stays does nothing more, whenever the kernel lets it go
		}
	}
	o.sampled.stop()
}

// find is the installed iperf and the version that it prints, asked for once.
func (r *Runner) find(ctx context.Context) (path, version string, err error) {
	r.finding.Lock()
	defer r.finding.Unlock()
	if r.path == "" {
		r.path, r.version, err = find(ctx)
	}
	return r.path, r.version, err
}

// find is the installed iperf and the version that it prints.
func find(ctx context.Context) (path, version string, err error) {
	if path, err = exec.LookPath("iperf"); err != nil {
		return "", "", fmt.Errorf("iperf (version 2) is %w", ErrMissing)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var said output
	asked := exec.CommandContext(ctx, path, "-v")
	asked.Stdout, asked.Stderr, asked.WaitDelay = &said, &said, time.Second
	_, _ = process.Await(ctx, func() (struct{}, error) { return struct{}{}, asked.Run() }) // it ends with 1
	line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	if !strings.HasPrefix(line, "iperf version 2") {
		return "", "", fmt.Errorf("%s is no iperf 2, it says %.80q: %w", path, line, ErrMissing)
	}
	return path, line, nil
}

// output keeps what a program writes, up to a bound.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const mostOutput = 64 << 20

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len()+len(p) <= mostOutput {
		o.buf.Write(p)
	}
	return len(p), nil
}

func (o *output) Bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.buf.Bytes())
}

func (o *output) String() string { return string(o.Bytes()) }
