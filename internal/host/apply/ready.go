package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// ErrNotReady: a link that a step disturbed does not carry again.
var ErrNotReady = errors.New("the link does not carry again")

// carried are the links that carry now, of those that some step disturbs. One
// that cannot be looked at, or does not carry, is not waited for later.
func (a *Applier) carried(ctx context.Context, p plan.Plan) ([]string, error) {
	var links []string
	seen := make(map[string]bool)
	for _, s := range p.Steps {
		for _, l := range slices.Concat(s.Ready, s.ReadyRolledBack) {
			if seen[l] {
				continue
			}
			seen[l] = true
			if waits, err := a.cfg.Kernel.Ready(ctx, l); err == nil && waits == "" {
				links = append(links, l)
			}
		}
	}
	return links, ctx.Err()
}

// waitReady waits until the links that s disturbs carry again, those of them
// that did before the change, for as long as patience lasts.
func (a *Applier) waitReady(ctx context.Context, e *Entry, s plan.Step, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, l := range s.Ready {
		if !slices.Contains(e.Carried, l) {
			continue
		}
		if err := a.waitLink(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

func (a *Applier) waitLink(ctx context.Context, link string) error {
	last := "nobody could look"
	for {
		waits, err := a.cfg.Kernel.Ready(ctx, link)
		switch {
		case err == nil && waits == "":
			return nil
		case err == nil:
			last = waits
		case ctx.Err() == nil:
			last = err.Error()
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%w: %s", ErrNotReady, last)
			}
			return ctx.Err()
		case <-time.After(a.cfg.Poll):
		}
	}
}

// patience is what the way back may wait for links in all: one port is put back
// after the other, but a host that waits for a link that stays away is not
// helped by waiting again.
type patience struct {
	a    *Applier
	left time.Duration
}

func (p *patience) wait(ctx context.Context, e *Entry, s plan.Step) {
	if p.left <= 0 || len(s.Ready) == 0 {
		return
	}
	start := time.Now()
	if err := p.a.waitReady(ctx, e, s, p.left); err != nil {
		p.left = 0
		return
	}
	p.left -= time.Since(start)
}

// about reports whether a step needs the link that it names, in whatever field.
func about(s plan.Step, link string) bool {
	if s.Link == link || s.New == link && s.Kind == plan.PortMaster {
		return true
	}
	if s.Route != nil {
		if s.Route.Link == link {
			return true
		}
		for _, h := range s.Route.Hops {
			if h.Link == link {
				return true
			}
		}
	}
	if s.Endpoint != nil && s.Endpoint.Link == link || s.Make != nil && s.Make.Parent == link {
		return true
	}
	of, ok := netstate.LinkOfSysctl(s.Key)
	return s.Kind == plan.Sysctl && ok && of == link
}
