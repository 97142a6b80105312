// Package iperf3client is a client of any iperf3 server, without the iperf3
// program: it chooses the source port of each stream, moves bytes with large
// raw calls, one thread a stream, samples its own end while they flow, and
// fetches what the server counted. It judges nothing, and it must never wait
// for a server without end. Don't trust a word of the server's without bounds.
package iperf3client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// Config is where a client runs and what it samples besides its streams.
type Config struct {
	Namespace netns.Namespace
	Host      sampling.Host // the zero Host counts links and processors not
	Logger    *slog.Logger  // nil is silence
}

// Client holds one host's tests. It is safe for many goroutines.
type Client struct {
	cfg      Config
	sessions *socket.Table[*session]
}

// mostSessions bounds the tests of one host at a time.
const mostSessions = 256

// New returns a client with no test.
func New(cfg Config) *Client {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{cfg: cfg, sessions: socket.NewTable(mostSessions, func(_ string, s *session, _ bool) { s.close() })}
}

// Close ends every test. Afterwards none can be opened.
func (c *Client) Close() { c.sessions.Close() }

// Busy servers are asked again after these pauses, the last one repeated.
var busyPauses = [...]time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second}

// reopening is how long iperf3 may take from one test to the next: it closes
// its port in between.
const reopening = 700 * time.Millisecond

// Open connects to the server and prepares a test; a busy server is asked
// again until BusyFor is over. The test holds its ports until End, Close or
// its lifetime's end. Errors: ErrRequest, ErrBusy, ErrRefused, ErrSilent,
// ErrBlocked, ErrDenied, ErrProtocol, agentapi.ErrPortTaken.
func (c *Client) Open(ctx context.Context, req agentapi.IPerf3OpenRequest) (agentapi.IPerf3OpenReply, error) {
	var reply agentapi.IPerf3OpenReply
	if err := check(&req); err != nil {
		return reply, err
	}
	begun := time.Now()
	for try := 0; ; try++ {
		s, err := open(ctx, c.cfg, req)
		busy := errors.Is(err, ErrBusy) && time.Since(begun) < req.BusyFor
		reopens := (errors.Is(err, ErrRefused) || errors.Is(err, ErrEnded)) && time.Since(begun) < reopening
		if busy || reopens {
			c.cfg.Logger.Debug("ask again", "server", req.Server, "tries", try+1, "because", err)
			if err := sampling.Pause(ctx, busyPauses[min(try, len(busyPauses)-1)]); err != nil {
				return reply, err
			}
			continue
		}
		if err != nil {
			return reply, fmt.Errorf("iperf3 server %s: %w", req.Server, err)
		}
		if err := c.sessions.Add(req.Session, s, req.Lifetime); err != nil {
			s.close()
			return reply, err
		}
		if try > 0 {
			reply.Waited = time.Since(begun)
		}
		for _, st := range s.streams {
			reply.Streams = append(reply.Streams, st.conn.granted())
		}
		return reply, nil
	}
}

// Start connects the last stream and lets bytes flow.
func (c *Client) Start(ctx context.Context, req agentapi.SessionRequest) (agentapi.Empty, error) {
	s, err := c.sessions.Get(req.Session)
	if err == nil {
		err = s.start(ctx)
	}
	if err != nil {
		err = fmt.Errorf("start test: %w", err)
	}
	return agentapi.Empty{}, err
}

// Sample counts a test now and returns the samples since the one asked for:
// payload of every stream, as near to its receiver as this host can tell (of
// TCP what was acknowledged; of UDP what was sent).
func (c *Client) Sample(_ context.Context, req agentapi.SampleRequest) (agentapi.SampleReply, error) {
	s, err := c.sessions.Get(req.Session)
	if err != nil {
		return agentapi.SampleReply{}, err
	}
	if err := s.sample(); err != nil {
		return agentapi.SampleReply{}, err
	}
	return agentapi.SampleReply{Samples: s.samples.Since(req.Since), Errors: s.faults()}, nil
}

// End ends a test and returns what the server counted. A server that does not
// say is no error: Why tells. The test's ports are free when it returns.
func (c *Client) End(ctx context.Context, req agentapi.SessionRequest) (agentapi.IPerf3EndReply, error) {
	s, err := c.sessions.Remove(req.Session)
	if err != nil {
		return agentapi.IPerf3EndReply{}, err
	}
	defer s.close()
	return s.end(ctx), ctx.Err()
}
