// Package livestats watches the traffic that a host has already: its TCP
// connections, links and cores, over a while. It asks the kernel and reads
// /proc; it must never send a packet, and must stay a small part of one core
// however many connections there are.
package livestats

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/unit"
)

// Config says what to watch.
type Config struct {
	Namespace netns.Namespace
	// Links are those to count, Own the host's addresses: connections between
	// two of them use no link.
	Links []string
	Own   map[netip.Addr]bool
	// Span is how long to watch, Flows how many of the heaviest connections
	// to return.
	Span  time.Duration
	Flows int
}

const (
	// interval is the time between two looks.
	interval = 500 * time.Millisecond
	// costShare is the part of one core that lists of all connections may take: one that
	// took c is followed by c / costShare without another. Between them those that move
	// are looked at one by one: of 10,000 connections, which a list takes some 25 ms for,
	// there is one at the start of five seconds, and one at their end where others moved
	// something meanwhile.
	costShare = 0.004
	// mostFollowed is how many connections are looked at one by one: at first of all that
	// moved something lately, then of those that move most.
	mostFollowed = 64
	// lately is how long ago what moves has moved something.
	lately = 2 * interval
	// settled is when the heaviest are known well enough to look up their
	// programs, whose threads are then timed until the end.
	settled = time.Second
	// leastRate is what a connection moves at least that is no idle one:
	// keep-alives and chatter stay below it.
	leastRate = 10 * unit.Kbps
	// What other connections than the followed may send in all and not be looked for: a
	// segment a second, which leastRate is, and that part of everything, which the times of
	// two readings differ by, at most.
	othersRate, othersShare = 1, 0.005
	// mostLinks is how many links are looked at each time; of more only the
	// first and the last counts are read.
	mostLinks = 64
)

// Watch watches for the whole span and returns what it saw. When ctx ends it
// returns its error.
func Watch(ctx context.Context, cfg Config) (livetraffic.Watched, error) {
	var seen livetraffic.Watched
	err := cfg.Namespace.Do(func() (err error) {
		seen, err = watch(ctx, cfg)
		return err
	})
	if err != nil {
		return livetraffic.Watched{}, fmt.Errorf("watch traffic: %w", err)
	}
	return seen, nil
}

func watch(ctx context.Context, cfg Config) (livetraffic.Watched, error) {
	m, err := newMeter(cfg)
	if err != nil {
		return livetraffic.Watched{}, err
	}
	defer m.close()
	if err := m.look(true); err != nil {
		return livetraffic.Watched{}, err
	}
	programs := newPrograms()
	for {
		left := cfg.Span - time.Since(m.begin)
		if left <= 0 {
			break
		}
		// The last rest reaches the end of the span.
		rest := interval
		if left < rest+rest/2 {
			rest = left
		}
		if err := sampling.Pause(ctx, rest); err != nil {
			return livetraffic.Watched{}, err
		}
		if err := m.look(time.Since(m.begin) >= cfg.Span); err != nil {
			return livetraffic.Watched{}, err
		}
		if !programs.begun() && (time.Since(m.begin) >= min(settled, cfg.Span/2)) {
			programs.begin(m.heaviest())
		}
	}
	return m.result(programs), nil
}
