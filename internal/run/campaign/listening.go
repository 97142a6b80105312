package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
)

// Target is a host that listens and that nobody can log in to.
type Target struct {
	Name     string // what the record calls it
	Listener measure.Listener
}

// Listening makes a fabric of one reached host and the targets that it is to
// measure, each by the address that its kernel sends from, or one of a device of
// it where that is not "". The links that lead to the targets are in use: who
// names a target gives them. Errors: fleet.ErrUnreachable where its kernel has no
// route to a target.
func Listening(ctx context.Context, h *fleet.Host, reach, device string, targets []Target) (fabric.Fabric, map[string]measure.Listener, error) {
	observed, err := h.Observe(ctx)
	if err != nil {
		return fabric.Fabric{}, nil, fmt.Errorf("observe %s: %w", h.Name, err)
	}
	observed.Host.Name = h.Name
	sources, links, err := sourcesFor(ctx, h, targets)
	if err != nil {
		return fabric.Fabric{}, nil, err
	}
	if l, ok := observed.Host.Link(device); ok {
		links = []string{device}
		for i, t := range targets {
			sources[i] = sourceOn(l, t.Listener.At.Addr())
		}
	}
	all, paths := []netstate.Host{observed.Host}, []fabric.Path(nil)
	listeners := make(map[string]measure.Listener)
	for i, t := range targets {
		t.Listener.Src = sources[i]
		listeners[t.Name] = t.Listener
		all = append(all, standIn(t.Name, t.Listener.At.Addr(), sources[i], observed.Host))
		paths = append(paths, fabric.Path{From: h.Name, To: t.Name})
	}
	f, err := fabric.Parse(Discovered, describe.Write(all, paths, map[string]string{h.Name: reach}, fabric.Measure{}))
	if err == nil && len(links) > 0 {
		f.Hosts[0].Use = links
	}
	return f, listeners, err
}

// sourceOn is a link's address in a target's subnet, or else its first of the
// target's family; not valid where it has none.
func sourceOn(l netstate.Link, target netip.Addr) netip.Addr {
	var first netip.Addr
	for _, p := range l.Addresses {
		switch {
		case p.Masked().Contains(target):
			return p.Addr()
		case !first.IsValid() && p.Addr().Is4() == target.Is4() && !p.Addr().IsLinkLocalUnicast():
			first = p.Addr()
		}
	}
	return first
}

// sourcesFor asks the kernel by which address it sends to each target, and by
// which links, lo left out; an address that is not valid leaves it to the kernel.
func sourcesFor(ctx context.Context, h *fleet.Host, targets []Target) (sources []netip.Addr, links []string, err error) {
	var req agentapi.RoutesRequest
	for _, t := range targets {
		req.Flows = append(req.Flows, flow.Tuple{Proto: flow.TCP, Dst: t.Listener.At.Addr(), Dport: t.Listener.At.Port()})
	}
	sources = make([]netip.Addr, len(targets))
	reply, err := ask.Call(ctx, h, agentapi.Routes, req)
	if errors.Is(err, errors.ErrUnsupported) {
		return sources, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ask routes of %s: %w", h.Name, err)
	}
	for i := range min(len(targets), len(reply.Routes)) {
		r := reply.Routes[i]
		if r.Link == "" {
			return nil, nil, fmt.Errorf("send to %s: %w: %s has no route: %s", targets[i].Listener.At.Addr(), fleet.ErrUnreachable, h.Name, r.Why)
		}
		sources[i] = r.Src
		if r.Src.IsLinkLocalUnicast() {
			sources[i] = r.Src.WithZone(targets[i].Listener.At.Addr().Zone()) // on the same link
		}
		if r.Link != "lo" && !slices.Contains(links, r.Link) {
			links = append(links, r.Link)
		}
	}
	return sources, links, nil
}

// standIn is what is known of a host that listens: an address, in the sender's
// subnet where it is in one.
func standIn(name string, at, source netip.Addr, sender netstate.Host) netstate.Host {
	bits := at.BitLen()
	if l, ok := sender.LinkWith(source); ok && !at.IsLoopback() {
		for _, p := range l.Addresses {
			if p.Addr() == source.WithZone("") && p.Masked().Contains(at.WithZone("")) {
				bits = p.Bits()
			}
		}
	}
	return netstate.Host{Name: name, Links: []netstate.Link{{Name: "unknown", Addresses: []netip.Prefix{netip.PrefixFrom(at, bits)}}}}
}
