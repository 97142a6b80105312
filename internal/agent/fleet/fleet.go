// Package fleet is the hosts as a controller sees them: typed calls over a
// transport that carries them to an agent, in this process, in a namespace, over
// ssh or over NATS. Hosts are reached by the system's OpenSSH, so that the user's
// keys, agent, jump hosts and known hosts work and nothing listens.
//
// All transports behave alike: package conform is the suite that each passes.
// What a far shell is given is one constant (sshscript.go), what OpenSSH and sudo
// say is one table (sshwords.go). Don't put a word from outside into a shell.
//
// A run locks all its hosts or none (hold.go), so that two runs cannot wait for
// each other.
package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/plaintext"
)

// Transport carries calls to one agent.
type Transport interface {
	Call(ctx context.Context, m agentapi.AnyMethod, params json.RawMessage) (json.RawMessage, error)
	// Close ends the agent's traffic and frees the transport.
	Close() error
}

// Errors of Dial.
var (
	ErrUnreachable = errors.New("host is unreachable")
	ErrReach       = errors.New("bad reach")
)

// Config is how hosts are reached.
type Config struct {
	Version    string
	JournalDir string
	// LockDir is where local hosts' holds are; "" is apply.LockDir.
	LockDir string
	// Root is where the configuration files of local hosts are; "" is /.
	Root string
	// More are answered by local hosts besides the methods that every agent has.
	More []agent.Handler
	// Unguarded starts no dead man for changes to local hosts: for a process
	// that cannot be started again by its own name, such as a test.
	Unguarded bool
	// Fresh makes a connection of its own, not one shared with an earlier one
	// (OpenSSH's ControlMaster): it shows that the host can be reached now.
	Fresh bool
	// SSH is what the connections of a run by ssh share; nil is nothing. A fresh
	// one takes no part.
	SSH *SSH
	// Bus connects to NATS for hosts that are reached by it; nil reaches none.
	Bus    *link.Dialer
	Logger *slog.Logger // nil is silence
}

// Host is one reached host. It is safe for many goroutines.
type Host struct {
	Name  string
	Hello agentapi.HelloReply
	// Skew is how far the host's clock is ahead of ours, within the time that
	// Hello took; zero where it does not say.
	Skew time.Duration
	via  Transport
}

// Dial reaches a host the way its fabric entry says: "local:", "netns:NAME",
// "ssh://user@host" or "nats:NAME". Errors: ErrReach for anything else, ErrUnreachable.
func Dial(ctx context.Context, name, reach string, cfg Config) (*Host, error) {
	via, err := transport(ctx, name, reach, cfg)
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", name, err)
	}
	return Attach(ctx, name, via)
}

// Attach is the host at the other end of a transport. The transport is closed
// with it, and when it does not answer or speaks another protocol version.
func Attach(ctx context.Context, name string, via Transport) (*Host, error) {
	h := &Host{Name: name, via: via}
	begin := time.Now()
	err := roundTrip(ctx, via, agentapi.Hello.Any(), agentapi.HelloRequest{Version: agentapi.Version}, &h.Hello)
	if err == nil {
		err = agentapi.CheckVersion(h.Hello.Version)
	}
	if err != nil {
		via.Close()
		return nil, fmt.Errorf("reach %s: %w", name, err)
	}
	if took := time.Since(begin); !h.Hello.Time.IsZero() {
		h.Skew = h.Hello.Time.Sub(begin.Add(took / 2))
	}
	return h, nil
}

