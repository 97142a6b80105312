package measure

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
)

// Listener is a host that nobody can ask anything: an iperf3 server on it is
// the other end of its trials.
type Listener struct {
	At netip.AddrPort
	// Src is the address to measure from; invalid is any.
	Src netip.Addr
	// Token is what a linerate listener was started with; "" is none.
	Token string
	// BusyFor is how long to wait for a server that serves somebody else.
	BusyFor time.Duration
}

// lane is the pair of addresses of its trials.
func (l Listener) lane() flow.Lane { return flow.Lane{Src: l.Src, Dst: l.At.Addr()} }

// openListener opens a trial against a listener: one session on the host that
// can be asked, seen as both ends of each way.
func (t *trial) openListener(ctx context.Context, l Listener) error {
	near := t.cfg.Network.Endpoints[t.spec.From]
	if near == nil {
		return fmt.Errorf("measure %s to %s: the sending host cannot be a client: %w", t.spec.From, t.spec.To, errors.ErrUnsupported)
	}
	t.spec.Lanes = []flow.Lane{l.lane()}
	all, err := ways(t.cfg.Network, t.spec)
	if err != nil {
		return err
	}
	id, _ := ask.NewSession()
	t.feed = &feed{at: near, session: id, started: make(chan struct{})}
	req, err := t.listenerRequest(l, all, id)
	if err != nil {
		return err
	}
	reply, err := t.openTest(ctx, near, &req, all)
	if err != nil {
		return err
	}
	if len(reply.Streams) != t.spec.Streams*len(all) {
		return fmt.Errorf("measure %s to %s: %d streams, asked for %d", t.spec.From, t.spec.To, len(reply.Streams), t.spec.Streams*len(all))
	}
	if reply.Waited > 0 {
		t.note(fmt.Sprintf("waited %.1f s for the server, which was busy", reply.Waited.Seconds()))
	}
	for i, w := range all {
		part := reply.Streams[i*t.spec.Streams : (i+1)*t.spec.Streams]
		if w.name == flow.Reverse { // seen from the sender
			for k, s := range part {
				part[k].Lane, part[k].Sport, part[k].Dport = s.Lane.Reverse(), s.Dport, s.Sport
			}
		}
		t.streams[w.name] = part
		t.addFeedEnds(w, i, len(all))
	}
	return nil
}

// addFeedEnds makes the two ends of a way. The host's links and processors are
// counted at one of its ends, the receiving one where it has both.
func (t *trial) addFeedEnds(w way, index, ways int) {
	low := index * w.streams
	for _, sending := range [...]bool{false, true} {
		host := w.to
		if sending {
			host = w.from
		}
		local := host == t.spec.From
		f := &feedEnd{Host: t.cfg.Network.Endpoints[t.spec.From], feed: t.feed, low: low, high: low + w.streams, local: local}
		f.links = local && (ways == 1 || !sending)
		t.ends = append(t.ends, &end{host: host, at: f, session: t.feed.session, way: w, sending: sending})
	}
}

func (t *trial) listenerRequest(l Listener, all []way, id string) (agentapi.IPerf3OpenRequest, error) {
	longest := longestWarm + 2*t.spec.longest() + slack // a burst may begin the window again
	lane := l.lane()
	req := agentapi.IPerf3OpenRequest{
		Session: id, Server: l.At, Src: lane.Src, Direction: t.spec.Direction, Streams: t.spec.Streams,
		UDP: t.spec.protocol() == protocolUDP, MPTCP: t.spec.protocol() == protocolMPTCP, Socket: t.spec.Socket, Longest: longest, Lifetime: longest + slack,
		Token: l.Token, BusyFor: l.BusyFor, Links: physical(t.cfg.Network.Host(t.spec.From), []flow.Lane{lane}, true),
	}
	if _, own := t.cfg.Network.Host(t.spec.From).LinkWith(l.At.Addr()); own || l.At.Addr().IsLoopback() {
		req.Links = nil // its own server: one counter would take in both ways
	}
	if t.spec.Datagrams != nil {
		req.Block = t.spec.Datagrams.Payload
	}
	offer, err := t.offer(all[0])
	req.Rate = offer
	return req, err
}

// openTest chooses the streams' ports on this host, so that they spread over
// its links, and opens the test; with others where one is taken.
func (t *trial) openTest(ctx context.Context, near ask.Host, req *agentapi.IPerf3OpenRequest, all []way) (agentapi.IPerf3OpenReply, error) {
	var o occupied
	if t.spec.Ports != "kernel" {
		var note string
		o, note = occupiedOn(ctx, t.spec.From, t.cfg.Network.Endpoints[t.spec.From], all[0].transport(), nil)
		t.note(note)
	}
	for try := 1; ; try++ {
		note := ""
		if t.spec.Ports != "kernel" {
			var err error
			if req.Sports, note, err = t.portsTowards(req.Server, all, o); err != nil {
				return agentapi.IPerf3OpenReply{}, err
			}
		}
		reply, err := ask.Call(ctx, near, agentapi.OpenIPerf3, *req)
		if errors.Is(err, agentapi.ErrPortTaken) && len(req.Sports) > 0 && try < portTries {
			o.ports = append(o.ports, req.Sports...)
			continue
		}
		if err == nil && note != "" {
			t.note("ports: " + note)
		}
		return reply, err
	}
}

// portsTowards are the ports of all streams, those of both directions chosen
// together: every one is a connection that this host makes.
func (t *trial) portsTowards(server netip.AddrPort, all []way, o occupied) ([]uint16, string, error) {
	w := all[0]
	if w.name == flow.Reverse {
		w.from, w.to, w.lanes = w.to, w.from, []flow.Lane{w.lanes[0].Reverse()}
	}
	w.streams = t.spec.Streams * len(all)
	return choosePortsOrShare(t.cfg.Network, w, int(server.Port()), o)
}
