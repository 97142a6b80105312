package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// Aliases is a sweep over numbers of addresses on the sending host, one stream
// from each.
type Aliases struct {
	Counts []int // each 1 to MostAliases
	// Subnet is where the addresses are taken from; the zero Prefix is the
	// sending interface's own.
	Subnet    netip.Prefix
	Direction flow.Direction // forward or reverse: who sends
	// Approve is shown what would be done before anything is touched, and what
	// is to be said about it; nil approves.
	Approve func([]plan.Plan, []string) (bool, error)
}

// MostAliases is the most addresses that a sweep adds.
const MostAliases = 254

// AliasSetting is the setting of an alias sweep's trials and result.
const AliasSetting = "aliases"

// ErrNoAddresses is a subnet without as many free addresses as were asked for.
var ErrNoAddresses = errors.New("too few free addresses")

// ErrRouted is a subnet that the sender reaches by a gateway: whether somebody
// uses its addresses cannot be told from there, and their answers would go
// elsewhere.
var ErrRouted = errors.New("the subnet is not on the link")

// aliasWindow is a trial's window where none was asked for: the usual run of
// iperf.
const aliasWindow = 10 * time.Second

// aliasSweep is an alias sweep that is being made.
type aliasSweep struct {
	Aliases
	c    *Campaign
	path fabric.Path
	// sender and receiver are hosts, link is where the addresses go, lane what
	// traffic uses without them, the sender's address first.
	sender, receiver string
	link             string
	lane             flow.Lane
	subnet           netip.Prefix
	addresses        []netip.Addr
	inUse            []netip.Addr
}

// AliasSweep measures the campaign's one path with each number of aliases and
// keeps, side by side, what the senders claim and what arrived in the window
// that all share. The addresses are gone when it returns, whatever happens:
// also when this process is killed. Errors: ErrNoAddresses, ErrRouted,
// ErrDeclined, ErrRolledBack.
func (c *Campaign) AliasSweep(ctx context.Context, m Matrix, a Aliases) (err error) {
	s, plans, err := c.aliasPlans(ctx, a)
	if err != nil {
		return err
	}
	if a.Approve != nil {
		ok, err := a.Approve(plans, s.notes())
		if err != nil {
			return err
		}
		if !ok {
			return ErrDeclined
		}
	}
	if m.Duration == 0 {
		m.Duration = aliasWindow
	}
	r := &run{c: c, total: len(a.Counts)}
	c.asked(m, r.total)
	if c.care, err = c.careFor(ctx, m.Care); err != nil {
		return err
	}
	defer func() { c.care.stop() }()
	stands := standing(m.spec(s.path, 1, a.Direction)) * time.Duration(len(a.Counts))
	changes, err := c.carryOut(ctx, plans, agentapi.ApplyRequest{Deadline: stands, Temporary: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.revert(changes)) }()
	if err := c.Observe(ctx); err != nil {
		return err
	}
	if err := s.checkRoutes(ctx); err != nil {
		return err
	}
	if err := s.measure(ctx, r, m); err != nil {
		return err
	}
	return c.endedEarly(c.care, r.done, r.total)
}

// measure runs one trial for each count and keeps what came of it.
func (s *aliasSweep) measure(ctx context.Context, r *run, m Matrix) error {
	var values []string
	var batches []batch
	for _, n := range s.Counts {
		spec := m.spec(s.path, n, s.Direction)
		spec.Lanes, spec.Claim, spec.Variant = s.lanes(n), true, fmt.Sprintf("%s=%d", AliasSetting, n)
		values = append(values, fmt.Sprint(n))
		batches = append(batches, batch{specs: []measure.Spec{spec}, kind: AliasSetting, thought: thought(spec)})
	}
	for i := range batches {
		if s.c.care.Halt(0) != "" {
			break
		}
		r.left = batches[i:]
		if err := r.batch(ctx); err != nil {
			return err
		}
	}
	return s.c.keep(func(rec *record.Record) {
		result := compare.Sweep(AliasSetting, values, rec.Trials)
		result.Verdict = AliasVerdict(result)
		rec.Sweeps = append(rec.Sweeps, result)
	})
}

// lanes are one from each of the first aliases, as seen from the path's first
// host.
func (s *aliasSweep) lanes(n int) []flow.Lane {
	var lanes []flow.Lane
	for _, a := range s.addresses[:n] {
		l := flow.Lane{Src: a, Dst: s.lane.Dst}
		if s.Direction == flow.Reverse {
			l = l.Reverse()
		}
		lanes = append(lanes, l)
	}
	return lanes
}

// AliasVerdict says in words what an alias sweep shows.
func AliasVerdict(s record.Sweep) string {
	if len(s.Values) == 0 {
		return "nothing was measured"
	}
	first, last := s.Values[0], s.Values[len(s.Values)-1]
	if first.Goodput <= 0 || first.Claimed <= 0 {
		return "nothing was carried"
	}
	claimed, carried := float64(last.Claimed/first.Claimed)-1, float64(last.Goodput/first.Goodput)-1
	return fmt.Sprintf("from %s to %s aliases what the senders claim changes by %+.1f %%, what arrives by %+.1f %%: a client counts what it handed to its socket, over a time of its own; the link carries what arrives", first.Value, last.Value, 100*claimed, 100*carried)
}

