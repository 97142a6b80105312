package measure

import (
	"context"
	"fmt"
	"sync"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
)

// feed is a client's session, sampled once for all of its ends.
type feed struct {
	at      ask.Host
	session string

	once    sync.Once
	started chan struct{} // closed when start is over
	failed  error         // of start

	mu      sync.Mutex
	samples []agentapi.Sample
	errors  []string
	ended   *agentapi.IPerf3EndReply
	over    bool
}

// start begins at once and does not wait: the tests of one round are to begin
// together.
func (f *feed) start(ctx context.Context) {
	f.once.Do(func() {
		go func() {
			defer close(f.started)
			_, f.failed = ask.Call(ctx, f.at, agentapi.StartIPerf3, agentapi.SessionRequest{Session: f.session})
		}()
	})
}

// since is the session's samples from an index on, a new one where there are
// none yet.
func (f *feed) since(ctx context.Context, index int) ([]agentapi.Sample, []string, error) {
	select {
	case <-f.started:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if f.failed != nil {
		return nil, nil, f.failed
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if index >= len(f.samples) {
		reply, err := ask.Call(ctx, f.at, agentapi.SampleIPerf3, agentapi.SampleRequest{Session: f.session, Since: len(f.samples)})
		if err != nil {
			return nil, nil, err
		}
		f.samples = append(f.samples, reply.Samples...)
		f.errors = append(f.errors, reply.Errors...)
	}
	return f.samples[min(max(index, 0), len(f.samples)):], f.errors, nil
}

// end asks the server for its results, once.
func (f *feed) end(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return nil
	}
	f.over = true
	reply, err := ask.Call(ctx, f.at, agentapi.EndIPerf3, agentapi.SessionRequest{Session: f.session})
	if err != nil {
		return fmt.Errorf("end test: %w", err)
	}
	f.ended = &reply
	return nil
}

// feedEnd is one end of a way of a client's session: the host's own, or the
// server's as the host knows it.
type feedEnd struct {
	ask.Host
	feed      *feed
	low, high int // its streams
	local     bool
	links     bool // the host's links are counted here
}

// Ask answers for the session what a session of the engine is asked; the host
// answers all else.
func (e *feedEnd) Ask(ctx context.Context, m agentapi.AnyMethod, request, reply any) (err error) {
	switch m {
	case agentapi.Start.Any():
		e.feed.start(ctx)
	case agentapi.ReadSamples.Any():
		*reply.(*agentapi.SampleReply), err = e.sample(ctx, request.(agentapi.SampleRequest))
	case agentapi.Finish.Any():
		err = e.feed.end(ctx)
	default:
		err = e.Host.Ask(ctx, m, request, reply)
	}
	return err
}

// sample counts the end's streams.
func (e *feedEnd) sample(ctx context.Context, req agentapi.SampleRequest) (agentapi.SampleReply, error) {
	samples, faults, err := e.feed.since(ctx, req.Since)
	if err != nil {
		return agentapi.SampleReply{}, err
	}
	reply := agentapi.SampleReply{Errors: faults}
	for _, s := range samples {
		if len(s.Bytes) < e.high {
			return reply, fmt.Errorf("sample: %d streams, want %d", len(s.Bytes), e.high)
		}
		reply.Samples = append(reply.Samples, e.part(s))
	}
	return reply, nil
}

func (e *feedEnd) part(s agentapi.Sample) agentapi.Sample {
	out := agentapi.Sample{At: s.At, Bytes: s.Bytes[e.low:e.high]}
	if !e.local {
		return out
	}
	out.CPU = s.CPU
	out.CPU.Threads, out.CPU.Switches, out.CPU.Pinned, out.CPU.Waited = nil, nil, nil, nil
	if n := len(s.CPU.Waited); n > e.low {
		out.CPU.Waited = s.CPU.Waited[e.low:min(e.high, n)]
	}
	if len(s.CPU.Threads) >= e.high {
		out.CPU.Threads = s.CPU.Threads[e.low:e.high]
	}
	if len(s.TCP) >= e.high {
		out.TCP = s.TCP[e.low:e.high]
	}
	if len(s.UDP) >= e.high {
		out.UDP = s.UDP[e.low:e.high]
	}
	if e.links {
		out.Links = s.Links
	}
	return out
}
