package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// How a tool's trial is cut: what comes before the window at the least, and
// the rows that it is counted by.
const (
	toolWarmUp   = 2 * time.Second
	toolInterval = 500 * time.Millisecond
	// toolMargin is what a tool runs beyond its window, so that the rows at its
	// end can be left out.
	toolMargin = 2 * toolInterval
	// toolBeside is what starting and ending the programs takes.
	toolBeside = time.Second
	// toolPort is where iperf2 listens unless told otherwise; where that is
	// taken others above it are tried.
	toolPort  = 5001
	toolTries = 8
)

// pairing is a tool's client on one lane of a way, and the server that it sends
// to.
type pairing struct {
	trial   *trial
	way     way
	lane    flow.Lane
	streams int
	sender  ask.Host
	session string
	sends   bool
	// first of a way: the host is sampled beside it, and beside no other.
	first  bool
	server *toolServer
	client agentapi.ToolEndReply
	// received are the streams that its server saw.
	received []agentapi.ToolStream
}

// toolRounds is how often trials are tried whose streams share no time: on a busy
// machine one may connect when the others are done.
const toolRounds = 3

// runTools carries out trials at the same time with a tool that the hosts have
// installed, and returns their results and the deepest dip of their sum. What
// counts is the receiving programs' rows in the time that all streams ran in.
// Every program has ended when it returns.
func runTools(ctx context.Context, cfg Config, specs []Spec) ([]record.Trial, float64, error) {
	for again := 0; ; again++ {
		results, dip, err := toolRound(ctx, cfg, specs)
		if !errors.Is(err, errNoCommonTime) || again+1 == toolRounds || ctx.Err() != nil {
			for i := range results {
				if again > 0 {
					results[i].Notes = append(results[i].Notes, fmt.Sprintf("measured again %s: the streams shared no time before", unit.Counted(again, "time")))
				}
			}
			return results, dip, err
		}
	}
}

func toolRound(ctx context.Context, cfg Config, specs []Spec) ([]record.Trial, float64, error) {
	r := newRound(cfg, specs)
	r.report("connecting", 0)
	var all []*pairing
	var servers []*toolServer
	defer func() { abandon(all, servers) }()
	for _, spec := range specs {
		spec.Ports = "kernel"
		t := &trial{cfg: cfg, spec: spec, streams: make(map[flow.Direction][]agentapi.Stream), started: r.started}
		r.trials = append(r.trials, t)
		pairs, err := t.pairings()
		if err != nil {
			return nil, 0, err
		}
		all = append(all, pairs...)
		servers = append(servers, t.servers(pairs)...)
	}
	for i, s := range servers {
		if err := s.listen(ctx, i); err != nil {
			return nil, 0, err
		}
	}
	if err := each(all, func(p *pairing) error { return p.send(ctx) }); err != nil {
		return nil, 0, err
	}
	stop := r.reporting()
	err := each(all, func(p *pairing) error { return p.collect(ctx) })
	if err == nil {
		err = each(servers, func(s *toolServer) error { return s.end(ctx) })
	}
	if err == nil {
		err = each(all, (*pairing).take)
	}
	stop()
	if err != nil {
		return nil, 0, err
	}
	return r.toolResults(all)
}

// reporting says that the programs still run, until it is stopped: what they
// carry is known at their end.
func (r *round) reporting() (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(over)
		tick := time.NewTicker(toolInterval)
		defer tick.Stop()
		for {
			stage := "warming up"
			if time.Since(began) >= toolWarmUp {
				stage = "measuring"
			}
			r.report(stage, 0)
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(done); <-over }
}

// each runs f for all at the same time. Its error is the first, and how many more
// there were.
func each[T any](all []T, f func(T) error) error {
	errs := make(chan error, len(all))
	for _, p := range all {
		go func() { errs <- f(p) }()
	}
	var first error
	failed := 0
	for range all {
		if err := <-errs; err != nil {
			first = cmp.Or(first, err)
			failed++
		}
	}
	if failed > 1 {
		return fmt.Errorf("%w (and %d more)", first, failed-1)
	}
	return first
}

