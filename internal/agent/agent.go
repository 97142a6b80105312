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
	// HoldDir is where runs keep each other off the host; "" is the default.
	HoldDir string
	// Root is where the host's configuration files are; "" is /, of which a
	// network namespace has none of its own.
	Root string
	// StartGuard arms the dead man before a change; nil is none.
	StartGuard func(ctx context.Context, c apply.Config, id string) error
	// Silence ends Serve when its controller is not heard for so long; zero is
	// never.
	Silence time.Duration
	Now     func() time.Time // nil is time.Now
}

// Agent answers requests for one host. It is safe for many goroutines. Close
// ends its traffic.
type Agent struct {
	cfg      Config
	engine   *engine.Engine
	counters *counters
	held     held
	gates    gates
	iperf3   *iperf3client.Client
	tools    *externaltool.Runner
	handlers map[agentapi.Method]handler
}

type handler func(context.Context, json.RawMessage) (any, error)

// New returns an agent with nothing running.
func New(cfg Config) *Agent {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	a := &Agent{cfg: cfg, counters: &counters{ns: cfg.Namespace}}
	counted := sampling.Host{Links: a.counters.links, CPU: a.counters.processors}
	a.engine = engine.New(engine.Config{Namespace: cfg.Namespace, Host: counted, Place: a.place, Logger: cfg.Logger})
	a.iperf3 = iperf3client.New(iperf3client.Config{Namespace: cfg.Namespace, Host: counted, Logger: cfg.Logger})
	a.tools = externaltool.New(externaltool.Config{Namespace: cfg.Namespace, Host: counted, Sockets: a.toolSockets})
	a.handlers = map[agentapi.Method]handler{
		agentapi.MethodHello:     typed(a.hello),
		agentapi.MethodObserve:   typed(a.observe),
		agentapi.MethodCapture:   typed(a.capture),
		agentapi.MethodPing:      typed(a.ping),
		agentapi.MethodSink:      typed(a.engine.OpenSink),
		agentapi.MethodSource:    typed(a.engine.OpenSource),
		agentapi.MethodStart:     typed(a.engine.Start),
		agentapi.MethodSample:    typed(a.engine.Sample),
		agentapi.MethodFinish:    typed(a.engine.Finish),
		agentapi.MethodApply:     typed(a.apply),
		agentapi.MethodArmed:     typed(a.armed),
		agentapi.MethodBegin:     typed(a.begin),
		agentapi.MethodRollback:  typed(a.rollback),
		agentapi.MethodConfirm:   typed(a.confirm),
		agentapi.MethodLLDP:      typed(a.lldp),
		agentapi.MethodCalibrate: typed(a.calibrate),
		agentapi.MethodCoreRate:  typed(a.coreRate),
		agentapi.MethodSockets:   typed(a.sockets),
		agentapi.MethodRoutes:    typed(a.routes),
		agentapi.MethodTraffic:   typed(a.traffic),
		agentapi.MethodJournal:   typed(a.journal),
		agentapi.MethodHold:      typed(a.hold),
		agentapi.MethodRelease:   typed(a.release),

		agentapi.MethodConfigFiles: typed(a.configFiles),

		agentapi.MethodIPerf3Open:   typed(a.iperf3.Open),
		agentapi.MethodIPerf3Start:  typed(a.iperf3.Start),
		agentapi.MethodIPerf3Sample: typed(a.iperf3.Sample),
		agentapi.MethodIPerf3End:    typed(a.iperf3.End),
		agentapi.MethodToolStart:    typed(a.tools.Start),
		agentapi.MethodToolEnd:      typed(a.tools.End),
	}
	return a
}

// Close ends every session of the agent, and lets go of the host.
func (a *Agent) Close() {
	a.engine.Close()
	a.iperf3.Close()
	a.tools.Close()
	a.counters.close()
	a.held.release()
}

// typed decodes a request strictly and hands it to f: a field that this
// version does not know is refused rather than ignored.
func typed[Req, Rep any](f func(context.Context, Req) (Rep, error)) handler {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		var req Req
		if len(params) > 0 {
			d := json.NewDecoder(bytes.NewReader(params))
			d.DisallowUnknownFields()
			if err := d.Decode(&req); err != nil {
				return nil, fmt.Errorf("read request: %w", err)
			}
		}
		return f(ctx, req)
	}
}

// Dispatch answers one request. An error is always an *agentapi.Error.
func (a *Agent) Dispatch(ctx context.Context, method agentapi.Method, params json.RawMessage) (json.RawMessage, error) {
	h, ok := a.handlers[method]
	if !ok {
		return nil, agentapi.WireError(fmt.Errorf("method %q: %w", method, errors.ErrUnsupported))
	}
	reply, err := h(ctx, params)
	if err != nil {
		return nil, agentapi.WireError(err)
	}
	b, err := json.Marshal(reply)
	if err != nil {
		return nil, agentapi.WireError(fmt.Errorf("encode reply: %w", err))
	}
	return b, nil
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

func (a *Agent) ping(ctx context.Context, req agentapi.PingRequest) (agentapi.PingReply, error) {
	var reply agentapi.PingReply
	err := a.cfg.Namespace.Do(func() (err error) {
		reply, err = ping.Run(ctx, req)
		return err
	})
	return reply, err
}
