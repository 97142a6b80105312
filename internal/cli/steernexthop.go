package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// nextHops gives frames that lack it the MAC address of their next hop, as the
// routes and neighbours of the host have it, where the bond's policy hashes
// it. The note says what could not be looked up; "" for nothing.
func (f *flowFlags) nextHops(ctx context.Context, app *App, reach string, frames []flow.Frame, b steer.Bundle, host *netstate.Host) (note string, err error) {
	lanes := lacking(frames, b)
	if host == nil || len(lanes) == 0 {
		return "", nil
	}
	routes, err := app.routes(ctx, reach, lanes)
	if err != nil {
		return "", err
	}
	macs := make(map[flow.Lane]flow.MAC, len(lanes))
	for i, t := range lanes {
		r := routes[i]
		switch why := offBond(r, t, b, host); {
		case why != "":
			note = why
		case r.MAC.IsZero():
			note = fmt.Sprintf("%s has no MAC address for the next hop %s on %s: ping it first, or say --dmac", host.Name, r.NextHop(t.Dst), r.Link)
		default:
			macs[flow.Lane{Src: t.Src, Dst: t.Dst}] = r.MAC
		}
	}
	for i := range frames {
		if frames[i].DstMAC.IsZero() {
			frames[i].DstMAC = macs[flow.Lane{Src: frames[i].Src, Dst: frames[i].Dst}]
		}
	}
	return note, nil
}

// lacking are the frames whose next hop's address decides and is not given,
// one for each pair of addresses.
func lacking(frames []flow.Frame, b steer.Bundle) []flow.Tuple {
	switch b.Policy {
	case netstate.Layer2, netstate.Layer23, netstate.Encap23:
	default:
		return nil
	}
	var tuples []flow.Tuple
	seen := make(map[flow.Lane]bool)
	for _, frame := range frames {
		lane := flow.Lane{Src: frame.Src, Dst: frame.Dst}
		if seen[lane] || !frame.DstMAC.IsZero() || !frame.Dst.IsValid() {
			continue
		}
		if seen[lane] = true; !b.Place(frame).Known {
			tuples = append(tuples, frame.Tuple)
		}
	}
	return tuples
}

// offBond says why a route does not lead over the bond; "" when it does, or
// when the links are not the host's own.
func offBond(r netstate.FlowRoute, t flow.Tuple, b steer.Bundle, host *netstate.Host) string {
	if r.Link == "" {
		return fmt.Sprintf("%s has no way to %s: %s", host.Name, t.Dst, r.Why)
	}
	if _, own := host.Link(firstOf(b.Ports)); !own {
		return ""
	}
	_, _, bond := host.Below(r.Link)
	if bond != nil && slices.Equal(host.UsablePorts(bond.Name), b.Ports) {
		return ""
	}
	return fmt.Sprintf("%s sends to %s by %s, which is not on this bond: the next hop's MAC address is not known", host.Name, t.Dst, r.Link)
}

func firstOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// routes asks a host's kernel where flows go, in as many requests as it takes.
func (a *App) routes(ctx context.Context, reach string, tuples []flow.Tuple) ([]netstate.FlowRoute, error) {
	t, err := a.target(reach)
	if err != nil {
		return nil, err
	}
	h, err := a.dial(ctx, t)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return routesOf(ctx, h, t.name, tuples)
}

// routesOf is routes of a host that is reached already.
func routesOf(ctx context.Context, h *fleet.Host, name string, tuples []flow.Tuple) ([]netstate.FlowRoute, error) {
	var all []netstate.FlowRoute
	for part := range slices.Chunk(tuples, agentapi.MostRoutes) {
		reply, err := ask.Call(ctx, h, agentapi.Routes, agentapi.RoutesRequest{Flows: part})
		if err != nil {
			return nil, fmt.Errorf("ask for routes of %s: %w", name, err)
		}
		all = append(all, reply.Routes...)
	}
	return all, nil
}
