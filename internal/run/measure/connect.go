package measure

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/steer"
)

// portTries is how often ports are chosen until none of them is taken: a port
// may be bound without a connection, which older kernels do not list, or go
// to somebody else in the meantime.
const portTries = 4

// openWay opens both ends of a way, on chosen ports unless the kernel is to
// choose them, and returns used with its flows.
func (t *trial) openWay(ctx context.Context, w way, id string, key agentapi.Key, sampled map[string]bool, used []flow.Tuple) ([]flow.Tuple, error) {
	o := occupied{flows: used}
	if t.spec.Ports != "kernel" {
		var note string
		o, note = occupiedOn(ctx, w.from, t.cfg.Network.Endpoints[w.from], w.transport(), used)
		t.note(note)
	}
	for try := 1; ; try++ {
		opened, before := len(t.ends), maps.Clone(sampled)
		streams, asked, err := t.connectWay(ctx, w, id, key, sampled, o)
		if errors.Is(err, agentapi.ErrPortTaken) && asked != nil && try < portTries {
			// Some streams may have reached the sink: it must forget them. Which
			// port was taken is not told.
			t.drop(opened)
			clear(sampled)
			maps.Copy(sampled, before)
			o.ports = append(o.ports, asked...)
			continue
		}
		if err != nil {
			return nil, err
		}
		t.streams[w.name] = streams
		for _, s := range streams {
			used = append(used, flow.Tuple{Proto: w.transport(), Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: s.Dport})
		}
		return used, nil
	}
}

// connectWay opens a sink and a source that connects to it. Asked are the
// source ports that were chosen; nil where the kernel chooses.
func (t *trial) connectWay(ctx context.Context, w way, id string, key agentapi.Key, sampled map[string]bool, o occupied) (streams []agentapi.Stream, asked []uint16, err error) {
	lifetime := longestWarm + 2*t.spec.longest() + slack // a burst may begin the window again
	sink, err := t.openSink(ctx, w, id, key, sampled, lifetime)
	if err != nil {
		return nil, nil, err
	}
	ports, note := make([]uint16, w.streams), ""
	if t.spec.Ports != "kernel" {
		if ports, note, err = choosePortsOrShare(t.cfg.Network, w, sink.Port, o); err != nil {
			return nil, nil, err
		}
		asked = ports
	}
	offer, err := t.offer(w)
	if err != nil {
		return nil, asked, err
	}
	e := t.newEnd(w, w.from, id+"-"+string(w.name)+"-out", true, sampled)
	reply, err := e.at.OpenSource(ctx, agentapi.SourceRequest{
		Session: e.session, Key: key, Streams: t.ask(w, w.connections(ports, sink.Port)), Mode: t.spec.Mode,
		Links: e.links, Lifetime: lifetime,
		MPTCP: t.spec.protocol() == protocolMPTCP, UDP: t.spec.datagrams(), Rate: offer, Unpinned: t.spec.Unpinned,
	})
	if err != nil {
		return nil, asked, fmt.Errorf("connect %s to %s: %w", w.from, w.to, err)
	}
	t.ends = append(t.ends, e)
	t.method.Receive, t.method.Send = sink.Method.Receive, reply.Method.Send
	if len(reply.Streams) != w.streams {
		return nil, asked, fmt.Errorf("connect %s to %s: %d streams, asked for %d", w.from, w.to, len(reply.Streams), w.streams)
	}
	t.granted(w, reply.Streams, sink.Socket)
	if note != "" {
		t.note("ports: " + note)
	}
	return reply.Streams, asked, nil
}

// choosePortsOrShare is choosePorts, and on a host so busy that too few ports
// are free, among those in use too: they may still take another flow.
func choosePortsOrShare(n Network, w way, dport int, o occupied) (ports []uint16, note string, err error) {
	ports, note, err = choosePorts(n, w, dport, o)
	if errors.Is(err, steer.ErrTooFewPorts) && len(o.ports) > 0 {
		o.ports = nil
		ports, note, err = choosePorts(n, w, dport, o)
	}
	return ports, note, err
}

// drop ends the sessions that were opened last, down to the first keep.
func (t *trial) drop(keep int) {
	late := trial{ends: t.ends[keep:]}
	late.finish()
	t.ends = t.ends[:keep]
}

// note adds a remark to the trial's; "" is none.
func (t *trial) note(remark string) {
	if remark != "" {
		t.notes = append(t.notes, remark)
	}
}

// connections are a way's streams as a source opens them.
func (w way) connections(ports []uint16, dport int) []agentapi.Stream {
	streams := make([]agentapi.Stream, w.streams)
	for i := range streams {
		streams[i] = agentapi.Stream{Lane: w.lane(i), Sport: ports[i], Dport: uint16(dport)}
	}
	return streams
}
