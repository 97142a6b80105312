package steer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// onRoute completes a request whose sender spreads by a route. The side is nil
// where the route is computed, else it asks the kernel: the caller closes it.
func (p *pickFlags) onRoute(ctx context.Context, con *console.Console, req *steer.PickRequest, bundle *bundleFlags, base flow.Frame) (side *routeSide, notes []string, err error) {
	req.Proto, req.SrcMAC, req.DstMAC, req.VLAN = base.Proto, base.SrcMAC, base.DstMAC, base.VLAN
	req.BackSrcMAC, req.BackDstMAC = req.DstMAC, req.SrcMAC
	frames := make([]flow.Frame, len(req.Lanes))
	for i, l := range req.Lanes {
		frames[i] = base
		frames[i].Src, frames[i].Dst = l.Src, l.Dst
	}
	if !p.ecmp.route {
		m, own, err := p.ecmp.resolve(ctx, con, bundle, frames)
		if err != nil {
			return nil, nil, err
		}
		if req.Near = m; !own && prefersSource(m, frames) {
			notes = append(notes, unownedSource)
		}
		avoided, err := p.avoid.apply(ctx, con, req, bundle, own)
		p.streamsOn(req)
		return nil, slices.Concat(notes, weightsNote(m), avoided), err
	}
	if notes, err = p.avoid.apply(ctx, con, req, bundle, true); err != nil {
		return nil, nil, err
	}
	if side, err = openRouteSide(ctx, con, bundle.host, frames); err != nil {
		return nil, nil, err
	}
	if err := side.discover(ctx, *req); err != nil {
		side.Close()
		return nil, nil, err
	}
	req.Near = side.spreader()
	p.streamsOn(req)
	if answered, ok := req.Near.(steer.Answered); ok {
		notes = append(notes, weightsNote(answered.Route)...)
	}
	if links := req.Near.Links(); len(links) == 1 {
		notes = append(notes, side.host.Name+"'s kernel sends all of these flows by "+links[0])
	}
	return side, notes, nil
}

// weightsNote says that even is by count where the next hops differ.
func weightsNote(m steer.Multipath) []string {
	words := make([]string, len(m.Hops))
	for i, h := range m.Hops {
		words[i] = strconv.Itoa(max(h.Weight, 1))
	}
	if len(slices.Compact(slices.Clone(words))) < 2 {
		return nil
	}
	return []string{"the next hops' weights are " + strings.Join(words, ":") + ", and these streams are even by count: as many on each, whatever its weight"}
}

// What is asked of a kernel at first, of each pair of addresses and
// destination port, and at most of all.
const (
	firstQuestions = 512
	mostQuestions  = 1 << 17
)

// routeSide is a sender that spreads by its routes, whose kernel is asked about
// the flows that come into question. Nothing is sent.
type routeSide struct {
	dialed *fleet.Host
	host   netstate.Host
	// route is the main table's route to all destinations, nil where they
	// differ; hops are its living next hops by routeName.
	route *steer.Multipath
	hops  map[string]int
	// answers are routeNames by flow, "" for none that is sure; why is the
	// first reason for one of those.
	answers map[flow.Tuple]string
	links   map[string]string
	why     string
}

// openRouteSide reaches the host and reads its route for the frames.
func openRouteSide(ctx context.Context, con *console.Console, reach string, frames []flow.Frame) (*routeSide, error) {
	t, err := con.Target(reach)
	if err != nil {
		return nil, err
	}
	s := &routeSide{hops: make(map[string]int), answers: make(map[flow.Tuple]string), links: make(map[string]string)}
	if s.host, err = discover.Observe(ctx, con, reach); err != nil {
		return nil, err
	}
	if r, ok := oneRoute(s.host, frames); ok {
		if m, err := steer.MultipathOf(s.host, r); err == nil {
			s.number(m, livingHops(r))
		}
	}
	s.dialed, err = con.Dial(ctx, t)
	return s, err
}

// number takes the route's own order of next hops. A route that names one
// twice has none: an answer tells its name, not which of the two it was.
func (s *routeSide) number(m steer.Multipath, names []string) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return
		}
	}
	s.route = &m
	for i, name := range names {
		s.hops[name] = i
	}
}

// Close ends the connection to the host.
func (s *routeSide) Close() { s.dialed.Close() }

// oneRoute is the main table's route that all frames take.
func oneRoute(h netstate.Host, frames []flow.Frame) (netstate.Route, bool) {
	first := routeTo(h, frames[0].Dst)
	if first == nil {
		return netstate.Route{}, false
	}
	for _, f := range frames[1:] {
		if routeTo(h, f.Dst) != first {
			return netstate.Route{}, false
		}
	}
	return *first, true
}

// livingHops are the routeNames of a route's next hops, as steer.MultipathOf
// counts them.
func livingHops(r netstate.Route) []string {
	if len(r.Hops) == 0 {
		return []string{hopName(r.Link, r.Gateway)}
	}
	var names []string
	for _, hop := range r.Hops {
		if !hop.Dead {
			names = append(names, hopName(hop.Link, hop.Gateway))
		}
	}
	return names
}

