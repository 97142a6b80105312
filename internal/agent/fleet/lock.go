package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
)

// Locking is how a run holds its hosts.
type Locking struct {
	Holder agentapi.Holder
	// Wait is how long to wait for hosts that other runs hold; zero does not,
	// and a negative one waits as long as it takes.
	Wait time.Duration
	// Tell is told for whom a run waits, each time that changes; nil is nobody.
	Tell func(busy error)
	// Note is told what the hold of a host does not keep off; nil is nobody.
	Note func(host, note string)
}

// Between two tries for hosts that are held: a little by chance, so that two
// runs that wait for each other's hosts do not go on doing so in step.
const (
	lockPause  = 300 * time.Millisecond
	lockJitter = 300 * time.Millisecond
)

// LockAll holds every host, or none: while one is held by another run the
// others are let go, so that two runs cannot wait for each other. Without
// patience, or at its end, a host that is held is agentapi.ErrBusy. Without how
// nothing is held.
func LockAll(ctx context.Context, hosts []*Host, how *Locking) error {
	if how == nil {
		return nil
	}
	cfg := *how
	hosts = slices.SortedFunc(slices.Values(hosts), func(a, b *Host) int { return strings.Compare(a.Name, b.Name) })
	if tell := cfg.Note; tell != nil {
		said := make(map[string]bool)
		cfg.Note = func(host, note string) {
			if !said[host] {
				said[host] = true
				tell(host, note)
			}
		}
	}
	begin := time.Now()
	told := ""
	for {
		err := lockOnce(ctx, hosts, cfg)
		if err == nil || !errors.Is(err, agentapi.ErrBusy) {
			return err
		}
		if cfg.Wait >= 0 && time.Since(begin) >= cfg.Wait {
			if cfg.Wait > 0 {
				err = fmt.Errorf("waited %v: %w", cfg.Wait, err)
			}
			return err
		}
		if who, _, _ := strings.Cut(err.Error(), ", for "); cfg.Tell != nil && who != told {
			told = who
			cfg.Tell(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause + rand.N(lockJitter)):
		}
	}
}

// lockOnce tries all hosts once, and lets go of all when one cannot be held.
func lockOnce(ctx context.Context, hosts []*Host, cfg Locking) error {
	for i, h := range hosts {
		reply, err := ask.Call(ctx, h, agentapi.Lock, agentapi.LockRequest{Holder: cfg.Holder})
		if errors.Is(err, errors.ErrUnsupported) {
			reply, err = agentapi.LockReply{Note: "its linerate is too old to keep two runs apart"}, nil
		}
		if err != nil {
			for _, held := range hosts[:i] {
				_, _ = ask.Call(context.WithoutCancel(ctx), held, agentapi.Release, agentapi.Empty{}) // a host that is gone holds nothing
			}
			return err
		}
		if reply.Note != "" && cfg.Note != nil {
			cfg.Note(h.Name, reply.Note)
		}
	}
	return nil
}
