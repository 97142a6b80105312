package predict

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/predict/tiers"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/unit"
)

// way is one single direction of traffic, seen from its sender.
type way struct {
	fabric   Fabric
	traffic  Traffic
	dir      flow.Direction
	path     fabric.Path
	sender   netstate.Host
	receiver netstate.Host
	out, in  side
	legs     []leg
	arrives  float64      // share of packets
	switches []*tiers.Way // by leg; nil where they are not described
}

// side is one host's attachments that the way's lanes use.
type side struct {
	at   []attachment
	uses []use
	// ports is the port of each leg where addresses decide; loose marks an
	// attachment whose lanes were placed without knowing the hash.
	ports []int
	loose []bool
	legs  [][]int // leg numbers by attachment
	cards []int   // how many virtual cards they are of, where each has one port
	// idle are attachments that hold lanes' source addresses while routes
	// lead their traffic out elsewhere.
	idle []attachment
}

// leg is one lane with everything that it passes.
type leg struct {
	lane     flow.Lane // sender's address first
	mtu      int
	outTags  int
	inTags   int
	out, in  int          // attachment numbers
	down, up tunnel.Stack // what lies under the lane's links
	shapers  []shaper
	outer    int // what tunnels add to a frame, the larger of the two ends
}

// shaper is a root qdisc on a device above the ports (a VLAN, a bond).
type shaper struct {
	link string
	rate unit.BitRate
}

// newWay resolves lanes, routes and links. Errors: ErrNoLane, ErrNoLink, ErrMTU.
func newWay(f Fabric, t Traffic, d flow.Direction) (*way, error) {
	lanes := t.Lanes
	if lanes == nil {
		var err error
		if lanes, err = Lanes(f, t.From, t.To, f.family(t.From, t.To)); err != nil {
			return nil, err
		}
	}
	w := &way{fabric: f, traffic: t, dir: d, sender: f.Hosts[t.From], receiver: f.Hosts[t.To]}
	from, to := t.From, t.To
	if d == flow.Reverse {
		w.sender, w.receiver = w.receiver, w.sender
		from, to = to, from
	}
	w.path = f.pathBetween(from, to)
	for _, lane := range lanes {
		if d == flow.Reverse {
			lane = lane.Reverse()
		}
		if err := w.addLeg(lane); err != nil {
			return nil, fmt.Errorf("predict %s to %s: %w", from, to, err)
		}
	}
	for _, l := range w.legs {
		if s := w.segment(l); s.Payload() == 0 {
			return nil, fmt.Errorf("predict %s to %s: an MTU of %d on %s, %d bytes of headers: %w", from, to, s.Mtu, l.lane, s.Headers, ErrMTU)
		}
	}
	if len(w.legs) == 0 {
		return nil, fmt.Errorf("predict %s to %s: %w", from, to, ErrNoLane)
	}
	w.resolve()
	return w, nil
}

// family is the address family that the pair's path asks for.
func (f Fabric) family(from, to string) string {
	if p := f.pathBetween(from, to); p.Family != "" {
		return p.Family
	}
	return f.pathBetween(to, from).Family
}

// pair is the same way over every lane of the two hosts, for the ceiling.
func (w *way) pair() *way {
	if w.traffic.Lanes == nil {
		return w
	}
	lanes, err := Lanes(w.fabric, w.traffic.From, w.traffic.To, w.fabric.family(w.traffic.From, w.traffic.To))
	if err != nil {
		return w
	}
	all := w.traffic
	all.Lanes = append([]flow.Lane(nil), w.traffic.Lanes...)
	for _, l := range lanes {
		if !slices.Contains(all.Lanes, l) {
			all.Lanes = append(all.Lanes, l)
		}
	}
	if wide, err := newWay(w.fabric, all, w.dir); err == nil {
		return wide
	}
	return w
}

