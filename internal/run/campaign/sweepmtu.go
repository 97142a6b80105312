package campaign

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
)

// SweepPlans is what a sweep would do to the hosts, value by value, each from
// the state they are in now; none where it changes nothing.
func (c *Campaign) SweepPlans(s Sweep) ([]plan.Plan, error) {
	var out []plan.Plan
	for _, v := range s.Variants {
		for _, p := range c.state.Paths {
			if v.MTU == 0 || c.reached(p) != nil {
				continue
			}
			plans, err := c.mtuPlans(p, v.MTU)
			if err != nil {
				return nil, err
			}
			out = append(out, plans...)
		}
	}
	return out, nil
}

func (c *Campaign) approve(s Sweep) error {
	plans, err := c.SweepPlans(s)
	if err != nil || len(plans) == 0 || s.Approve == nil {
		return err
	}
	ok, err := s.Approve(plans)
	if err == nil && !ok {
		err = ErrDeclined
	}
	return err
}

// mtuPlans sets the MTU of the links that hold a path's lanes, at both hosts.
func (c *Campaign) mtuPlans(p fabric.Path, mtu int) ([]plan.Plan, error) {
	lanes, err := predict.Lanes(c.state, p.From, p.To, "")
	if err != nil {
		return nil, err
	}
	var out []plan.Plan
	for _, name := range []string{p.From, p.To} {
		host := c.state.Hosts[name]
		desired := host.Clone()
		for _, l := range lanes {
			if name == p.To {
				l = l.Reverse()
			}
			for _, link := range routing.Facing(host, l.Src, l.Dst) {
				raise(&desired, link, mtu)
			}
		}
		pl, err := plan.Between(host, desired)
		if err != nil {
			return nil, fmt.Errorf("plan an MTU of %d for %s: %w", mtu, name, err)
		}
		pl.Host = name
		if len(pl.Steps) > 0 {
			out = append(out, pl)
		}
	}
	return out, nil
}

// raise sets a link's MTU, and that of what it rides on where it is too small:
// others may need a larger one there. A bond sets its ports' itself.
func raise(h *netstate.Host, l netstate.Link, mtu int) {
	const deepest = 8
	set := func(l netstate.Link, to int) {
		l.MTU = to
		h.SetLink(l)
		if l.Bond == nil {
			return
		}
		for _, name := range l.Bond.Ports {
			if port, ok := h.Link(name); ok {
				port.MTU = to
				h.SetLink(port)
			}
		}
	}
	set(l, mtu)
	for range deepest {
		if l.VLAN == nil {
			return
		}
		parent, ok := h.Link(l.VLAN.Parent)
		if !ok {
			return
		}
		if parent.MTU < mtu {
			set(parent, mtu)
		}
		l = parent
	}
}

// mtuSwitch holds a path's hosts at one MTU after the other.
type mtuSwitch struct {
	c       *Campaign
	path    fabric.Path
	now     int // zero: as they were
	changes []change
	// deadline is how long a change may stand.
	deadline time.Duration
}

// to sets the hosts to an MTU, zero to what they had. The change ends with
// this process.
func (s *mtuSwitch) to(ctx context.Context, mtu int) error {
	if mtu == s.now {
		return nil
	}
	if err := s.back(); err != nil || mtu == 0 {
		return err
	}
	plans, err := s.c.mtuPlans(s.path, mtu)
	if err != nil {
		return err
	}
	if s.changes, err = s.c.carryOut(ctx, plans, agentapi.ApplyRequest{Deadline: s.deadline, Temporary: true}); err != nil {
		return err
	}
	s.now = mtu
	return s.c.Observe(ctx)
}

// back puts the hosts back, also when the run was interrupted.
func (s *mtuSwitch) back() error {
	changes := slices.Clone(s.changes)
	s.changes, s.now = nil, 0
	return s.c.revert(changes)
}