// pairings are a trial's clients, one for each lane of each way.
func (t *trial) pairings() ([]*pairing, error) {
	if p := t.spec.protocol(); p != protocolTCP && p != protocolUDP {
		return nil, fmt.Errorf("measure %s with %s: %w", p, t.spec.Tool, errors.ErrUnsupported)
	}
	all, err := ways(t.cfg.Network, t.spec)
	if err != nil {
		return nil, err
	}
	id, _ := ask.NewSession()
	var out []*pairing
	for _, w := range all {
		sender := t.cfg.Network.Endpoints[w.from]
		if sender == nil || t.cfg.Network.Endpoints[w.to] == nil {
			return nil, fmt.Errorf("run %s between %s and %s: %w", t.spec.Tool, w.from, w.to, errors.ErrUnsupported)
		}
		for k, lane := range w.lanes {
			n := 0
			for i := k; i < w.streams; i += len(w.lanes) {
				n++
			}
			if n == 0 {
				continue
			}
			out = append(out, &pairing{
				trial: t, way: w, lane: lane, streams: n, sender: sender, first: k == 0, session: fmt.Sprintf("%s-%s-%d-out", id, w.name, k),
			})
		}
	}
	return out, nil
}

// toolLength is how long a tool is told to run.
func (s Spec) toolLength() time.Duration { return toolWarmUp + s.longest() + toolMargin }

// ToolTakes is how long a trial takes with a tool: no rule ends it earlier.
func (s Spec) ToolTakes() time.Duration { return s.toolLength() + toolBeside }

// request is what a trial's programs have in common.
func (t *trial) request(session string, role agentapi.ToolRole, streams int) agentapi.ToolRequest {
	spec := t.spec
	length := spec.toolLength()
	req := agentapi.ToolRequest{
		Session: session, Tool: agentapi.ToolIPerf2, Role: role, Streams: streams, UDP: spec.protocol() == protocolUDP,
		Length: length, Window: max(spec.Socket.SndBuf, spec.Socket.RcvBuf), Block: int(spec.Block),
		MSS: spec.Socket.MSS, NoDelay: spec.Socket.NoDelay, Congestion: spec.Socket.Congestion, Lifetime: length + slack,
	}
	if spec.Datagrams != nil {
		req.Block = spec.Datagrams.Payload
	}
	return req
}

// send starts the sending program.
func (p *pairing) send(ctx context.Context) error {
	rate, err := p.trial.offer(p.way)
	if err != nil {
		return err
	}
	req := p.trial.request(p.session, agentapi.ToolClient, p.streams)
	req.Own, req.Rate, req.Unsampled = p.lane.Src, rate, !p.first
	req.Peer = netip.AddrPortFrom(p.lane.Dst, p.server.port)
	req.Links = physical(p.trial.cfg.Network.Host(p.way.from), p.way.lanes, true)
	if _, err := ask.Call(ctx, p.sender, agentapi.StartTool, req); err != nil {
		return fmt.Errorf("run %s on %s: %w", p.trial.spec.Tool, p.way.from, err)
	}
	p.sends = true
	return nil
}

// collect waits for the sending program's end.
func (p *pairing) collect(ctx context.Context) error {
	var err error
	if p.client, err = ask.Call(ctx, p.sender, agentapi.EndTool, agentapi.SessionRequest{Session: p.session, Wait: p.trial.spec.toolLength() + slack}); err != nil {
		return fmt.Errorf("run %s on %s: %w", p.trial.spec.Tool, p.way.from, err)
	}
	p.sends = false
	return nil
}

// take takes the client's streams out of what its server reported.
func (p *pairing) take() error {
	p.received = p.server.from(p.lane.Src)
	if len(p.received) < p.streams {
		return fmt.Errorf("run %s on %s: it reported %d streams of %d", p.trial.spec.Tool, p.way.to, len(p.received), p.streams)
	}
	p.received = p.received[:p.streams]
	return nil
}

// abandon stops programs that still run; their reports are of no use.
func abandon(all []*pairing, servers []*toolServer) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_ = each(all, func(p *pairing) error {
		if p.sends {
			_, _ = ask.Call(ctx, p.sender, agentapi.EndTool, agentapi.SessionRequest{Session: p.session})
		}
		return nil
	})
	_ = each(servers, func(s *toolServer) error {
		if s.listens {
			_, _ = ask.Call(ctx, s.host, agentapi.EndTool, agentapi.SessionRequest{Session: s.session})
		}
		return nil
	})
}
