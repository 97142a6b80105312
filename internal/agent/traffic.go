package agent

import (
	"context"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/internal/host/livestats"
	"github.com/linerate/linerate/netstate"
)

// traffic watches what the host sends and receives already.
func (a *Agent) traffic(ctx context.Context, req agentapi.TrafficRequest) (agentapi.TrafficReply, error) {
	var reply agentapi.TrafficReply
	seen, err := a.observe(ctx, agentapi.ObserveRequest{})
	if err != nil {
		return reply, err
	}
	cfg := livestats.Config{Namespace: a.cfg.Namespace, Own: make(map[netip.Addr]bool), Span: req.Span, Flows: req.Flows}
	for _, l := range seen.Host.Links {
		for _, p := range l.Addresses {
			cfg.Own[p.Addr()] = true
		}
		if l.Up && l.Kind != "loopback" && l.Name != "lo" {
			cfg.Links = append(cfg.Links, l.Name)
		}
	}
	if reply.Watched, err = livestats.Watch(ctx, cfg); err != nil {
		return reply, err
	}
	reply.Watched.Host = seen.Host
	return reply, a.ways(ctx, &reply.Watched)
}

// ways asks the kernel where it sends the flows.
func (a *Agent) ways(ctx context.Context, w *livetraffic.Watched) error {
	ask := agentapi.RoutesRequest{}
	for _, f := range w.Flows {
		ask.Flows = append(ask.Flows, f.Tuple)
	}
	found, err := a.routes(ctx, ask)
	if err != nil {
		w.Unseen = append(w.Unseen, "routes of the flows: "+err.Error())
		return nil
	}
	for i, r := range found.Routes {
		w.Flows[i].Way = wayOf(w.Host, w.Flows[i].Tuple, r)
	}
	return nil
}

// wayOf is the route with what the link adds to frames.
func wayOf(h netstate.Host, t flow.Tuple, r netstate.FlowRoute) livetraffic.Way {
	way := livetraffic.Way{Link: r.Link, DstMAC: r.MAC, Doubt: r.Doubt, Why: r.Why}
	if l, ok := h.Link(r.Link); ok {
		way.SrcMAC = l.MAC
		if l.VLAN != nil {
			way.VLAN = uint16(l.VLAN.ID)
		}
	}
	return way
}
