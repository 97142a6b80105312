package measure

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
)

// ByDevice returns the specification with lanes that its senders can use by the
// device that their sockets are bound to: addresses of that device, and those
// of the peer in its subnet, or else those that a route by it leads to. A
// specification with lanes of its own, or without a device, stays as it is. A
// device that leads to no address of the peer is predict.ErrNoLane.
func ByDevice(n Network, spec Spec) (Spec, error) {
	device := spec.Socket.Device
	if _, listens := n.Listeners[spec.To]; device == "" || len(spec.Lanes) > 0 || listens {
		return spec, nil
	}
	forward, reverse := false, false // which of the hosts send
	for _, d := range spec.Direction.Ways() {
		forward, reverse = forward || d == flow.Forward, reverse || d == flow.Reverse
	}
	for _, given := range []bool{false, true} { // the command gives the device, also one left out
		f := n.Fabric
		if given {
			f.Hosts = maps.Clone(f.Hosts)
			f.Hosts[spec.From], f.Hosts[spec.To] = f.Hosts[spec.From].AllUsed(), f.Hosts[spec.To].AllUsed()
		}
		from, to := f.Hosts[spec.From], f.Hosts[spec.To]
		lanes, _ := predict.Lanes(f, spec.From, spec.To, "")
		lanes = slices.DeleteFunc(lanes, func(l flow.Lane) bool {
			return forward && !leavesBy(from, l, device) || reverse && !leavesBy(to, l.Reverse(), device)
		})
		if len(lanes) == 0 && !reverse {
			lanes = routedBy(from, to, device)
		}
		if len(lanes) == 0 && !forward {
			for _, l := range routedBy(to, from, device) {
				lanes = append(lanes, l.Reverse())
			}
		}
		if len(lanes) > 0 {
			spec.Lanes = lanes
			return spec, nil
		}
	}
	return spec, fmt.Errorf("send by %s from %s to %s: %w: %s leads to no address of the other", device, spec.From, spec.To, predict.ErrNoLane, device)
}

// leavesBy reports a lane that leaves a host by a device.
func leavesBy(h netstate.Host, l flow.Lane, device string) bool {
	return slices.ContainsFunc(routing.Facing(h, l.Src, l.Dst), func(f netstate.Link) bool { return f.Name == device })
}

// routedBy pairs the first address of a device with the addresses of a peer to
// which routes by the device lead.
func routedBy(h, peer netstate.Host, device string) []flow.Lane {
	l, _ := h.Link(device)
	var lanes []flow.Lane
	for _, far := range peer.Links {
		for _, p := range far.Addresses {
			dst := p.Addr()
			if far.Loopback() && dst.IsLoopback() || dst.IsLinkLocalUnicast() || !far.MaySend(dst) || holdsAddress(h, dst) || !leads(h, device, dst) {
				continue
			}
			if i := slices.IndexFunc(l.Addresses, func(own netip.Prefix) bool {
				return own.Addr().Is4() == dst.Is4() && !own.Addr().IsLinkLocalUnicast() && l.MaySend(own.Addr())
			}); i >= 0 {
				lanes = append(lanes, flow.Lane{Src: l.Addresses[i].Addr(), Dst: dst})
			}
		}
	}
	return lanes
}

// leads reports a route to an address by a device.
func leads(h netstate.Host, device string, dst netip.Addr) bool {
	return slices.ContainsFunc(h.Routes, func(r netstate.Route) bool {
		return r.Type == "" && r.Dst.IsValid() && r.Dst.Contains(dst) &&
			(r.Link == device || slices.ContainsFunc(r.Hops, func(hop netstate.NextHop) bool { return hop.Link == device && !hop.Dead }))
	})
}

func holdsAddress(h netstate.Host, a netip.Addr) bool {
	_, ok := h.LinkWith(a)
	return ok
}
