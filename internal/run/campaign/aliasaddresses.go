package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/netstate"
)

// Probing an address: two echoes, since the first may wait for ARP.
const (
	aliasEchoes   = 2
	aliasInterval = 100 * time.Millisecond
	aliasTimeout  = 400 * time.Millisecond
	probesAtOnce  = 64
	// mostProbes bounds how many addresses of a full subnet are asked.
	mostProbes = 2048
)

// free finds as many addresses that nobody uses.
func (s *aliasSweep) free(ctx context.Context, want int) error {
	candidates := candidateAddresses(s.subnet, s.known(), mostProbes)
	for len(s.addresses) < want && len(candidates) > 0 {
		n := min(want-len(s.addresses), len(candidates))
		if err := s.onLink(ctx, candidates[:n]); err != nil {
			return err
		}
		used, err := s.used(ctx, candidates[:n])
		if err != nil {
			return err
		}
		for i, a := range candidates[:n] {
			if used[i] {
				s.inUse = append(s.inUse, a)
			} else {
				s.addresses = append(s.addresses, a)
			}
		}
		candidates = candidates[n:]
	}
	if len(s.addresses) < want {
		err := fmt.Errorf("find %d addresses in %s: %w: %d are free", want, s.subnet, ErrNoAddresses, len(s.addresses))
		if len(s.inUse) > 0 {
			err = fmt.Errorf("%w, in use are %s", err, firstOf(s.inUse))
		}
		return err
	}
	return nil
}

// known are the addresses that the fabric's hosts hold or send to.
func (s *aliasSweep) known() map[netip.Addr]bool {
	known := make(map[netip.Addr]bool)
	for _, h := range s.c.state.Hosts {
		for _, l := range h.Links {
			for _, p := range l.Addresses {
				known[p.Addr()] = true
			}
		}
		for _, r := range h.Routes {
			known[r.Gateway] = true
			for _, hop := range r.Hops {
				known[hop.Gateway] = true
			}
		}
	}
	return known
}

// candidateAddresses are the first host addresses of a subnet but those that
// are known to be taken, network and broadcast left out.
func candidateAddresses(subnet netip.Prefix, taken map[netip.Addr]bool, most int) []netip.Addr {
	subnet = subnet.Masked()
	whole := subnet.Addr().BitLen() - subnet.Bits()
	var out []netip.Addr
	for a := subnet.Addr(); a.IsValid() && subnet.Contains(a) && len(out) < most; a = a.Next() {
		first := a == subnet.Addr()
		last := subnet.Addr().Is4() && !subnet.Contains(a.Next())
		if !taken[a] && (whole < 2 || !first && !last) {
			out = append(out, a)
		}
	}
	return out
}

// onLink refuses addresses to which the sender has a route by a gateway:
// asking for them would send echoes to strangers, and one that is filtered
// would count as free. An address without any route nobody here uses.
func (s *aliasSweep) onLink(ctx context.Context, all []netip.Addr) error {
	routes, err := s.routesTo(ctx, all)
	if err != nil {
		return err
	}
	for i, r := range routes {
		if r.Gateway.IsValid() {
			return fmt.Errorf("take addresses of %s: %w: %s sends to %s by %s on %s", s.subnet, ErrRouted, s.sender, all[i], r.Gateway, r.Link)
		}
	}
	return nil
}

// routesTo are the sender's routes to addresses, in their order.
func (s *aliasSweep) routesTo(ctx context.Context, all []netip.Addr) ([]netstate.FlowRoute, error) {
	var req agentapi.RoutesRequest
	for _, a := range all {
		req.Flows = append(req.Flows, flow.Tuple{Src: s.lane.Src, Dst: a})
	}
	reply, err := ask.Call(ctx, s.c.hosts[s.sender], agentapi.Routes, req)
	if err == nil && len(reply.Routes) != len(all) {
		err = fmt.Errorf("%d answers to %d questions", len(reply.Routes), len(all))
	}
	if err != nil {
		return nil, fmt.Errorf("ask routes of %s: %w", s.sender, err)
	}
	return reply.Routes, nil
}

// used reports which addresses answer: to an echo, or to ARP alone.
func (s *aliasSweep) used(ctx context.Context, all []netip.Addr) ([]bool, error) {
	used := make([]bool, len(all))
	at := s.c.hosts[s.sender]
	slots := make(chan struct{}, probesAtOnce)
	errs := make(chan error, len(all))
	for i, a := range all {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			reply, err := ask.Call(ctx, at, agentapi.Ping, agentapi.PingRequest{Dst: a, Src: s.lane.Src, Count: aliasEchoes, Interval: aliasInterval, Timeout: aliasTimeout})
			used[i] = len(reply.RTTs) > 0
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
				err = fmt.Errorf("probe %s: %w", a, err)
			} else {
				err = nil // no way there, or no answer: nobody has it
			}
			errs <- err
		}()
	}
	var failed error
	for range all {
		failed = errors.Join(failed, <-errs)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if failed != nil {
		return nil, failed
	}
	return used, s.answeredARP(ctx, all, used)
}

// answeredARP adds those of which the sender has learned an Ethernet address
// on their own link.
func (s *aliasSweep) answeredARP(ctx context.Context, all []netip.Addr, used []bool) error {
	routes, err := s.routesTo(ctx, all)
	if err != nil {
		return err
	}
	for i, r := range routes {
		direct := !r.Gateway.IsValid()
		used[i] = used[i] || direct && (r.MAC != flow.MAC{} || r.Link == "lo")
	}
	return nil
}

// firstOf names the first addresses and counts the rest.
func firstOf(all []netip.Addr) string {
	const most = 4
	var names []string
	for _, a := range slices.Clone(all[:min(len(all), most)]) {
		names = append(names, a.String())
	}
	text := strings.Join(names, ", ")
	if len(all) > most {
		text += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return text
}
