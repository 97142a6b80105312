package campaign

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/internal/run/pathmtu"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
)

// seen is what hosts and the network between them answered, once for all trials
// of one state: hosts that are observed anew are asked anew.
type seen struct {
	mu     sync.Mutex
	routes map[sent]record.RouteTaken
	sizes  map[wire]record.SizeProbe
}

// sent is a host's packets from one address to another.
type sent struct {
	host     string
	src, dst netip.Addr
}

// wire is a way between two hosts by the links at its ends.
type wire struct{ from, link, to, far string }

func (s *seen) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes, s.sizes = nil, nil
}

// answered keeps where kernels said that packets leave.
func (s *seen) answered(ends []pathcheck.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.routes == nil {
		s.routes = make(map[sent]record.RouteTaken)
	}
	for _, e := range ends {
		s.routes[sent{e.Host.Name, e.Own, e.Peer}] = record.RouteTaken{Host: e.Host.Name, Src: e.Own, Dst: e.Peer, Link: e.Route.Link, Why: e.Route.Why}
	}
}

// evidence adds to a trial what the hosts say of its packets' ways: the links
// that the senders' kernels name, and where full packets may have been lost,
// which sizes get through.
func (c *Campaign) evidence(ctx context.Context, t *record.Trial) {
	t.Routes = c.routesTaken(ctx, *t)
	if t.Protocol == "udp" || !measure.Doubtful(*t, c.fullSegment(*t)) {
		return
	}
	sizes, err := c.sizes(ctx, *t)
	t.Sizes = sizes
	if err != nil {
		t.Notes = append(t.Notes, "packet sizes not probed: "+err.Error())
	}
}

// routesTaken are the answers of a trial's senders, one for each lane, in the
// order of the lanes. A host that cannot say is left out.
func (c *Campaign) routesTaken(ctx context.Context, t record.Trial) []record.RouteTaken {
	var out []record.RouteTaken
	done := make(map[sent]bool)
	asked := false
	for _, l := range t.Lanes {
		at := sent{c.senderOf(t, l), l.Src, l.Dst}
		if done[at] || c.hosts[at.host] == nil {
			continue
		}
		done[at] = true
		route, known := c.seen.route(at)
		if !known && !asked {
			asked = true
			c.askRoutes(ctx, t)
			route, known = c.seen.route(at)
		}
		if known {
			out = append(out, route)
		}
	}
	return out
}

func (s *seen) route(at sent) (record.RouteTaken, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.routes[at]
	return r, ok
}

// askRoutes asks about the lanes of a trial. What a host does not answer is
// not known.
func (c *Campaign) askRoutes(ctx context.Context, t record.Trial) {
	var lanes []flow.Lane
	have := make(map[flow.Lane]bool)
	for _, l := range t.Lanes {
		lane := l.Lane
		if l.Way == flow.Reverse {
			lane = lane.Reverse()
		}
		if !have[lane] {
			have[lane] = true
			lanes = append(lanes, lane)
		}
	}
	ends, err := measure.RouteEnds(ctx, c.network(), t.From, t.To, lanes)
	if err != nil && c.cfg.Fleet.Logger != nil {
		c.cfg.Fleet.Logger.WarnContext(ctx, "routes not known", "from", t.From, "to", t.To, "error", err)
	}
	c.seen.answered(ends)
}

func (c *Campaign) senderOf(t record.Trial, l record.Lane) string {
	if l.Way == flow.Reverse {
		return t.To
	}
	return t.From
}

// fullSegment is the payload of a segment that fills the smaller MTU of a
// trial's two ends; zero where it is not known.
func (c *Campaign) fullSegment(t record.Trial) int {
	if len(t.Lanes) == 0 {
		return 0
	}
	w, ok := c.wayOf(t, t.Lanes[0])
	if !ok || w.MTU == 0 {
		return 0
	}
	return w.MTU - framing.HeaderBytes("tcp", w.Lane.Src.Is6())
}

