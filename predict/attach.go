package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/ovs"
	"github.com/linerate/linerate/steer/system"
	"github.com/linerate/linerate/unit"
)

// attachment is where traffic enters or leaves a host: a bond or a plain
// link, with the ports that carry it.
type attachment struct {
	host  netstate.Host
	base  netstate.Link
	ports []netstate.Link
	caps  []framing.Capacity // by port, in this way's sense
	// bundle is set for bonds; computed is false where the host's hash is not
	// Linux's and ports cannot be chosen for it.
	bundle   *steer.Bundle
	ovs      *ovs.Bond        // of a bond of Open vSwitch
	own      steer.Grouper    // of a bond whose host is not Linux; nil else
	hops     *steer.Multipath // of an attachment that is a route's next hops
	computed bool
}

// attach reads the attachment out of the host. Error: ErrNoLink.
func attach(h netstate.Host, base netstate.Link, transmit bool) (attachment, error) {
	h, base = aggregated(h, base)
	a := attachment{host: h, base: base, ports: []netstate.Link{base}}
	var err error
	if a.ovs, err = ovsOf(h, base); err != nil {
		return a, err
	}
	if base.Bond != nil || a.ovs != nil {
		a.ports = nil
		for _, name := range h.UsablePorts(base.Name) {
			p, _ := h.Link(name)
			a.ports = append(a.ports, p)
		}
	}
	if base.Bond != nil {
		a.bundle, a.computed = bundleOf(h, base)
		a.own, _ = system.OnHost(h, base.Name)
	}
	if base.Bond != nil && len(base.Bond.Ports) == 0 {
		return a, fmt.Errorf("%s on %s has no port: %w", base.Name, h.Name, ErrNoLink)
	}
	if len(a.ports) == 0 {
		return a, fmt.Errorf("%s on %s: no port is up and active: %w", base.Name, h.Name, ErrNoLink)
	}
	if !base.Up || base.Bond == nil && !base.Carrier {
		return a, fmt.Errorf("%s on %s is down or has no carrier: %w", base.Name, h.Name, ErrNoLink)
	}
	for _, p := range a.ports {
		a.caps = append(a.caps, framing.CapacityOf(p, transmit))
	}
	return a, nil
}

func bundleOf(h netstate.Host, base netstate.Link) (*steer.Bundle, bool) {
	b, err := steer.BundleOf(h, base.Name)
	if err == nil {
		return &b, true
	}
	return &steer.Bundle{
		Mode: base.Bond.Mode, Policy: base.Bond.HashPolicy, Ports: h.UsablePorts(base.Name),
		Active: base.Bond.Active, TLBStatic: !base.Bond.TLBDynamic && !base.Bond.Unread("tlb_dynamic_lb"),
	}, false
}

// fixedPort is the port of an attachment that puts every flow on one: its
// active port, the one the hash gives where that is known, or the first.
func (a attachment) fixedPort(f flow.Frame, transmit bool) int {
	if a.bundle == nil {
		return 0
	}
	if i := slices.Index(a.bundle.Ports, a.bundle.Active); i >= 0 {
		return i
	}
	if p := a.bundle.Place(f); transmit && a.computed && p.Known && p.Index >= 0 {
		return p.Index
	}
	return 0
}

// outside counts ports that are up but not in the active aggregator: they
// would carry traffic if LACP let them (bond_update_slave_arr skips them).
func (a attachment) outside() int {
	b := a.base.Bond
	if b == nil || b.Mode != netstate.LACP || b.AD == nil {
		return 0
	}
	n := 0
	for _, name := range b.Ports {
		p, ok := a.host.Link(name)
		if ok && p.Up && p.Port != nil && p.Port.MIIUp && p.Port.AggregatorID != b.AD.ID {
			n++
		}
	}
	return n
}

// unknown is the first port whose speed is unknown; "" when all are known.
func (a attachment) unknown() string {
	for i, c := range a.caps {
		if c.Rate == 0 {
			return a.ports[i].Name
		}
	}
	return ""
}

// payload is what port i carries of the given segments.
func (a attachment) payload(i int, s framing.Segment, tags int) unit.BitRate {
	return unit.BitRate(float64(a.caps[i].Rate) * a.caps[i].Share(s, tags))
}

// slowest is the port with the least capacity, the first of equals.
func (a attachment) slowest() int {
	best := 0
	for i := range a.caps {
		if a.caps[i].Rate < a.caps[best].Rate {
			best = i
		}
	}
	return best
}

// name is "bond0 (a0, a1)" or "ens3".
func (a attachment) name() string {
	if a.base.Bond == nil && a.ovs == nil {
		return a.base.Name
	}
	var ports []string
	for _, p := range a.ports {
		ports = append(ports, p.Name)
	}
	return a.base.Name + " (" + strings.Join(ports, ", ") + ")"
}
