package probe

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
)

// lifetime bounds a session whose controller has gone.
const lifetime = time.Minute

// connection is one flow's connection, and what the ends counted.
type connection struct {
	r              *runner
	sender         int // 0 is A, 1 is B
	lane           flow.Lane
	source, sink   string
	sourceUp       bool
	before, latest reading
}

// reading is both ends at one moment.
type reading struct {
	links    [2]map[string]netstate.Counters // of A and B
	arrived  uint64                          // payload
	segments uint64                          // that the receiver's TCP sent
	rtt      time.Duration
}

func (c *connection) at(end int) Endpoint {
	if end == 0 {
		return c.r.cfg.A.At
	}
	return c.r.cfg.B.At
}

// open connects the flow from A (0), or its answer from B (1): the same
// addresses and ports the other way round. A sender's port that somebody
// holds is agentapi.ErrPortTaken, a receiver's ErrPortUse.
func (r *runner) open(ctx context.Context, f flow.Frame, sender int) (*connection, error) {
	if sender == 1 {
		f = hashsurvey.Answer(f)
	}
	id, key := newSession()
	receiver := 1 - sender
	c := &connection{r: r, sender: sender, lane: flow.Lane{Src: f.Src, Dst: f.Dst}, source: id + "-probe-out", sink: id + "-probe-in"}
	reply, err := c.at(receiver).OpenSink(ctx, agentapi.SinkRequest{
		Session: c.sink, Key: key, Bind: []netip.Addr{f.Dst}, Port: int(f.Dport), Peers: []netip.Addr{f.Src}, Streams: 1,
		Links: r.ends[receiver].names, Lifetime: lifetime,
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", r.ends[receiver].host.Name, err)
	}
	if reply.Port != int(f.Dport) {
		c.close()
		return nil, fmt.Errorf("listen on %s: port %d: %w", r.ends[receiver].host.Name, f.Dport, ErrPortUse)
	}
	_, err = c.at(sender).OpenSource(ctx, agentapi.SourceRequest{
		Session: c.source, Key: key, Links: r.ends[sender].names, Lifetime: lifetime,
		Streams: []agentapi.Stream{{Lane: c.lane, Sport: f.Sport, Dport: f.Dport}},
	})
	if err != nil {
		c.close()
		return nil, fmt.Errorf("connect %s to %s: %w", r.ends[sender].host.Name, r.ends[receiver].host.Name, err)
	}
	c.sourceUp = true
	return c, nil
}

func newSession() (string, agentapi.Key) {
	var key agentapi.Key
	var id [8]byte
	_, _ = rand.Read(key[:]) // never fails, by its documentation
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:]), key
}

// close ends both sessions, also after an interrupt; the source first.
func (c *connection) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if c.sourceUp {
		_, _ = c.at(c.sender).Finish(ctx, agentapi.FinishRequest{Session: c.source})
	}
	_, _ = c.at(1-c.sender).Finish(ctx, agentapi.FinishRequest{Session: c.sink})
}

// sample reads both ends at once.
func (c *connection) sample(ctx context.Context) error {
	type answer struct {
		sample agentapi.Sample
		err    error
	}
	sent := make(chan answer, 1)
	go func() {
		s, err := c.sampleEnd(ctx, c.sender, c.source)
		sent <- answer{s, err}
	}()
	received, err := c.sampleEnd(ctx, 1-c.sender, c.sink)
	source := <-sent
	if err := errors.Join(source.err, err); err != nil {
		return err
	}
	now := reading{arrived: received.Bytes[0]}
	for _, end := range []struct {
		at     int
		sample agentapi.Sample
	}{{c.sender, source.sample}, {1 - c.sender, received}} {
		now.links[end.at] = make(map[string]netstate.Counters)
		for _, l := range end.sample.Links {
			now.links[end.at][l.Link] = l.Counters
		}
	}
	if len(received.TCP) == 1 {
		now.segments = received.TCP[0].AllSegmentsOut
	}
	if len(source.sample.TCP) == 1 {
		now.rtt = time.Duration(source.sample.TCP[0].Last.RTTMS * float64(time.Millisecond))
	}
	c.latest = now
	return nil
}

func (c *connection) sampleEnd(ctx context.Context, end int, session string) (agentapi.Sample, error) {
	name := c.r.ends[end].host.Name
	reply, err := c.at(end).Sample(ctx, agentapi.SampleRequest{Session: session, Since: -1})
	switch {
	case err != nil:
		return agentapi.Sample{}, err
	case len(reply.Errors) > 0:
		return agentapi.Sample{}, fmt.Errorf("%s: %s", name, reply.Errors[0])
	case len(reply.Samples) == 0 || len(reply.Samples[0].Bytes) != 1:
		return agentapi.Sample{}, fmt.Errorf("%s: no sample", name)
	}
	return reply.Samples[0], nil
}

// moved is how far each link's counter of a side went since before.
func (c *connection) moved(side hashsurvey.Side, of func(c netstate.Counters, out bool) uint64) []uint64 {
	end := 0
	if side.Far() {
		end = 1
	}
	names := c.r.names.Links[side]
	moved := make([]uint64, len(names))
	for i, name := range names {
		moved[i] = netstate.Grown(of(c.before.links[end][name], side.Out()), of(c.latest.links[end][name], side.Out()))
	}
	return moved
}

func bytesOf(c netstate.Counters, out bool) uint64 {
	if out {
		return c.TxBytes
	}
	return c.RxBytes
}

func packetsOf(c netstate.Counters, out bool) uint64 {
	if out {
		return c.TxPackets
	}
	return c.RxPackets
}
