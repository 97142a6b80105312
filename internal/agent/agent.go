// Package agent is one host as a service: it answers the requests of
// agentapi with what the layers below can do. It keeps no policy of its own.
package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/host/calibrate"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/engine"
	"github.com/linerate/linerate/internal/traffic/externaltool"
	"github.com/linerate/linerate/internal/traffic/iperf3client"
	"github.com/linerate/linerate/internal/traffic/ping"
	"github.com/linerate/linerate/internal/traffic/sampling"
)

// Config says which host to be.
type Config struct {
	// Name is what this host is called in the fabric; "" is its hostname.
	Name      string
	Namespace netns.Namespace
	Version   string       // of the program
	Logger    *slog.Logger // nil is silence
	// JournalDir is where changes are journalled; "" is the default.
	JournalDir string
	// LockDir is where runs keep each other off the host; "" is the default.
	LockDir string
	// Root is where the host's configuration files are; "" is /, of which a
	// network namespace has none of its own.
	Root string
	// StartGuard arms the dead man before a change; nil is none.
	StartGuard func(ctx context.Context, c apply.Config, id string) error
	// Silence ends Serve when its controller is not heard for so long; zero is
	// never.
	Silence time.Duration
	// More are answered besides the methods that every agent has.
	More []Handler
	Now  func() time.Time // nil is time.Now
}

// Agent answers requests for one host. It is safe for many goroutines. Close
// ends its traffic.
type Agent struct {
	cfg      Config
	engine   *engine.Engine
	counters *counters
	hostLock hostLock
	gates    gates
	iperf3   *iperf3client.Client
	tools    *externaltool.Runner
	handlers map[agentapi.MethodName]Handler
}

// Handler is a method and what carries it out.
type Handler struct {
	agentapi.AnyMethod
	do func(context.Context, json.RawMessage) (any, error)
}

// New returns an agent with nothing running.
func New(cfg Config) *Agent {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	a := &Agent{cfg: cfg, counters: &counters{ns: cfg.Namespace}, handlers: make(map[agentapi.MethodName]Handler)}
	counted := sampling.Host{Links: a.counters.links, CPU: a.counters.processors}
	a.engine = engine.New(engine.Config{Namespace: cfg.Namespace, Host: counted, Place: a.place, Logger: cfg.Logger})
	a.iperf3 = iperf3client.New(iperf3client.Config{Namespace: cfg.Namespace, Host: counted, Logger: cfg.Logger})
	a.tools = externaltool.New(externaltool.Config{Namespace: cfg.Namespace, Host: counted, Sockets: a.toolSockets})
	for _, h := range append([]Handler{
		Handle(agentapi.Hello, a.hello),
		Handle(agentapi.Observe, a.observe),
		Handle(agentapi.Capture, a.capture),
		Handle(agentapi.Ping, within(cfg.Namespace, ping.Run)),
		Handle(agentapi.OpenSink, a.engine.OpenSink),
		Handle(agentapi.OpenSource, a.engine.OpenSource),
		Handle(agentapi.Start, a.engine.Start),
		Handle(agentapi.ReadSamples, a.engine.Sample),
		Handle(agentapi.Finish, a.engine.Finish),
		Handle(agentapi.Apply, a.apply),
		Handle(agentapi.Armed, a.armed),
		Handle(agentapi.Begin, a.begin),
		Handle(agentapi.Rollback, a.rollback),
		Handle(agentapi.Confirm, a.confirm),
		Handle(agentapi.LLDP, a.lldp),
		Handle(agentapi.Calibrate, within(cfg.Namespace, calibrate.Run)),
		Handle(agentapi.CoreRate, a.coreRate),
		Handle(agentapi.Sockets, a.sockets),
		Handle(agentapi.Routes, a.routes),
		Handle(agentapi.Traffic, a.traffic),
		Handle(agentapi.Journal, a.journal),
		Handle(agentapi.Lock, a.lock),
		Handle(agentapi.Release, a.release),
		Handle(agentapi.ConfigFiles, a.configFiles),
		Handle(agentapi.OpenIPerf3, a.iperf3.Open),
		Handle(agentapi.StartIPerf3, a.iperf3.Start),
		Handle(agentapi.SampleIPerf3, a.iperf3.Sample),
		Handle(agentapi.EndIPerf3, a.iperf3.End),
		Handle(agentapi.StartTool, a.tools.Start),
		Handle(agentapi.EndTool, a.tools.End),
	}, cfg.More...) {
		a.handlers[h.Name] = h
	}
	return a
}

