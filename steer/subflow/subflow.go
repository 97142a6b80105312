// Package subflow plans the subflows of one MPTCP connection: which addresses
// and ports put them on different links, or with what chance.
package subflow

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// SubflowRequest asks for addresses under which the subflows of one MPTCP
// connection use all links.
type SubflowRequest struct {
	// Near spreads what the client, the host that connects, sends; required.
	// Far is how what arrives at the server is spread over its links, Back how
	// the server's own packets are as they leave it, BackFar how those that
	// arrive at the client are; nil unknown.
	Near, Far, Back, BackFar steer.Spreader
	// Client and Server are the addresses of the first subflow.
	Client, Server netip.Addr
	// Subnet is where new addresses come from, Avoid those in use by others.
	Subnet netip.Prefix
	Avoid  []netip.Addr
	// Subflows is the number wanted, the first included, up to MostSubflows;
	// zero is one a link, and as many as there can be where chance decides.
	Subflows int
	// Frame is what all subflows have in common towards the server: port, VLAN,
	// MAC addresses of the client and of its next hop. BackSrcMAC and
	// BackDstMAC are the server's and its next hop's; zero takes those of Frame
	// the other way round, as on one subnet.
	Frame                  flow.Frame
	BackSrcMAC, BackDstMAC flow.MAC
	// ClientBefore and ServerBefore are what the path managers are set to; nil
	// is what Linux starts with.
	ClientBefore, ServerBefore *netstate.MPTCP
}

// MostSubflows is the most that a connection can have under Linux's in-kernel
// path manager.
const MostSubflows = 1 + netstate.MPTCPMax

// Subflow is one of a connection's TCP flows and its links, which count from
// 0 in each spreader's order; -1 where the number is not known.
type Subflow struct {
	flow.Lane
	Link, FarLink, BackLink, BackFarLink int
	// Group numbers the client's links by first appearance where only the
	// sharing is known; -1 where that is not either.
	Group int
}

// Subflows is a plan for one MPTCP connection. The same request always gives
// the same plan.
type Subflows struct {
	// Flows are the subflows, the first one first.
	Flows []Subflow
	// AddNear and AddFar are the addresses to add to client and server.
	AddNear, AddFar []netip.Addr
	// Client and Server are the limits to set and the endpoints to add, with
	// the numbers to add them under.
	Client, Server netstate.MPTCP
	// PerLink counts subflows on each link of the client; where the links'
	// numbers are not known it counts groups that share one. Nil where chance
	// decides. The others are nil without their spreader too.
	PerLink, FarPerLink, BackPerLink, BackFarPerLink []int
	// Chances are the sides where the kernel's choice of ports decides.
	Chances []Chance
	// Even: on every side given, counts differ by one at most, for certain.
	Even bool
	// Relative: the client's links are told apart, but their numbers are not
	// known.
	Relative bool
	// Why says what stands in the way of even use, Remedy what would mend it;
	// "" when nothing does.
	Why, Remedy string
}

// Plan chooses aliases and endpoints under which the subflows of a
// connection fall evenly on the links: aliases of the client from which it
// opens subflows, or, where those cannot reach all links, aliases of the
// server that it announces. Errors: a request that makes no sense,
// NoSpreadError where one connection cannot use more than one link.
func Plan(req SubflowRequest) (Subflows, error) {
	req, err := req.complete()
	if err != nil {
		return Subflows{}, fmt.Errorf("plan subflows: %w", err)
	}
	if err := req.hopeless(); err != nil {
		return Subflows{}, fmt.Errorf("plan subflows: %w", err)
	}
	best, err := req.plan(steer.SideNear)
	if err == nil && (best.Even || len(best.Chances) > 0) {
		return best, nil
	}
	other, otherErr := req.plan(steer.SideFar)
	switch {
	case err != nil && otherErr != nil:
		return Subflows{}, fmt.Errorf("plan subflows: %w", clearer(err, otherErr))
	case err != nil, otherErr == nil && other.better(best):
		return other, nil
	}
	return best, nil
}

// clearer is the error that says more: a request without room for aliases
// says less than why no aliases help.
func clearer(a, b error) error {
	var none *steer.NoSpreadError
	if errors.As(b, &none) && !errors.As(a, &none) {
		return b
	}
	return a
}

// better reports a plan that is even where the other is not, or else uses more
// of the client's links.
func (s Subflows) better(than Subflows) bool {
	if s.Even != than.Even {
		return s.Even
	}
	return used(s.PerLink) > used(than.PerLink)
}

