package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// Link is how full a link was meanwhile.
type Link struct {
	livetraffic.Link
	// Out and In are the shares of what the link carries at most; zero where
	// that is not known.
	Out float64 `json:"out_ratio,omitempty"`
	In  float64 `json:"in_ratio,omitempty"`
	// OutCeiling and InCeiling are payload of full segments.
	OutCeiling unit.BitRate `json:"out_ceiling_bps,omitempty"`
	InCeiling  unit.BitRate `json:"in_ceiling_bps,omitempty"`
	// Bond is the bond that it is a port of, "" none; Unused: the bond leaves
	// it aside by its state.
	Bond   string `json:"bond,omitempty"`
	Unused bool   `json:"unused,omitempty"`
	// Connections counts those that leave by it, of the heaviest.
	Connections int `json:"connections_count,omitempty"`
}

// view is what was watched, ready to be asked.
type view struct {
	watched livetraffic.Watched
	links   map[string]load
	users   map[string]int // connections by outgoing link
}

// load is a link's load in payload.
type load struct {
	out, in               unit.BitRate
	outCeiling, inCeiling unit.BitRate
	outShare, inShare     float64
	// shaper is a rate of the host's own below the link's speed; zero none.
	shaper unit.BitRate
}

func newView(w livetraffic.Watched) *view {
	v := &view{watched: w, links: make(map[string]load), users: make(map[string]int)}
	for _, l := range w.Links {
		if known, ok := w.Host.Link(l.Name); ok {
			v.links[l.Name] = loadOf(known, l)
		}
	}
	for _, f := range w.Flows {
		if at := v.place(f); at.link != "" && f.Outgoing() {
			v.users[at.link]++
		}
	}
	return v
}

// Bytes beside the payload of a TCP packet over IPv4 with timestamps, as
// counters of links see it: without check sum, preamble and gap.
const (
	liveHeaders   = 14 + 20 + 32
	liveFrameLine = 4 + 8 + 12
)

// loadOf turns counters into payload and shares. A virtual link counts
// units of up to 64 KB with one header each, so it is its payload that is set
// against what full segments leave of the rate. A card counts frames, so what
// they take of the line is exact, whatever their size.
func loadOf(l netstate.Link, seen livetraffic.Link) load {
	var load load
	if l.Bond != nil || l.VLAN != nil || l.Bridge != nil {
		l.Speed = 0 // what drivers of such links say is made up of the links below
	}
	incoming := l
	if l.Speed > 0 {
		incoming.Qdiscs = nil
	}
	mtu := l.MTU
	if mtu == 0 {
		mtu = framing.DefaultMTU
	}
	payload := func(rate unit.BitRate, packets float64) unit.BitRate {
		return max(0, rate-unit.FromBytes(packets*liveHeaders, 1))
	}
	load.out, load.in = payload(seen.Tx, seen.TxPackets), payload(seen.Rx, seen.RxPackets)
	load.outCeiling, load.inCeiling = framing.LinkPayload(l, mtu, 0, false), framing.LinkPayload(incoming, mtu, 0, false)
	load.outShare, load.inShare = diagnose.Fraction(load.out, load.outCeiling), diagnose.Fraction(load.in, load.inCeiling)
	if load.outCeiling < load.inCeiling || l.Speed == 0 && ownLimit(l) {
		load.shaper = shaper(l)
	}
	if host.Cabled(l) && l.Speed > 0 {
		line := func(rate unit.BitRate, packets float64) float64 {
			return diagnose.Fraction(rate+unit.FromBytes(packets*liveFrameLine, 1), l.Speed)
		}
		load.outShare, load.inShare = max(load.outShare, line(seen.Tx, seen.TxPackets)), max(load.inShare, line(seen.Rx, seen.RxPackets))
	}
	return load
}

// shaper is the rate of the link's own root queue.
func shaper(l netstate.Link) unit.BitRate {
	for _, q := range l.Qdiscs {
		if q.Parent == "root" && q.Rate > 0 {
			return q.Rate
		}
	}
	return 0
}

// ownLimit reports a root queue that somebody gave a rate to, of a kind that nothing but a
// limit of the host's own is made of: tbf and netem stand for the line as well.
func ownLimit(l netstate.Link) bool {
	return slices.ContainsFunc(l.Qdiscs, func(q netstate.Qdisc) bool { return q.Parent == "root" && q.Rate > 0 && q.Kind == "cake" })
}

