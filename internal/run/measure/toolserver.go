package measure

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
)

// toolServer is a tool's receiving program: one for all clients that send to an
// address, as people run it.
type toolServer struct {
	trial   *trial
	way     way
	own     netip.Addr
	host    ask.Host
	session string
	streams int
	// clients is how many programs send to it.
	clients int
	// first of its way: the host is sampled beside it, and beside no other.
	first   bool
	port    uint16
	listens bool
	version string
	said    agentapi.ToolEndReply
}

// servers are the programs that a trial's clients send to, in the clients'
// order; each client is told its own.
func (t *trial) servers(clients []*pairing) (all []*toolServer) {
	type place struct {
		host string
		own  netip.Addr
	}
	known, sampled := make(map[place]*toolServer), make(map[string]bool)
	for _, p := range clients {
		at := place{p.way.to, p.lane.Dst}
		s := known[at]
		if s == nil {
			s = &toolServer{
				trial: t, way: p.way, own: p.lane.Dst, host: t.cfg.Network.Endpoints[p.way.to],
				session: p.session + "-in", first: !sampled[p.way.to],
			}
			known[at], sampled[p.way.to] = s, true
			all = append(all, s)
		}
		s.streams += p.streams
		s.clients++
		p.server = s
	}
	return all
}

// listen starts the program, on the first port that is free.
func (s *toolServer) listen(ctx context.Context, index int) error {
	spec := s.trial.spec
	first, last := toolPort+index, 65535
	if within := spec.Within; within != nil {
		first, last = int(within.First)+index%(int(within.Last)-int(within.First)+1), int(within.Last)
	}
	req := s.trial.request(s.session, agentapi.ToolServer, s.streams)
	req.Own, req.Interval, req.Unsampled = s.own, toolInterval, !s.first
	req.Links = physical(s.trial.cfg.Network.Host(s.way.to), s.way.lanes, false)
	for try := 0; ; try++ {
		req.Port = uint16(min(first+try*16, last))
		if spec.Within != nil {
			req.Port = uint16(min(first+try, last))
		}
		reply, err := ask.Call(ctx, s.host, agentapi.StartTool, req)
		if errors.Is(err, agentapi.ErrPortTaken) && try < toolTries {
			continue
		}
		if err != nil {
			return fmt.Errorf("run %s on %s: %w", spec.Tool, s.way.to, err)
		}
		s.port, s.listens, s.version = req.Port, true, reply.Version
		return nil
	}
}

// end stops the program and keeps what it reported.
func (s *toolServer) end(ctx context.Context) (err error) {
	if s.said, err = ask.Call(ctx, s.host, agentapi.EndTool, agentapi.SessionRequest{Session: s.session}); err != nil {
		return fmt.Errorf("run %s on %s: %w", s.trial.spec.Tool, s.way.to, err)
	}
	s.listens = false
	return nil
}

// from are the streams of the client at an address. An only client has them
// all, whatever its address became on the way.
func (s *toolServer) from(client netip.Addr) []agentapi.ToolStream {
	if s.clients == 1 {
		return s.said.Streams
	}
	var mine []agentapi.ToolStream
	for _, stream := range s.said.Streams {
		if stream.Client.Addr().Unmap() == client.Unmap() {
			mine = append(mine, stream)
		}
	}
	return mine
}