// used is how many links carry anything.
func used(counts []int) (n int) {
	for _, c := range counts {
		if c > 0 {
			n++
		}
	}
	return n
}

func (req SubflowRequest) complete() (SubflowRequest, error) {
	switch {
	case req.Near == nil || len(req.Near.Links()) == 0:
		return req, errors.New("no usable link")
	case !req.Client.IsValid() || !req.Server.IsValid():
		return req, errors.New("the addresses of both hosts are needed")
	case steer.Is6(req.Client) != steer.Is6(req.Server):
		return req, fmt.Errorf("%s and %s are of different families", req.Client, req.Server)
	case req.Subflows < 0 || req.Subflows > MostSubflows:
		return req, fmt.Errorf("%d subflows: want 1 to %d, the most that Linux's path manager makes", req.Subflows, MostSubflows)
	}
	req.Frame.Proto, req.Frame.Sport = flow.TCP, 0
	if req.BackSrcMAC.IsZero() {
		req.BackSrcMAC = req.Frame.DstMAC
	}
	if req.BackDstMAC.IsZero() {
		req.BackDstMAC = req.Frame.SrcMAC
	}
	if req.Subflows == 0 {
		req.Subflows = req.enough()
	}
	return req, nil
}

// enough is how many subflows there are by default.
func (req SubflowRequest) enough() int {
	most := 1
	for _, v := range req.sides() {
		if byChance(v.s) {
			return MostSubflows
		}
		most = max(most, len(v.s.Links()))
	}
	return min(most, MostSubflows)
}

// subflowSide is a spreader with the words before what is said of it.
type subflowSide struct {
	s     steer.Spreader
	label string
	at    steer.Spot
}

// sides are the spreaders given, the way to the server first.
func (req SubflowRequest) sides() []subflowSide {
	return slices.DeleteFunc([]subflowSide{
		{req.Near, "", steer.AtNear}, {req.Far, "far side: ", steer.AtFar}, {req.Back, "return path: ", steer.AtBack}, {req.BackFar, "far side of the return path: ", steer.AtBackFar},
	}, func(v subflowSide) bool { return v.s == nil })
}

// hopeless is the error of hosts between which one connection is bound to one
// link, whatever its subflows, or uses all without any.
func (req SubflowRequest) hopeless() error {
	for _, v := range req.sides() {
		reach := v.s.Reach()
		switch {
		case v.at == steer.AtNear && reach.Striped:
			return &steer.NoSpreadError{Why: reach.Why, Remedy: steer.RemedyFor(v.s)}
		case v.at >= steer.AtBack, reach.Striped, reach.Ports, reach.Addresses:
			continue
		}
		return &steer.NoSpreadError{Why: v.label + reach.Why, Remedy: steer.RemedyFor(v.s)}
	}
	return nil
}

// decided is a spreader that addresses decide; nil where ports do.
func decided(s steer.Spreader) steer.Spreader {
	if s == nil || byChance(s) {
		return nil
	}
	return s
}

// plan is the plan with aliases on one side.
func (req SubflowRequest) plan(aliases steer.Side) (Subflows, error) {
	avoid := slices.Clone(req.Avoid)
	var first Subflows
	// The one side that the choice of addresses does not look at may ask for
	// another choice; a few are tried.
	for attempt := range 32 {
		s, err := req.planAvoiding(aliases, avoid)
		if err != nil {
			if attempt > 0 {
				return first, nil
			}
			return s, err
		}
		if attempt == 0 {
			first = s
		}
		added := append(slices.Clone(s.AddNear), s.AddFar...)
		if s.Even || !first.mendable() || len(added) == 0 {
			if s.Even {
				return s, nil
			}
			return first, nil
		}
		avoid = append(avoid, added[attempt%len(added)])
	}
	return first, nil
}

// mendable reports that only the far side of the return path is uneven, and that
// other addresses may mend it.
func (s Subflows) mendable() bool {
	return len(s.Chances) == 0 && s.BackFarPerLink != nil && !steer.Evenly(s.BackFarPerLink)
}

