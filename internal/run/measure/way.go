package measure

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/steer"
)

// way is one single direction of a trial.
type way struct {
	name     flow.Direction // Forward or Reverse
	from, to string
	lanes    []flow.Lane // as seen from the sender
	streams  int
	proto    flow.Proto // what the hashes of links see
}

// ways splits a trial's direction into what each host sends.
func ways(n Network, spec Spec) ([]way, error) {
	var out []way
	for _, d := range spec.Direction.Ways() {
		w := way{name: d, from: spec.From, to: spec.To, streams: spec.Streams, proto: spec.proto()}
		if d == flow.Reverse {
			w.from, w.to = spec.To, spec.From
		}
		lanes, err := lanesOf(n, spec, d)
		if err != nil {
			return nil, err
		}
		if len(lanes) == 0 {
			return nil, fmt.Errorf("find lanes from %s to %s: no addresses in one subnet and no route", w.from, w.to)
		}
		w.lanes = lanes
		out = append(out, w)
	}
	return out, nil
}

// lanesOf is the lanes of one way of a trial, the sender's address first.
func lanesOf(n Network, spec Spec, d flow.Direction) ([]flow.Lane, error) {
	if len(spec.Lanes) == 0 {
		if d == flow.Reverse {
			return predict.Lanes(n.Fabric, spec.To, spec.From, "")
		}
		return predict.Lanes(n.Fabric, spec.From, spec.To, "")
	}
	lanes := slices.Clone(spec.Lanes)
	if d == flow.Reverse {
		for i := range lanes {
			lanes[i] = lanes[i].Reverse()
		}
	}
	return lanes, nil
}

// lane is the addresses of stream i: streams take turns on the lanes.
func (w way) lane(i int) flow.Lane { return w.lanes[i%len(w.lanes)] }

// egress is the link by which a host sends on a lane; of several, to which an
// address of lo leads, the one with the smallest MTU.
func egress(h netstate.Host, l flow.Lane) (netstate.Link, bool) {
	link := routing.FacingOne(h, l.Src, l.Dst)
	return link, link.Name != ""
}

// only is the one link by which a host faces a peer from an address; false where
// there are several, of which no one here can say which a flow takes.
func only(h netstate.Host, own, peer netip.Addr) (netstate.Link, bool) {
	links := routing.Facing(h, own, peer)
	if len(links) != 1 {
		return netstate.Link{}, false
	}
	return links[0], true
}

// frame is a stream with what the hash of the sender's bond reads besides the
// five-tuple. The peer's MAC is the next hop's only on a common subnet; else
// it stays unknown.
func frame(n Network, w way, t flow.Tuple) flow.Frame {
	f := flow.Frame{Tuple: t}
	if l, ok := only(n.Host(w.from), t.Src, t.Dst); ok {
		f.SrcMAC = l.MAC
		if l.VLAN != nil {
			f.VLAN = uint16(l.VLAN.ID)
		}
		if far, ok := only(n.Host(w.to), t.Dst, t.Src); ok && l.Faces(t.Src, t.Dst) {
			f.DstMAC = far.MAC
		}
	}
	return f
}

// place is the link on which steer puts a connected stream; "" unknown.
func place(n Network, w way, t flow.Tuple) string {
	link, ok := only(n.Host(w.from), t.Src, t.Dst)
	if !ok {
		return ""
	}
	if under, _ := tunnel.Below(n.Host(w.from), link); under.Tunnel != nil {
		if names := allBelow(n.Host(w.from), link); len(names) == 1 {
			return names[0]
		}
		return "" // the outer packet's hash decides
	}
	below, _, bond := n.Host(w.from).Below(link.Name)
	if bond == nil {
		if len(below) == 1 {
			return below[0].Name
		}
		return ""
	}
	bundle, err := steer.BundleOf(n.Host(w.from), link.Name)
	if err != nil {
		return ""
	}
	if p := bundle.Place(frame(n, w, t)); p.Known {
		return p.Link
	}
	return ""
}

// physical is the links that carry a host's part of a trial, without repeats.
func physical(h netstate.Host, lanes []flow.Lane, sending bool) []string {
	var names []string
	seen := make(map[string]bool)
	for _, lane := range lanes {
		if !sending {
			lane = lane.Reverse()
		}
		for _, link := range routing.Facing(h, lane.Src, lane.Dst) {
			for _, name := range allBelow(h, link) {
				names = appendNew(names, seen, name)
			}
		}
	}
	return names
}

// allBelow is every port, usable or not: a port that carries nothing is
// evidence too. Of a tunnel they are those that its packets leave by.
func allBelow(h netstate.Host, link netstate.Link) []string {
	if under, ok := tunnel.Below(h, link); ok {
		link = under.Base
	}
	_, _, bond := h.Below(link.Name)
	if bond != nil {
		return bond.Bond.Ports
	}
	below, _, _ := h.Below(link.Name)
	var names []string
	for _, l := range below {
		names = append(names, l.Name)
	}
	return names
}

func appendNew(names []string, seen map[string]bool, name string) []string {
	if seen[name] {
		return names
	}
	seen[name] = true
	return append(names, name)
}
