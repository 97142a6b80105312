package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/affine"
	"github.com/linerate/linerate/steer/switchhash"
)

// mostCandidates bounds how many streams a lane's are chosen from.
const mostCandidates = 2048

// occupied is what the sender's new streams must keep clear of.
type occupied struct {
	flows  []flow.Tuple     // streams of this trial
	ports  []uint16         // that sockets of the host hold
	ranges []flow.PortRange // that the host keeps for services
}

// occupiedOn reads which ports the sending host uses and reserves; note says
// why it cannot, for hosts that could tell.
func occupiedOn(ctx context.Context, host string, at ask.Host, proto flow.Proto, flows []flow.Tuple) (o occupied, note string) {
	o.flows = flows
	reply, err := ask.Call(ctx, at, agentapi.Sockets, agentapi.SocketsRequest{Proto: proto, Listening: true})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return o, ""
	case err != nil:
		return o, fmt.Sprintf("ports in use on %s are not known: %v", host, err)
	}
	o.ports, o.ranges = reply.Ports(), reply.Reserved
	return o, ""
}

// choosePorts picks source ports that spread the streams over the sender's
// links, and over the receiver's where its switch's hash is declared. Zeros,
// the kernel's choice, where there is nothing to choose.
func choosePorts(n Network, w way, dport int, o occupied) (ports []uint16, note string, err error) {
	ports = make([]uint16, w.streams)
	d := dealer{near: make(map[string]int), far: make(map[string]int)}
	avoid := slices.Clone(o.ports)
	for k, lane := range w.lanes {
		var mine []int // streams take turns on the lanes
		for i := k; i < w.streams; i += len(w.lanes) {
			mine = append(mine, i)
		}
		s := sidesOf(n, w, lane)
		if len(mine) == 0 || len(s.near.Links()) < 2 && s.far == nil {
			continue // one way only: nothing to choose
		}
		f := frame(n, w, flow.Tuple{Proto: w.transport(), Src: lane.Src, Dst: lane.Dst, Dport: uint16(dport)})
		// Lanes on one bond share its links, so that each lane chooses among
		// more than it needs by what the others have taken.
		candidates := len(mine)
		if len(w.lanes) > 1 {
			candidates = max(candidates, min(candidates*s.ways(), mostCandidates))
		}
		picked, err := steer.Pick(steer.PickRequest{
			Near: s.near, Far: s.far, Lanes: []flow.Lane{lane}, Streams: candidates, Proto: w.transport(), Dport: uint16(dport),
			Used: o.flows, Avoid: avoid, AvoidRanges: o.ranges, SrcMAC: f.SrcMAC, DstMAC: f.DstMAC, VLAN: f.VLAN,
		})
		if err != nil {
			return nil, "", fmt.Errorf("choose ports from %s to %s: %w", w.from, w.to, err)
		}
		for j, sport := range d.deal(picked.Streams, len(mine), s) {
			ports[mine[j]] = sport
			avoid = append(avoid, sport)
		}
		if note == "" {
			note = picked.Why
		}
	}
	return ports, note, nil
}

// sides is what deals a lane's streams out at both ends.
type sides struct {
	near, far         steer.Spreader // far is nil where nothing is declared
	nearName, farName string         // of the devices whose links are shared
}

// ways is how many pairs of links a stream may take.
func (s sides) ways() int {
	ways := max(len(s.near.Links()), 1)
	if s.far != nil {
		ways *= len(s.far.Links())
	}
	return ways
}

func sidesOf(n Network, w way, lane flow.Lane) sides {
	s := sides{near: steer.Declared(netstate.Layer34, 1), far: farSide(n, w, lane)} // one link, unless it is a bond
	if link, ok := egress(n.Host(w.from), lane); ok {
		s.nearName = deviceBelow(n.Host(w.from), link)
		if b, err := steer.BundleOf(n.Host(w.from), link.Name); err == nil && len(b.Ports) > 0 {
			s.near = b
		}
	}
	if link, ok := egress(n.Host(w.to), lane.Reverse()); ok {
		s.farName = deviceBelow(n.Host(w.to), link)
	}
	return s
}

// deviceBelow names the bond under a link, or the one link.
func deviceBelow(h netstate.Host, l netstate.Link) string {
	below, _, bond := h.Below(l.Name)
	switch {
	case bond != nil:
		return bond.Name
	case len(below) == 1:
		return below[0].Name
	}
	return l.Name
}

// dealer counts the streams on each link of both ends, over all lanes.
type dealer struct{ near, far map[string]int }

// deal takes that many of the candidates, each time the first of those whose
// links have least to carry, the sender's first.
func (d dealer) deal(candidates []steer.Stream, streams int, s sides) []uint16 {
	if streams == len(candidates) { // in the order to start them
		ports := make([]uint16, streams)
		for i, c := range candidates {
			ports[i] = d.take(c, s)
		}
		return ports
	}
	var ports []uint16
	for len(ports) < streams {
		best := 0
		for i, c := range candidates {
			if d.load(c, s).less(d.load(candidates[best], s)) {
				best = i
			}
		}
		ports = append(ports, d.take(candidates[best], s))
		candidates = slices.Delete(slices.Clone(candidates), best, best+1)
	}
	return ports
}

func (d dealer) take(c steer.Stream, s sides) uint16 {
	near, far := s.keys(c)
	d.near[near]++
	d.far[far]++
	return c.Sport
}

type load struct{ near, far int }

func (l load) less(m load) bool { return l.near < m.near || l.near == m.near && l.far < m.far }

func (d dealer) load(c steer.Stream, s sides) load {
	near, far := s.keys(c)
	return load{d.near[near], d.far[far]}
}

func (s sides) keys(c steer.Stream) (near, far string) {
	return fmt.Sprint(s.nearName, " ", c.Link), fmt.Sprint(s.farName, " ", c.FarLink)
}

// farSide is the switch's learned or declared hash over the receiver's links; nil when
// neither is there or there is one link only.
func farSide(n Network, w way, lane flow.Lane) steer.Spreader {
	far, ok := egress(n.Host(w.to), lane.Reverse())
	if !ok {
		return nil
	}
	ports, _, _ := n.Host(w.to).Below(far.Name)
	if len(ports) < 2 {
		return nil
	}
	if rule, learned := learnedHash(n, w, lane, ports); learned {
		return rule
	}
	if on, _, declared := switchhash.Declared(switchHash(n, w), len(ports)); declared {
		return on
	}
	return nil
}

// learnedHash is what a probe learned of the switch towards the receiver. On
// another port than the probe's it still says which streams share a link.
func learnedHash(n Network, w way, lane flow.Lane, ports []netstate.Link) (affine.Rule, bool) {
	names := make([]string, len(ports))
	for i, p := range ports {
		names[i] = p.Name
	}
	for _, p := range n.Fabric.Paths {
		if !p.Joins(w.from, w.to) {
			continue
		}
		if rule, ok := affine.Find(p.LearnedTowards(w.to), w.to, flow.LearnedSport, names, lane); ok {
			rule.Shared = true
			return rule, true
		}
	}
	return affine.Rule{}, false
}

// switchHash is what the path declares of the way; a path that names the way
// itself before one that names the way back.
func switchHash(n Network, w way) (word string) {
	for _, p := range n.Fabric.Paths {
		there := p.From == w.from && p.To == w.to
		back := p.From == w.to && p.To == w.from && !p.Directed
		if _, _, declared := switchhash.Declared(p.HashTowards(w.to), 1); !there && !back || !declared {
			continue
		}
		word = p.HashTowards(w.to)
		if there {
			break
		}
	}
	return word
}
