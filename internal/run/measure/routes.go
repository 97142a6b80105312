package measure

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/predict"
)

// Routes asks as RouteEnds does, and returns what is wrong.
func Routes(ctx context.Context, n Network, from, to string, lanes []flow.Lane) ([]pathcheck.Problem, error) {
	ends, err := RouteEnds(ctx, n, from, to, lanes)
	return pathcheck.Check(ends), err
}

// RouteEnds asks the kernels of both hosts where they would send the packets of
// each lane between them, nil for every lane. No byte is sent. Hosts whose
// system cannot say, or that nobody can ask, are left out.
func RouteEnds(ctx context.Context, n Network, from, to string, lanes []flow.Lane) ([]pathcheck.End, error) {
	if lanes == nil {
		var err error
		if lanes, err = predict.Lanes(n.Fabric, from, to, ""); err != nil {
			return nil, err
		}
	}
	back := make([]flow.Lane, len(lanes))
	for i, l := range lanes {
		back[i] = l.Reverse()
	}
	ends, err := endsOf(ctx, n, from, lanes)
	if err != nil {
		return nil, err
	}
	far, err := endsOf(ctx, n, to, back)
	if err != nil {
		return nil, err
	}
	return append(ends, far...), nil
}

// endsOf asks one host where it sends from its own ends of the lanes.
func endsOf(ctx context.Context, n Network, host string, lanes []flow.Lane) ([]pathcheck.End, error) {
	at := n.Endpoints[host]
	if at == nil {
		return nil, nil
	}
	var req agentapi.RoutesRequest
	for _, l := range lanes {
		req.Flows = append(req.Flows, flow.Tuple{Proto: flow.TCP, Src: l.Src, Dst: l.Dst})
	}
	reply, err := ask.Call(ctx, at, agentapi.Routes, req)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask routes of %s: %w", host, err)
	}
	if len(reply.Routes) != len(lanes) {
		return nil, fmt.Errorf("ask routes of %s: %d answers, asked for %d", host, len(reply.Routes), len(lanes))
	}
	var ends []pathcheck.End
	for i, r := range reply.Routes {
		ends = append(ends, pathcheck.End{Host: n.Host(host), Own: lanes[i].Src, Peer: lanes[i].Dst, Route: r})
	}
	return ends, nil
}
