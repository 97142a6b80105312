package corerate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/kernel/topology"
	"github.com/linerate/linerate/internal/traffic/engine"
	"github.com/linerate/linerate/internal/traffic/sampling"
)

// ErrNothing is a measurement in which no traffic arrived or no processor time
// was counted.
var ErrNothing = errors.New("nothing could be counted")

// Run measures for about cfg.Time. It needs no rights, but with CAP_SYS_ADMIN
// the traffic runs between two namespaces of its own, which go when it returns
// and when the process dies; without it over loopback. Nothing else of the
// host is changed. Errors: ErrNothing, context's.
func Run(ctx context.Context, cfg Config) (agentapi.CoreRateReply, error) {
	reply, err := run(ctx, cfg)
	if err != nil {
		return reply, fmt.Errorf("measure a core: %w", err)
	}
	return reply, nil
}

func run(ctx context.Context, cfg Config) (agentapi.CoreRateReply, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	begin := time.Now()
	sender, receiver, err := idleCores(ctx, cfg)
	if err != nil {
		return agentapi.CoreRateReply{}, err
	}
	a := openArena(cfg.Namespace)
	defer a.release()
	b := bench{cfg: cfg, arena: a, sender: sender, receiver: receiver}
	stream := time.Duration(float64(cfg.Time) * streamShare / rounds)
	packet := cfg.Time/rounds - stream
	var streams, packets []reading
	for range rounds { // by turns, so that a disturbance does not hit all of one kind
		r, err := b.round(ctx, stream, nil)
		if err != nil {
			return agentapi.CoreRateReply{}, err
		}
		streams = append(streams, r)
		if r, err = b.round(ctx, packet, &agentapi.Datagrams{Payload: packetPayload, Single: true}); err != nil {
			return agentapi.CoreRateReply{}, err
		}
		packets = append(packets, r)
	}
	reply := judge(agentapi.CoreRateReply{Over: a.over, Why: a.why, Sender: sender, Receiver: receiver}, streams, packets)
	reply.Elapsed = time.Since(begin).Seconds()
	if reply.StreamRate == 0 || reply.PacketRate == 0 {
		return reply, ErrNothing
	}
	return reply, nil
}

// glance is how long the cores are watched before two are chosen.
const glance = 150 * time.Millisecond

// idleCores chooses the cores for the sender's thread and the receiver's.
func idleCores(ctx context.Context, cfg Config) (sender, receiver int, err error) {
	cores, err := topology.Cores("/")
	if err != nil {
		return 0, 0, err
	}
	allowed, err := sys.Affinity()
	if err != nil {
		return 0, 0, err
	}
	before, err := cfg.CPU()
	if err != nil {
		return 0, 0, err
	}
	if err := sampling.Pause(ctx, glance); err != nil {
		return 0, 0, err
	}
	after, err := cfg.CPU()
	if err != nil {
		return 0, 0, err
	}
	busy := make(map[int]float64)
	for _, core := range allowed {
		busy[core] = used(before, after, core).busy / glance.Seconds()
	}
	sender, receiver = chooseCores(cores, allowed, busy)
	if sender < 0 {
		return 0, 0, fmt.Errorf("choose a core of %v: %w", allowed, ErrNothing)
	}
	return sender, receiver, nil
}

// used is a core's time between two counts; zero where it was not counted.
func used(before, after agentapi.CPUCount, core int) coreUse {
	at := func(c agentapi.CPUCount) (busy, softirq float64) {
		for i, id := range c.Cores {
			if id == core && i < len(c.Busy) && i < len(c.Softirq) {
				return c.Busy[i], c.Softirq[i]
			}
		}
		return 0, 0
	}
	busy0, soft0 := at(before)
	busy1, soft1 := at(after)
	return coreUse{busy: max(busy1-busy0, 0), softirq: max(soft1-soft0, 0)}
}

// bench is one pair of cores and the arena between them.
type bench struct {
	cfg              Config
	arena            arena
	sender, receiver int
}

func (b bench) engine(e end, core int) *engine.Engine {
	return engine.New(engine.Config{
		Namespace: e.space, Host: sampling.Host{CPU: b.cfg.CPU}, MaxStreams: 1, Logger: b.cfg.Logger,
		Place: func([]string, int, []int) []int { return []int{core} },
	})
}