// Close ends every session of the agent, and lets go of the host.
func (a *Agent) Close() {
	a.engine.Close()
	a.iperf3.Close()
	a.tools.Close()
	a.counters.close()
	a.hostLock.release()
}

// Handle has f carry out a method. A request is decoded strictly: a field that
// this version does not know is refused rather than ignored, as are values
// outside the request's own bounds.
func Handle[Req, Rep any](m agentapi.Method[Req, Rep], f func(context.Context, Req) (Rep, error)) Handler {
	return Handler{m.Any(), func(ctx context.Context, params json.RawMessage) (any, error) {
		var req Req
		if len(params) > 0 {
			d := json.NewDecoder(bytes.NewReader(params))
			d.DisallowUnknownFields()
			if err := d.Decode(&req); err != nil {
				return nil, fmt.Errorf("read request: %w", err)
			}
		}
		if err := agentapi.Check(req); err != nil {
			return nil, err
		}
		return f(ctx, req)
	}}
}

// Method is the method of a name; the zero AnyMethod where the agent does not
// know it.
func (a *Agent) Method(name agentapi.MethodName) agentapi.AnyMethod {
	return a.handlers[name].AnyMethod
}

// Dispatch answers one request. An error is always an *agentapi.Error.
func (a *Agent) Dispatch(ctx context.Context, method agentapi.MethodName, params json.RawMessage) (json.RawMessage, error) {
	h, ok := a.handlers[method]
	if !ok {
		return nil, agentapi.WireError(fmt.Errorf("method %q: %w", method, errors.ErrUnsupported))
	}
	reply, err := h.do(ctx, params)
	if err != nil {
		return nil, agentapi.WireError(err)
	}
	b, err := json.Marshal(reply)
	if err != nil {
		return nil, agentapi.WireError(fmt.Errorf("encode reply: %w", err))
	}
	return b, nil
}

// Ask has the agent of this process answer, as ask.Host does.
func (a *Agent) Ask(ctx context.Context, m agentapi.AnyMethod, request, reply any) error {
	params, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	result, err := a.Dispatch(ctx, m.Name, params)
	if err != nil {
		return err
	}
	return json.Unmarshal(result, reply)
}

func (a *Agent) name() string {
	if a.cfg.Name != "" {
		return a.cfg.Name
	}
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

func (a *Agent) hello(_ context.Context, req agentapi.HelloRequest) (agentapi.HelloReply, error) {
	if err := agentapi.CheckVersion(req.Version); err != nil {
		return agentapi.HelloReply{}, err
	}
	return agentapi.HelloReply{
		Version: agentapi.Version, Linerate: a.cfg.Version, Hostname: a.name(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel: kernelRelease(), Engine: engine.Kind, Machine: machineID(), Capabilities: a.capabilities(), Methods: a.methods(), Time: a.cfg.Now().UTC(),
	}, nil
}

// methods are what this agent knows, in order: a controller that is newer sees by
// them what it can ask.
func (a *Agent) methods() []string {
	out := make([]string, 0, len(a.handlers))
	for m := range a.handlers {
		out = append(out, string(m))
	}
	slices.Sort(out)
	return out
}

// kernelRelease is uname's release; "" where there is no such file.
func kernelRelease() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// machineID tells machines apart while they run; "" where it cannot.
func machineID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (a *Agent) observe(ctx context.Context, req agentapi.ObserveRequest) (agentapi.ObserveReply, error) {
	var reply agentapi.ObserveReply
	err := a.cfg.Namespace.DoWithSysfs(func() (err error) {
		reply.InNamespace = a.cfg.Namespace.Name != "" || netns.Inside()
		reply.Host, err = observe.Observe(ctx, observe.Config{Logger: a.cfg.Logger, Sysctls: req.Sysctls})
		return err
	})
	reply.Host.Name = a.name()
	return reply, err
}

// within is f on a thread in a namespace.
func within[Req, Rep any](ns netns.Namespace, f func(context.Context, Req) (Rep, error)) func(context.Context, Req) (Rep, error) {
	return func(ctx context.Context, r Req) (reply Rep, err error) {
		err = ns.Do(func() (err error) {
			reply, err = f(ctx, r)
			return err
		})
		return reply, err
	}
}