func transport(ctx context.Context, name, reach string, cfg Config) (Transport, error) {
	scheme, rest, _ := strings.Cut(reach, ":")
	switch {
	case reach == "":
		return nil, fmt.Errorf("%w: the fabric does not say how (hosts.%s.reach)", ErrUnreachable, name)
	case scheme == "local": // perhaps of a person who came by ssh
		return managed{newLocal(name, netns.Namespace{}, cfg), serverOf(os.Getenv("SSH_CONNECTION"))}, nil
	case scheme == "netns" && rest != "":
		ns := netns.Named(rest)
		if err := ns.Do(func() error { return nil }); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: no namespace %s", ErrUnreachable, rest)
		} else if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		return newLocal(name, ns, cfg), nil
	case scheme == "ssh":
		return newSSH(ctx, reach, cfg)
	case scheme == "nats":
		return newNATS(ctx, reach, cfg)
	}
	return nil, fmt.Errorf("%w %q: want local:, netns:NAME, ssh://user@host or nats:NAME", ErrReach, reach)
}

// Close ends the host's traffic and lets go of it.
func (h *Host) Close() error { return h.via.Close() }

// local answers in this process.
type local struct{ agent *agent.Agent }

func newLocal(name string, ns netns.Namespace, cfg Config) *local {
	guard := apply.StartGuard
	if cfg.Unguarded {
		guard = nil
	}
	return &local{agent.New(agent.Config{
		Name: name, Namespace: ns, Version: cfg.Version, Logger: cfg.Logger, JournalDir: cfg.JournalDir, LockDir: cfg.LockDir, Root: cfg.Root, StartGuard: guard, More: cfg.More,
	})}
}

func (l *local) Call(ctx context.Context, m agentapi.AnyMethod, params json.RawMessage) (json.RawMessage, error) {
	return l.agent.Dispatch(ctx, m.Name, params)
}

func (l *local) Close() error {
	l.agent.Close()
	return nil
}

// Ask makes one call, as ask.Host does; its errors name the host.
func (h *Host) Ask(ctx context.Context, m agentapi.AnyMethod, request, reply any) error {
	if err := roundTrip(ctx, h.via, m, request, reply); err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	return nil
}

func roundTrip(ctx context.Context, via Transport, m agentapi.AnyMethod, request, reply any) error {
	params, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	ctx, cancel := inTime(ctx, m, request)
	defer cancel()
	result, err := via.Call(ctx, m, params)
	if err != nil {
		return shortened(overdue(ctx, err))
	}
	if err := wire.CheckValues(result); err != nil {
		return fmt.Errorf("%w: its reply to %s: %w", ErrUnreachable, m.Name, err)
	}
	if err := json.Unmarshal(result, reply); err != nil {
		return fmt.Errorf("read reply to %s: %w", m.Name, err)
	}
	if _, text := reply.(*agentapi.ConfigFilesReply); !text { // whose lines are those of files
		plaintext.Fields(reply)
	}
	return nil
}

// mostSaid bounds the text of a host's error, which is printed as a line.
const mostSaid = 4 << 10

// shortened is err with no more text of the host's than a line may have.
func shortened(err error) error {
	far := (*agentapi.Error)(nil)
	if !errors.As(err, &far) || len(far.Text) <= mostSaid {
		return err
	}
	return &agentapi.Error{Code: far.Code, Text: strings.ToValidUTF8(far.Text[:mostSaid], "") + " ..."}
}

// Observe reads the host's network as it is, with the sysctls that are always
// read and those named.
func (h *Host) Observe(ctx context.Context, sysctls ...string) (agentapi.ObserveReply, error) {
	reply, err := ask.Call(ctx, h, agentapi.Observe, agentapi.ObserveRequest{Sysctls: sysctls})
	if via, ok := h.via.(managed); ok {
		reply.Host.ManagedAt = via.at
	}
	return reply, err
}

// managed is a transport by an ssh connection, and the host's own address of
// that connection; "" where it is not known.
type managed struct {
	Transport
	at string
}

// serverOf is the server's address of sshd's SSH_CONNECTION, which holds the
// client's address and port and the server's; "" of another text.
func serverOf(connection string) string {
	if words := strings.Fields(connection); len(words) == 4 {
		return words[2]
	}
	return ""
}