// ask asks the kernel about frames.
func (s *routeSide) ask(ctx context.Context, frames []flow.Frame) error {
	tuples := make([]flow.Tuple, len(frames))
	for i, f := range frames {
		tuples[i] = question(f)
	}
	routes, err := routesOf(ctx, s.dialed, s.host.Name, tuples)
	if err != nil {
		return err
	}
	for i, r := range routes {
		why := unsure(r)
		if why != "" {
			s.answers[frames[i].Tuple] = ""
			if s.why == "" {
				s.why = why
			}
			continue
		}
		name := routeName(r)
		s.answers[frames[i].Tuple], s.links[name] = name, r.Link
	}
	return nil
}

// discover asks about the first source ports of each pair of addresses, so that
// there are links to speak of. It fails where the kernel gives no answer.
func (s *routeSide) discover(ctx context.Context, req steer.PickRequest) error {
	full := req
	full.Near, full.Streams = steer.Multipath{Hops: []steer.Hop{{}}}, 1
	full, err := full.Complete()
	if err != nil {
		return console.BadUsage("pick ports: "+err.Error(), "")
	}
	ports := max(1, min(64, mostQuestions/2/len(full.Lanes)))
	var frames []flow.Frame
	for _, l := range full.Lanes {
		for i := range min(ports, int(full.LastPort)-int(full.FirstPort)+1) {
			f := flow.Frame{Tuple: flow.Tuple{Proto: full.Proto, Src: l.Src, Dst: l.Dst, Sport: full.FirstPort + uint16(i), Dport: full.Dports[0]}}
			frames = append(frames, f)
		}
	}
	if err := s.ask(ctx, frames); err != nil {
		return err
	}
	if len(s.links) == 0 {
		return errors.New("pick ports: " + s.host.Name + ": " + s.why)
	}
	return nil
}

// spreader holds the answers so far. Links are those of the main table's route
// where all answers are of it; else, as with policy rules, those that were
// named.
func (s *routeSide) spreader() steer.Spreader {
	names := slices.Sorted(maps.Keys(s.links))
	known := func(name string) bool { _, ok := s.hops[name]; return ok }
	ofRoute := s.route != nil && !slices.ContainsFunc(names, func(name string) bool { return !known(name) })
	number, links := s.hops, []string(nil)
	if ofRoute {
		links = s.route.Links()
	} else {
		number = make(map[string]int)
		for i, name := range names {
			number[name] = i
			links = append(links, name)
		}
	}
	sightings := make([]steer.Sighting, 0, len(s.answers))
	for tuple, name := range s.answers {
		if name != "" {
			sightings = append(sightings, steer.Sighting{Frame: flow.Frame{Tuple: tuple}, Link: number[name]})
		}
	}
	why := s.why
	if why == "" {
		why = notAsked
	}
	table := steer.NewTable(links, sightings, why)
	if ofRoute {
		return steer.Answered{Table: table, Route: *s.route}
	}
	return table
}

// chooser picks streams for a request.
type chooser func(steer.PickRequest) (steer.Picked, *snippet.Snippet, error)

// settle asks about the flows that a choice looks at and could not place, more
// with each round, until it is even.
func (s *routeSide) settle(ctx context.Context, req *steer.PickRequest, choose chooser) (steer.Picked, *snippet.Snippet, error) {
	for depth := max(firstQuestions, 8*req.Streams); ; depth *= 4 {
		c := curious{Spreader: s.spreader(), answered: s.answers, depth: depth, asked: make(map[flow.Tuple]bool), count: make(map[flow.Tuple]int)}
		trial := *req
		trial.Near = &c
		picked, how, err := choose(trial)
		c.wanted = c.wanted[:min(len(c.wanted), max(0, mostQuestions-len(s.answers)))]
		if len(c.wanted) == 0 || err == nil && settled(picked, how) {
			break
		}
		if err := s.ask(ctx, c.wanted); err != nil {
			return picked, nil, fmt.Errorf("pick ports: %w", err)
		}
	}
	req.Near = s.spreader()
	return choose(*req)
}

// settled reports a choice that more answers cannot make better.
func settled(p steer.Picked, how *snippet.Snippet) bool {
	unplaced := func(s steer.Stream) bool { return s.Link < 0 }
	return p.Even && (how == nil || how.Exact) && !slices.ContainsFunc(p.Streams, unplaced)
}

// curious notes which flows a spreader was asked to place and could not: so
// many of each pair of addresses and destination port.
type curious struct {
	steer.Spreader
	answered map[flow.Tuple]string
	depth    int
	asked    map[flow.Tuple]bool
	count    map[flow.Tuple]int
	wanted   []flow.Frame
}

// Place is the spreader's, and notes what it lacks.
func (c *curious) Place(f flow.Frame) steer.Placement {
	p := c.Spreader.Place(f)
	if p.Known || c.asked[f.Tuple] {
		return p
	}
	if _, known := c.answered[f.Tuple]; known {
		return p
	}
	kind := f.Tuple
	kind.Sport = 0
	if c.count[kind] < c.depth {
		c.count[kind]++
		c.asked[f.Tuple] = true
		c.wanted = append(c.wanted, flow.Frame{Tuple: f.Tuple})
	}
	return p
}