func (req SubflowRequest) planAvoiding(aliases steer.Side, avoid []netip.Addr) (Subflows, error) {
	chosen, err := req.addresses(aliases, avoid)
	if err != nil {
		return Subflows{}, err
	}
	s := Subflows{
		AddNear: chosen.AddNear, AddFar: chosen.AddFar, Even: chosen.Even, Relative: chosen.Relative,
		FarPerLink: chosen.FarPerLink, BackPerLink: chosen.BackPerLink,
	}
	if decided(req.Near) != nil {
		s.PerLink = chosen.PerLink
	}
	for _, l := range chosen.Lanes {
		s.Flows = append(s.Flows, Subflow{Lane: l.Lane, Link: l.Link, FarLink: l.FarLink, BackLink: l.BackLink, BackFarLink: -1, Group: l.Group})
	}
	if decided(req.Near) == nil {
		for i := range s.Flows {
			s.Flows[i].Link, s.Flows[i].Group = -1, -1
		}
	}
	reasons := []string{chosen.Why}
	reasons = append(reasons, s.placeBackFar(req))
	reasons = append(reasons, s.weigh(req))
	if n := len(req.Near.Links()); n > len(s.Flows) {
		s.Even = false
		reasons = append(reasons, fmt.Sprintf("%d subflows reach %d of %d links at the most", len(s.Flows), len(s.Flows), n))
	}
	s.Why = strings.Join(slices.DeleteFunc(reasons, func(r string) bool { return r == "" }), "; ")
	if !s.Even {
		s.Remedy = req.remedy(s)
	}
	s.settings(req)
	return s, nil
}

// addresses chooses the lanes: by what addresses decide, or, where nothing
// is, the first that are free.
func (req SubflowRequest) addresses(aliases steer.Side, avoid []netip.Addr) (steer.Addresses, error) {
	ask := steer.AddressRequest{
		Near: decided(req.Near), Far: decided(req.Far), Back: decided(req.Back), Side: aliases,
		Src: req.Client, Dst: req.Server, Subnet: req.Subnet, Avoid: avoid, Lanes: req.Subflows,
		Frame: req.Frame, BackSrcMAC: req.BackSrcMAC, BackDstMAC: req.BackDstMAC,
	}
	anyDecided := ask.Near != nil || ask.Far != nil || ask.Back != nil
	if ask.Near == nil {
		ask.Near = steer.Declared(netstate.Layer2, 1) // one link: no say in the choice
	}
	if anyDecided {
		return steer.PickAddresses(ask)
	}
	ask, err := ask.Complete()
	if err != nil {
		return steer.Addresses{}, err
	}
	free, _ := ask.Free(req.Subflows - 1)
	if len(free) < req.Subflows-1 {
		return steer.Addresses{}, fmt.Errorf("%s has room for %d more addresses, not %d", req.Subnet, len(free), req.Subflows-1)
	}
	out := steer.Addresses{Even: true}
	for _, lane := range append([]flow.Lane{{Src: req.Client, Dst: req.Server}}, lanesTo(free, aliases, req)...) {
		out.Lanes = append(out.Lanes, steer.AddressLane{Lane: lane, Link: -1, FarLink: -1, BackLink: -1, Group: -1})
	}
	if aliases == steer.SideNear {
		out.AddNear = free
	} else {
		out.AddFar = free
	}
	return out, nil
}

func lanesTo(free []netip.Addr, aliases steer.Side, req SubflowRequest) []flow.Lane {
	var lanes []flow.Lane
	for _, a := range free {
		if aliases == steer.SideNear {
			lanes = append(lanes, flow.Lane{Src: a, Dst: req.Server})
		} else {
			lanes = append(lanes, flow.Lane{Src: req.Client, Dst: a})
		}
	}
	return lanes
}

// placeBackFar says where the subflows arrive at the client, and what stands
// in the way.
func (s *Subflows) placeBackFar(req SubflowRequest) (why string) {
	side := decided(req.BackFar)
	if side == nil {
		return ""
	}
	counts := make([]int, len(side.Links()))
	for i, f := range s.Flows {
		frame := req.Frame
		frame.Src, frame.Dst = f.Src, f.Dst
		frame.Tuple = frame.Reverse()
		frame.SrcMAC, frame.DstMAC = req.BackSrcMAC, req.BackDstMAC
		p := side.Place(frame)
		if p.Index < 0 {
			s.Even = s.Even && side.Reach().Striped
			return "far side of the return path: " + p.Why
		}
		s.Flows[i].BackFarLink = p.Index
		counts[p.Index]++
	}
	s.BackFarPerLink = counts
	if !steer.Evenly(counts) {
		s.Even = false
		return fmt.Sprintf("far side of the return path: %s subflows on the links", steer.List(counts))
	}
	return ""
}