// direction is the outgoing link of a connection.
type direction struct {
	link, why string
	bond      string // the bond passed, "" none
	// above are links on the way above the port: the bond, a VLAN.
	above []string
}

// devices are those whose queues a connection's packets pass, the port's first.
func (d direction) devices() []string { return append([]string{d.link}, d.above...) }

// place says which port sends a connection's packets.
func (v *view) place(f livetraffic.Flow) direction {
	h := v.watched.Host
	way := direction{why: f.Way.Doubt}
	if f.Way.Link == "" {
		way.why = f.Way.Why
		if way.why == "" {
			way.why = "its route is not known"
		}
		return way
	}
	if carried, ok := v.inTunnel(f); ok {
		return carried
	}
	ports, _, bond := h.Below(f.Way.Link)
	if bond == nil {
		way.link = f.Way.Link
		if len(ports) == 1 && ports[0].Name != f.Way.Link {
			way.link, way.above = ports[0].Name, []string{f.Way.Link}
		}
		return way
	}
	way.bond, way.above = bond.Name, []string{bond.Name}
	if f.Way.Link != bond.Name {
		way.above = append(way.above, f.Way.Link)
	}
	b, err := steer.BundleOf(h, f.Way.Link)
	if err != nil {
		way.why = err.Error()
		return way
	}
	p := b.Place(f.Frame())
	way.link = p.Link
	if way.why == "" {
		way.why = p.Why
	}
	return way
}

// inTunnel is the way of a connection inside a tunnel: the link that carries the outer
// packets. Which port of a bond that is their own header decides.
func (v *view) inTunnel(f livetraffic.Flow) (direction, bool) {
	l, ok := v.watched.Host.Link(f.Way.Link)
	if !ok {
		return direction{}, false
	}
	below, ok := tunnel.Below(v.watched.Host, l)
	if !ok || below.Tunnel == nil {
		return direction{}, false
	}
	way := direction{link: below.Base.Name, why: f.Way.Doubt}
	for _, passed := range below.Passed {
		way.above = append(way.above, passed.Name)
	}
	if below.Base.Bond != nil {
		way.link, way.bond = "", below.Base.Name
		way.above = append(way.above, below.Base.Name)
		way.why = fmt.Sprintf("it travels inside %s, whose packets the hash of %s spreads by their own header", below.Tunnel.Title(), below.Base.Name)
	}
	return way, true
}

// report lists the links that carried something, the bonds' idle ports
// included, in the order they were read.
func (v *view) report() []Link {
	all := []Link{}
	for _, l := range v.watched.Links {
		load := v.links[l.Name]
		one := Link{Link: l, Out: load.outShare, In: load.inShare, OutCeiling: load.outCeiling, InCeiling: load.inCeiling, Connections: v.users[l.Name]}
		if known, ok := v.watched.Host.Link(l.Name); ok && known.Port != nil {
			one.Bond = known.Port.Bond
			one.Unused = !slices.Contains(v.watched.Host.UsablePorts(one.Bond), l.Name)
		}
		if one.Bond != "" || l.Tx+l.Rx >= leastShown {
			all = append(all, one)
		}
	}
	return all
}

// leastShown is what a link carries at least that is listed.
const leastShown = 10 * unit.Kbps

// most is what a set of links carries at most, together.
func (v *view) most(links []string) (sum unit.BitRate) {
	for _, name := range links {
		sum += v.links[name].outCeiling
	}
	return sum
}

// room is the rate that a connection reaches when its own limit goes: its
// own, and what its link has left. Zero unknown.
func (v *view) room(f livetraffic.Flow, at direction) unit.BitRate {
	load, ok := v.links[at.link]
	if !ok || load.outCeiling == 0 {
		return 0
	}
	return f.Sent + max(0, load.outCeiling-load.out)
}

// alone reports a connection that is most of what its link carries.
func (v *view) alone(f livetraffic.Flow, at direction) bool {
	load, ok := v.links[at.link]
	return ok && f.Sent >= load.out/2
}

// others are the usable ports of a bond besides one, the emptiest first.
func (v *view) others(bond, port string) []string {
	var all []string
	for _, name := range v.watched.Host.UsablePorts(bond) {
		if name != port {
			all = append(all, name)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		switch x, y := v.links[a].outShare, v.links[b].outShare; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return all
}

// loads says how full links are: "eth0 99.2 %, eth1 3.1 %".
func (v *view) loads(names []string) string {
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%s %s", name, diagnose.Percent(v.links[name].outShare)))
	}
	return strings.Join(parts, ", ")
}
