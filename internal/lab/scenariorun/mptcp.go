package scenariorun

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/subflow"
)

// mptcp measures with MPTCP: for as long, both hosts have the addresses and the
// endpoints that steer chooses for the bond's links.
func (r *run) mptcp(ctx context.Context, c *campaign.Campaign, step string, m scenario.Measurement) (err error) {
	plan, bonds, err := subflows(c.State(), m, addresses(r.now.Fabric))
	if err != nil {
		return err
	}
	for _, end := range []struct {
		host  string
		bond  string
		extra []netip.Addr
		want  netstate.MPTCP
	}{{m.From, bonds[0], plan.AddNear, plan.Client}, {m.To, bonds[1], plan.AddFar, plan.Server}} {
		before, known := c.State().Hosts[end.host]
		if !known || before.MPTCP == nil {
			return fmt.Errorf("set MPTCP up on %s: %w", end.host, errors.ErrUnsupported)
		}
		defer func() { // also of a set-up that came half way
			_, back := r.lab.Change(context.WithoutCancel(ctx), end.host, nil, func(h *netstate.Host) error {
				return withSubflows(h, end.bond, nil, end.extra, *before.MPTCP)
			})
			err = errors.Join(err, back)
		}()
		if _, err := r.lab.Change(ctx, end.host, nil, func(h *netstate.Host) error {
			return withSubflows(h, end.bond, end.extra, nil, end.want)
		}); err != nil {
			return fmt.Errorf("set MPTCP up on %s: %w", end.host, err)
		}
	}
	if err := c.Observe(ctx); err != nil {
		return err
	}
	return r.campaign(ctx, c, step, m)
}

// withSubflows gives a host's bond addresses, takes others from it, and sets its
// path manager.
func withSubflows(h *netstate.Host, bond string, add, remove []netip.Addr, set netstate.MPTCP) error {
	i := slices.IndexFunc(h.Links, func(l netstate.Link) bool { return l.Name == bond })
	if i < 0 {
		return fmt.Errorf("find bond %s of %s: it is gone", bond, h.Name)
	}
	l := &h.Links[i]
	l.Addresses = slices.DeleteFunc(slices.Clone(l.Addresses), func(p netip.Prefix) bool { return slices.Contains(remove, p.Addr()) })
	for _, a := range add {
		if at := slices.IndexFunc(l.Addresses, func(p netip.Prefix) bool { return p.Contains(a) }); at >= 0 {
			l.Addresses = append(l.Addresses, netip.PrefixFrom(a, l.Addresses[at].Bits()))
		}
	}
	h.MPTCP = &set
	return nil
}

// subflows are what steer chooses for one connection between the measurement's
// hosts, and the hosts' bonds. The switch is as the path says; taken are
// addresses that others have.
func subflows(f predict.Fabric, m scenario.Measurement, taken []netip.Addr) (subflow.Subflows, [2]string, error) {
	fail := func(err error) (subflow.Subflows, [2]string, error) { return subflow.Subflows{}, [2]string{}, err }
	lanes, err := predict.Lanes(f, m.From, m.To, "")
	if err != nil {
		return fail(err)
	}
	req := subflow.SubflowRequest{Client: lanes[0].Src, Server: lanes[0].Dst}
	client, _ := f.Hosts[m.From].LinkWith(req.Client)
	server, _ := f.Hosts[m.To].LinkWith(req.Server)
	near, err := steer.BundleOf(f.Hosts[m.From], client.Name)
	if err != nil {
		return fail(err)
	}
	req.Near, req.Frame = near, flow.Frame{SrcMAC: client.MAC, DstMAC: server.MAC}
	switchHash := hashOf(f, m)
	if switchHash != nil {
		req.BackFar = steer.Declared(*switchHash, len(near.Ports))
	}
	if far, err := steer.BundleOf(f.Hosts[m.To], server.Name); err == nil {
		req.Back = far
		if switchHash != nil {
			req.Far = steer.Declared(*switchHash, len(far.Ports))
		}
	}
	for _, p := range client.Addresses {
		if p.Contains(req.Client) {
			req.Subnet = p.Masked()
		}
	}
	req.Avoid = taken
	plan, err := subflow.Plan(req)
	return plan, [2]string{client.Name, server.Name}, err
}

// addresses are all that a fabric's hosts have.
func addresses(f fabric.Fabric) (all []netip.Addr) {
	for _, h := range f.Hosts {
		state, err := f.State(h.Name)
		if err != nil {
			continue // the host is of this very file
		}
		for _, l := range state.Links {
			for _, p := range l.Addresses {
				all = append(all, p.Addr())
			}
		}
	}
	return all
}

// hashOf is the switch's between the measurement's hosts; nil where the file
// does not say.
func hashOf(f predict.Fabric, m scenario.Measurement) *netstate.HashPolicy {
	for _, p := range f.Paths {
		var said netstate.HashPolicy
		if p.Joins(m.From, m.To) && said.UnmarshalText([]byte(p.SwitchHash)) == nil {
			return &said
		}
	}
	return nil
}