func (w *way) addLeg(lane flow.Lane) error {
	holder, ok := w.sender.LinkWith(lane.Src)
	if !ok {
		return fmt.Errorf("address %s is not on %s: %w", lane.Src, w.sender.Name, ErrNoLane)
	}
	arrivals := routing.Facing(w.receiver, lane.Dst, lane.Src)
	if _, ok := w.receiver.LinkWith(lane.Dst); !ok {
		return fmt.Errorf("address %s is not on %s: %w", lane.Dst, w.receiver.Name, ErrNoLane)
	}
	if len(arrivals) == 0 {
		return fmt.Errorf("no route of %s leads from %s to %s: %w", w.receiver.Name, lane.Dst, lane.Src, ErrNoLink)
	}
	arrival := routing.FacingOne(w.receiver, lane.Dst, lane.Src)
	departure := holder
	if l, _, ok := routing.Egress(w.sender, lane.Src, lane.Dst); ok {
		departure = l
	}
	if w.sender.LeadsNowhere(departure) {
		return fmt.Errorf("no route of %s leads from %s to %s: %w", w.sender.Name, lane.Src, lane.Dst, ErrNoLink)
	}
	down, okOut := tunnel.Below(w.sender, departure)
	up, okIn := tunnel.Below(w.receiver, arrival)
	if !okOut || !okIn {
		return fmt.Errorf("lane %s rides on a link that is missing: %w", lane, ErrNoLink)
	}
	l := leg{lane: lane, down: down, up: up, mtu: down.Whole(up.Whole(mtuOf(departure, arrival))), outTags: down.Tags, inTags: up.Tags, shapers: shapersOn(down), outer: max(down.Outer, up.Outer)}
	var err error
	if m, links, several := multipath(w.sender, lane.Src, lane.Dst); several {
		l.out = w.out.addHops(hops(w.sender, &m, links, true))
	} else if l.out, err = w.out.add(w.sender, down.Base, true); err != nil {
		return err
	}
	if len(arrivals) > 1 && allPlain(arrivals) {
		l.in = w.in.addHops(hops(w.receiver, nil, arrivals, false))
	} else if l.in, err = w.in.add(w.receiver, up.Base, false); err != nil {
		return err
	}
	if own, ok := tunnel.Below(w.sender, holder); ok && own.Base.Name != down.Base.Name && !w.sender.LeadsNowhere(own.Base) {
		w.out.addIdle(w.sender, own.Base)
	}
	w.legs = append(w.legs, l)
	return nil
}

// mtuOf is the smaller known MTU of the two ends, which TCP's MSS option
// settles on (RFC 9293 section 3.7.1); Ethernet's default when neither is known.
func mtuOf(a, b netstate.Link) int {
	switch {
	case a.MTU > 0 && b.MTU > 0:
		return min(a.MTU, b.MTU)
	case a.MTU > 0 || b.MTU > 0:
		return max(a.MTU, b.MTU)
	}
	return framing.DefaultMTU
}

func shapersOn(s tunnel.Stack) []shaper {
	var found []shaper
	devices := s.Passed
	if s.Base.Bond != nil {
		devices = append(slices.Clone(devices), s.Base)
	}
	for _, l := range devices {
		if rate := framing.RootRate(l); rate > 0 {
			found = append(found, shaper{link: l.Name, rate: rate})
		}
	}
	return found
}

// add returns the number of the base's attachment, new or known.
func (s *side) add(h netstate.Host, base netstate.Link, transmit bool) (int, error) {
	for i, a := range s.at {
		if a.base.Name == base.Name {
			return i, nil
		}
	}
	a, err := attach(h, base, transmit)
	if err != nil {
		return 0, err
	}
	s.at = append(s.at, a)
	return len(s.at) - 1, nil
}

// addHops is add of a route's next hops.
func (s *side) addHops(a attachment) int {
	for i, known := range s.at {
		if known.base.Name == a.base.Name {
			return i
		}
	}
	s.at = append(s.at, a)
	return len(s.at) - 1
}

// addIdle notes an attachment that routes leave unused. One without a usable
// link is no loss.
func (s *side) addIdle(h netstate.Host, base netstate.Link) {
	if slices.ContainsFunc(s.idle, func(a attachment) bool { return a.base.Name == base.Name }) {
		return
	}
	if a, err := attach(h, base, true); err == nil {
		s.idle = append(s.idle, a)
	}
}

// resolve settles how each attachment spreads flows and where lanes go.
func (w *way) resolve() {
	for _, a := range w.out.at {
		w.out.uses = append(w.out.uses, a.transmitUse())
	}
	for _, a := range w.in.at {
		w.in.uses = append(w.in.uses, a.receiveUse(w.path, w.ipv6()))
	}
	w.tunnelUses()
	w.overSwitches()
	w.out.place(w, true, func(l leg) (int, netip.Addr) { return l.out, l.lane.Dst })
	w.in.place(w, false, func(l leg) (int, netip.Addr) { return l.in, l.lane.Src })
	w.arrives = w.losses().arriving()
	w.out.idle = slices.DeleteFunc(w.out.idle, func(a attachment) bool {
		return slices.ContainsFunc(w.out.at, func(b attachment) bool { return a.base.Name == b.base.Name })
	})
}

// ipv6 reports lanes of that family.
func (w *way) ipv6() bool {
	return slices.ContainsFunc(w.legs, func(l leg) bool { return !l.lane.Dst.Unmap().Is4() })
}