// wayOf is a lane's way from its sender, with the size that TCP would send: the
// smaller of the two ends' MTU.
func (c *Campaign) wayOf(t record.Trial, l record.Lane) (pathmtu.Way, bool) {
	from, to := t.From, t.To
	if l.Way == flow.Reverse {
		from, to = to, from
	}
	near, far := routing.FacingOne(c.state.Hosts[from], l.Src, l.Dst), routing.FacingOne(c.state.Hosts[to], l.Dst, l.Src)
	if near.Name == "" || far.Name == "" {
		return pathmtu.Way{}, false
	}
	w := pathmtu.Way{From: from, To: to, Lane: l.Lane, Link: near.Name, MTU: near.MTU}
	if far.MTU > 0 && far.MTU < w.MTU {
		w.MTU = far.MTU
	}
	for _, at := range [...]struct{ host, link string }{{from, near.Name}, {to, far.Name}} {
		ports, _, _ := c.state.Hosts[at.host].Below(at.link)
		w.Links = max(w.Links, len(ports))
	}
	return w, true
}

// sizing is the longest that looking for the size of packets may take.
const sizing = 12 * time.Second

// sizes sends single packets both ways over every pair of links that a trial's
// lanes use, of the size that TCP would send, and smaller ones where those do
// not come back. It returns what there is, and an error where a host may not
// send them.
func (c *Campaign) sizes(ctx context.Context, t record.Trial) ([]record.SizeProbe, error) {
	ctx, cancel := context.WithTimeout(ctx, sizing)
	defer cancel()
	ways := c.waysOf(t)
	out, errs := make([]record.SizeProbe, len(ways)), make([]error, len(ways))
	var wg sync.WaitGroup
	for i, w := range ways {
		wg.Go(func() { out[i], errs[i] = c.size(ctx, w) })
	}
	wg.Wait()
	var known []record.SizeProbe
	var failed error
	for i, err := range errs {
		if err == nil {
			known = append(known, out[i])
		} else if failed == nil {
			failed = err
		}
	}
	return known, failed
}

// waysOf are the ways of a trial's lanes, there and back, each pair of links
// once.
func (c *Campaign) waysOf(t record.Trial) []pathmtu.Way {
	var out []pathmtu.Way
	have := make(map[wire]bool)
	for _, l := range t.Lanes {
		back := l
		back.Lane = l.Reverse()
		back.Way = flow.Forward
		if l.Way == flow.Forward {
			back.Way = flow.Reverse
		}
		for _, one := range []record.Lane{l, back} {
			w, ok := c.wayOf(t, one)
			if ok && c.hosts[w.From] != nil && !have[c.wire(w)] {
				have[c.wire(w)] = true
				out = append(out, w)
			}
		}
	}
	return out
}

func (c *Campaign) wire(w pathmtu.Way) wire {
	far := routing.FacingOne(c.state.Hosts[w.To], w.Lane.Dst, w.Lane.Src)
	return wire{w.From, w.Link, w.To, far.Name}
}

// size proves one way, once for each state.
func (c *Campaign) size(ctx context.Context, w pathmtu.Way) (record.SizeProbe, error) {
	at := c.wire(w)
	c.seen.mu.Lock()
	before, there := c.seen.sizes[at]
	c.seen.mu.Unlock()
	if there {
		return before, nil
	}
	p, err := pathmtu.Prove(ctx, c.hosts[w.From], w)
	if err != nil {
		return record.SizeProbe{}, fmt.Errorf("send single packets: %w", err)
	}
	s := sizeProbe(p)
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	if c.seen.sizes == nil {
		c.seen.sizes = make(map[wire]record.SizeProbe)
	}
	c.seen.sizes[at] = s
	return s, nil
}

func sizeProbe(p diagnosehost.PathProbe) record.SizeProbe {
	return record.SizeProbe{
		From: p.From, To: p.To, Link: p.Link, Src: p.Lane.Src, Dst: p.Lane.Dst, MTU: p.MTU,
		Answers: p.Answers, Sent: p.Sent, Passed: p.Passed, Passes: p.Passes, Named: p.Named,
	}
}
