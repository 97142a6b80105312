package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/traffic/sampling"
)

// Breaker fails a link without a word: the carrier stays, and nothing passes
// any more, either way.
type Breaker interface {
	Break() error
	// Repair takes Break back; it is called after every Break, a failed one too.
	Repair() error
}

// silence is a link that failed without a word, which no host's own state
// shows: when it was broken and mended, since the window opened.
type silence struct {
	linkName
	broken, repaired bool
	from, to         time.Duration
}

// silence breaks one link for its time. However the window ends, it is mended.
func (r *round) silence(ctx context.Context, f Failing, by Breaker, s *silence) (err error) {
	opened := time.Now()
	defer r.late.end()
	if sampling.Pause(ctx, f.At) != nil {
		return nil // the window was over before
	}
	defer func() {
		s.repaired, s.to = true, time.Since(opened)
		if e := by.Repair(); e != nil {
			err = errors.Join(err, fmt.Errorf("repair %s of %s: %w", f.Link, f.Host, e))
		}
	}()
	s.from = time.Since(opened)
	if err := by.Break(); err != nil {
		return fmt.Errorf("break %s of %s: %w", f.Link, f.Host, err)
	}
	s.broken = true
	r.late.end()
	_ = sampling.Pause(ctx, f.For)
	return nil
}

// among adds what happened to the link to what the hosts saw of others. What
// they saw of this one is when they noticed, and part of what the streams feel.
// A nil silence adds nothing.
func (s *silence) among(events []linkEvent) []linkEvent {
	if s == nil || !s.broken {
		return events
	}
	out := slices.DeleteFunc(slices.Clone(events), func(e linkEvent) bool { return e.linkName == s.linkName || e.peer == s.linkName })
	add := func(at time.Duration, up bool) {
		out = append(out, linkEvent{linkName: s.linkName, up: up, after: max(at-failPoll, 0), at: at})
	}
	add(s.from, false)
	if s.repaired {
		add(s.to, true)
	}
	slices.SortStableFunc(out, func(a, b linkEvent) int { return cmp.Compare(a.at, b.at) })
	return out
}
