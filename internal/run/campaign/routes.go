package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/record"
)

// pair is two hosts, whichever is asked first.
type pair struct{ a, b string }

func pairOf(a, b string) pair {
	if a > b {
		a, b = b, a
	}
	return pair{a, b}
}

// CheckRoutes asks the kernels of every path's hosts where the packets of its
// lanes would go, before a byte is sent, and tells what is wrong. Trials of
// those pairs carry it as notes from then on, and one whose kernel has no
// route at all is not tried.
func (c *Campaign) CheckRoutes(ctx context.Context) error {
	c.routes = make(map[pair][]pathcheck.Problem)
	for _, p := range c.state.Paths {
		if c.reached(p) != nil {
			continue // its trials say why
		}
		ends, err := measure.RouteEnds(ctx, c.network(), p.From, p.To, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // the trials say what is wrong with the pair
			if c.cfg.Fleet.Logger != nil {
				c.cfg.Fleet.Logger.WarnContext(ctx, "routes not checked", "from", p.From, "to", p.To, "error", err)
			}
			continue
		}
		c.seen.answered(ends)
		problems := pathcheck.Check(ends)
		c.routes[pairOf(p.From, p.To)] = problems
		for i := range problems {
			c.cfg.Tell(Event{Kind: Routed, Problem: &problems[i]})
		}
	}
	return nil
}

// passable is an error where a kernel has no route for a trial's packets.
func (c *Campaign) passable(spec measure.Spec) error {
	for _, p := range c.routes[pairOf(spec.From, spec.To)] {
		if p.Kind == pathcheck.NoRoute {
			return fmt.Errorf("send from %s to %s: %w: %s", spec.From, spec.To, agentapi.ErrBlocked, p)
		}
	}
	return nil
}

// blamed is a trial's error with what the route check had found; nil stays nil.
func (c *Campaign) blamed(spec measure.Spec, err error) error {
	if err == nil {
		return nil
	}
	for _, p := range c.routes[pairOf(spec.From, spec.To)] {
		if p.Stops() {
			err = fmt.Errorf("%w (%s)", err, p)
		}
	}
	return err
}

// routed adds what the route check had found to a trial and its finding.
func (c *Campaign) routed(t *record.Trial) {
	problems := c.routes[pairOf(t.From, t.To)]
	for _, p := range problems {
		t.Notes = append(t.Notes, "route: "+p.String())
	}
	if t.Finding != nil && len(problems) > 0 {
		f := pathcheck.Explain(*t.Finding, *t, problems)
		t.Finding = &f
	}
}

// failureOf is a trial that was not measured, with the class of its error.
func failureOf(spec measure.Spec, err error) record.Failure {
	f := record.Failure{From: spec.From, To: spec.To, Direction: spec.Direction, Streams: spec.Streams, Error: err.Error()}
	for _, c := range [...]struct {
		class error
		code  agentapi.Code
	}{
		{agentapi.ErrRefused, agentapi.CodeRefused}, {agentapi.ErrSilent, agentapi.CodeSilent},
		{agentapi.ErrBlocked, agentapi.CodeBlocked}, {agentapi.ErrPortTaken, agentapi.CodePortTaken},
		{agentapi.ErrBusy, agentapi.CodeBusy}, {fs.ErrPermission, agentapi.CodePermission}, {fleet.ErrUnreachable, Unreachable},
	} {
		if errors.Is(err, c.class) {
			f.Reason = string(c.code)
			break
		}
	}
	return f
}