// place gives each leg its port on attachments where addresses decide, or
// nothing does. End
// says which attachment a leg uses and the peer address that counts.
func (s *side) place(w *way, transmit bool, end func(leg) (int, netip.Addr)) {
	s.ports = make([]int, len(w.legs))
	s.loose = make([]bool, len(s.at))
	s.legs, s.cards = make([][]int, len(s.at)), make([]int, len(s.at))
	for n := range s.at {
		var frames []flow.Frame
		var members, peers []int
		var known []netip.Addr
		if s.uses[n].cards {
			end = cardsOf(end, transmit)
		}
		for i, l := range w.legs {
			at, peer := end(l)
			if at != n {
				continue
			}
			if !slices.Contains(known, peer) {
				known = append(known, peer)
			}
			members, peers = append(members, i), append(peers, slices.Index(known, peer))
			frames = append(frames, w.frame(l))
		}
		s.legs[n], s.cards[n] = members, len(known)
		if s.uses[n].spread == onePort {
			for k, leg := range members {
				s.ports[leg] = s.onePort(n, frames[k], transmit)
			}
		}
		if s.uses[n].spread != byAddress {
			continue
		}
		if s.uses[n].byVLAN {
			var tags []int
			for k, f := range frames {
				own := f.Src
				if !transmit {
					own = f.Dst
				}
				tag := s.at[n].host.TagOf(own)
				if !slices.Contains(tags, tag) {
					tags = append(tags, tag)
				}
				peers[k] = slices.Index(tags, tag)
			}
		}
		ports, err := s.uses[n].lanePorts(frames, peers, len(s.at[n].ports))
		if rule := s.uses[n].learned; rule != nil {
			if placed, unplaced := s.at[n].learnedPorts(*rule, frames); unplaced == nil {
				ports, err = placed, nil
			} else {
				err = unplaced
			}
		}
		s.loose[n] = err != nil
		for k, leg := range members {
			s.ports[leg] = ports[k]
		}
	}
}

// cardsOf is end with the host's own address in the peer's place.
func cardsOf(end func(leg) (int, netip.Addr), transmit bool) func(leg) (int, netip.Addr) {
	return func(l leg) (int, netip.Addr) {
		at, _ := end(l)
		if transmit {
			return at, l.lane.Src
		}
		return at, l.lane.Dst
	}
}

// onePort is the port of an attachment that puts every flow of the pair on one.
func (s *side) onePort(n int, f flow.Frame, transmit bool) int {
	if hash := s.uses[n].hash; hash != nil {
		if p := hash.Place(f); p.Known && p.Index >= 0 {
			return p.Index
		}
	}
	return s.at[n].fixedPort(f, transmit)
}

// frame is the lane's frame as far as addresses go. The next hop is the
// receiver itself on one subnet, and unknown behind a router.
func (w *way) frame(l leg) flow.Frame {
	f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: l.lane.Src, Dst: l.lane.Dst}}
	f.SrcMAC = w.out.at[l.out].base.MAC
	if holder, ok := w.sender.LinkWith(l.lane.Src); ok {
		for _, p := range holder.Addresses {
			if p.Contains(l.lane.Dst) {
				f.DstMAC = w.in.at[l.in].base.MAC
			}
		}
	}
	return f
}

// segment is the full segment that a leg sends.
func (w *way) segment(l leg) framing.Segment {
	ipv6 := !l.lane.Dst.Unmap().Is4()
	return framing.Segment{Mtu: l.mtu, Headers: framing.Headers(w.traffic.protocol(), ipv6, w.timestamps()), Outer: l.outer}
}

func (t Traffic) protocol() string {
	if t.Protocol == "" {
		return "tcp"
	}
	return t.Protocol
}

// timestamps are used unless one end is known to refuse them (RFC 7323).
func (w *way) timestamps() bool {
	refuses := func(known map[string]netstate.Sysctl) bool {
		return strings.TrimSpace(known["net.ipv4.tcp_timestamps"].Value) == "0"
	}
	return !refuses(w.sender.Sysctls) && !refuses(w.receiver.Sysctls)
}

// WireShare is the bytes in frames for one byte of payload; zero unknown.
func WireShare(f Fabric, t Traffic) float64 {
	w, err := newWay(f, t, t.Direction.Ways()[0])
	if err != nil {
		return 0
	}
	seg := w.segment(w.legs[0])
	if seg.Payload() == 0 {
		return 0
	}
	return float64(seg.Frame(netstate.FramingL2, 0)) / float64(seg.Payload())
}