const session = "core-rate"

// round runs one stream for a while, TCP or the datagrams given, and reads
// what its two cores did. All of it has ended when it returns.
func (b bench) round(ctx context.Context, length time.Duration, udp *agentapi.Datagrams) (reading, error) {
	in, out := b.engine(b.arena.to, b.receiver), b.engine(b.arena.from, b.sender)
	defer in.Close()
	defer out.Close()
	if err := b.open(ctx, in, out, length, udp); err != nil {
		return reading{}, err
	}
	if _, err := out.Start(ctx, agentapi.StartRequest{Session: session}); err != nil {
		return reading{}, err
	}
	if err := sampling.Pause(ctx, time.Duration(float64(length)*warmUp)); err != nil {
		return reading{}, err
	}
	first, err := sampled(ctx, in, out)
	if err != nil {
		return reading{}, err
	}
	if err := sampling.Pause(ctx, time.Duration(float64(length)*(1-warmUp))); err != nil {
		return reading{}, err
	}
	last, err := sampled(ctx, in, out)
	if err != nil {
		return reading{}, err
	}
	return b.between(first, last), nil
}

// lingering is how much longer than its round a session may live.
const lingering = 15 * time.Second

func (b bench) open(ctx context.Context, in, out *engine.Engine, length time.Duration, udp *agentapi.Datagrams) error {
	var key agentapi.Key
	_, _ = rand.Read(key[:]) // never fails, by its documentation
	sink, err := in.OpenSink(ctx, agentapi.SinkRequest{
		Session: session, Key: key, Bind: []netip.Addr{b.arena.to.addr}, Peers: []netip.Addr{b.arena.from.addr},
		Streams: 1, UDP: udp, Links: []string{b.arena.to.link}, Lifetime: length + lingering,
	})
	if err != nil {
		return err
	}
	_, err = out.OpenSource(ctx, agentapi.SourceRequest{
		Session: session, Key: key, UDP: udp, Links: []string{b.arena.from.link}, Lifetime: length + lingering,
		Streams: []agentapi.Stream{{Lane: flow.Lane{Src: b.arena.from.addr, Dst: b.arena.to.addr}, Dport: uint16(sink.Port)}},
	})
	return err
}

// pairSample is both ends at one moment.
type pairSample struct{ in, out agentapi.Sample }

func sampled(ctx context.Context, in, out *engine.Engine) (pairSample, error) {
	var p pairSample
	for _, side := range []struct {
		engine *engine.Engine
		into   *agentapi.Sample
	}{{out, &p.out}, {in, &p.in}} {
		reply, err := side.engine.Sample(ctx, agentapi.SampleRequest{Session: session, Since: -1})
		if err != nil {
			return p, err
		}
		if len(reply.Errors) > 0 {
			return p, errors.New(reply.Errors[0])
		}
		if len(reply.Samples) == 0 {
			return p, ErrNothing
		}
		*side.into = reply.Samples[len(reply.Samples)-1]
	}
	return p, nil
}

// between is what happened from one moment to another.
func (b bench) between(first, last pairSample) reading {
	r := reading{alone: b.sender == b.receiver}
	r.bytes = float64(sum(last.in.Bytes) - min(sum(first.in.Bytes), sum(last.in.Bytes)))
	r.packets = datagrams(last.in) - datagrams(first.in)
	r.sent = datagrams(last.out) - datagrams(first.out)
	// One moment for both cores, so that neither has a longer one than the other.
	r.sender = used(first.in.CPU, last.in.CPU, b.sender)
	r.receiver = used(first.in.CPU, last.in.CPU, b.receiver)
	r.sender.thread = threads(last.out) - threads(first.out)
	r.receiver.thread = threads(last.in) - threads(first.in)
	return r
}

func sum(all []uint64) (n uint64) {
	for _, v := range all {
		n += v
	}
	return n
}

func datagrams(s agentapi.Sample) (n float64) {
	for _, u := range s.UDP {
		n += float64(u.Datagrams)
	}
	return n
}

func threads(s agentapi.Sample) (seconds float64) {
	for _, t := range s.CPU.Threads {
		seconds += t
	}
	return seconds
}