// checkRoutes says before a byte is sent where the aliases' packets would go.
func (s *aliasSweep) checkRoutes(ctx context.Context) error {
	most := slices.Max(s.Counts)
	problems, err := measure.Routes(ctx, s.c.network(), s.path.From, s.path.To, s.lanes(most))
	if err != nil {
		return err
	}
	for i, p := range problems {
		s.c.cfg.Tell(Event{Kind: Routed, Problem: &problems[i]})
		if p.Kind == pathcheck.NoRoute {
			return fmt.Errorf("send from %s: %w: %s", s.subnet, agentapi.ErrBlocked, p)
		}
	}
	return nil
}

// aliasPlans finds free addresses and returns the plans that add them.
func (c *Campaign) aliasPlans(ctx context.Context, a Aliases) (*aliasSweep, []plan.Plan, error) {
	if len(c.state.Paths) != 1 {
		return nil, nil, fmt.Errorf("sweep aliases: %d paths, want one", len(c.state.Paths))
	}
	s := &aliasSweep{Aliases: a, c: c, path: c.state.Paths[0]}
	if err := c.reached(s.path); err != nil {
		return nil, nil, err
	}
	s.sender, s.receiver = s.path.From, s.path.To
	if a.Direction == flow.Reverse {
		s.sender, s.receiver = s.receiver, s.sender
	}
	lanes, err := predict.Lanes(c.state, s.sender, s.receiver, "")
	if err != nil {
		return nil, nil, err
	}
	s.lane = lanes[0]
	link, ok := c.state.Hosts[s.sender].LinkWith(s.lane.Src)
	if !ok {
		return nil, nil, fmt.Errorf("sweep aliases: no link of %s holds %s", s.sender, s.lane.Src)
	}
	s.link, s.subnet = link.Name, a.Subnet
	for _, p := range link.Addresses {
		if p.Addr() == s.lane.Src && !s.subnet.IsValid() {
			s.subnet = p.Masked()
		}
	}
	if s.subnet.Addr().Is4() != s.lane.Src.Is4() {
		return nil, nil, fmt.Errorf("sweep aliases: %s is of another family than %s", s.subnet, s.lane.Src)
	}
	if err := s.free(ctx, slices.Max(a.Counts)); err != nil {
		return nil, nil, err
	}
	far, err := s.wayBack(ctx)
	if err != nil {
		return nil, nil, err
	}
	return s, append([]plan.Plan{s.addressPlan()}, far...), nil
}

// addressPlan adds the aliases, each by itself: no route comes or goes with it.
func (s *aliasSweep) addressPlan() plan.Plan {
	p := plan.Plan{Host: s.sender}
	for _, a := range s.addresses {
		p.Steps = append(p.Steps, plan.Step{Kind: plan.Address, Link: s.link, Address: netip.PrefixFrom(a, a.BitLen()), Old: plan.Absent, New: plan.Present, Disruption: plan.Online})
	}
	return p
}

// wayBack are the routes by which the receiver answers the aliases, to the
// sender's own address, where it has none: one for each alias, as the others
// of their subnet may be in use.
func (s *aliasSweep) wayBack(ctx context.Context) ([]plan.Plan, error) {
	req := agentapi.RoutesRequest{Flows: []flow.Tuple{{Proto: flow.TCP, Src: s.lane.Dst, Dst: s.lane.Src}}}
	for _, a := range s.addresses {
		req.Flows = append(req.Flows, flow.Tuple{Proto: flow.TCP, Src: s.lane.Dst, Dst: a})
	}
	reply, err := ask.Call(ctx, s.c.hosts[s.receiver], agentapi.Routes, req)
	if err != nil {
		return nil, fmt.Errorf("req routes of %s: %w", s.receiver, err)
	}
	if len(reply.Routes) != len(req.Flows) {
		return nil, fmt.Errorf("req routes of %s: %d answers to %d questions", s.receiver, len(reply.Routes), len(req.Flows))
	}
	own := reply.Routes[0]
	if own.Gateway.IsValid() {
		return nil, nil // routed: whoever routes to the subnet must know it
	}
	p := plan.Plan{Host: s.receiver}
	for i, a := range s.addresses {
		there := reply.Routes[1+i]
		if there.Link == own.Link && (!there.Gateway.IsValid() || there.Gateway == s.lane.Src) {
			continue
		}
		p.Steps = append(p.Steps, plan.Step{
			Kind: plan.Route, Link: own.Link, Old: plan.Absent, New: plan.Present, Disruption: plan.Online,
			Route: &netstate.Route{Dst: netip.PrefixFrom(a, a.BitLen()), Gateway: s.lane.Src, Link: own.Link, Table: mainTable},
			Why:   "its answers to the alias find no way to the sender",
		})
	}
	if len(p.Steps) == 0 {
		return nil, nil
	}
	return []plan.Plan{p}, nil
}

// mainTable is RT_TABLE_MAIN (include/uapi/linux/rtnetlink.h).
const mainTable = 254

// notes are what to say about the plan.
func (s *aliasSweep) notes() []string {
	notes := []string{fmt.Sprintf("%d addresses of %s on %s %s, gone again when this program ends", len(s.addresses), s.subnet, s.sender, s.link)}
	if n := len(s.inUse); n > 0 {
		notes = append(notes, fmt.Sprintf("left alone, they are in use: %s", firstOf(s.inUse)))
	}
	return notes
}
