package serve

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/internal/web"
	"github.com/linerate/linerate/record"
)

const (
	// keeperName is who reads the fleet's runs for the pages.
	keeperName = "pages"
	// keptSince is how long before its start a server looks for runs that it missed.
	keptSince = 24 * time.Hour
	// keptAfter is how long a run is quiet before it is read: its trials come one
	// after the other, and each time all of it is read.
	keptAfter = 2 * time.Second
	// keptAnyway is how long one that is never quiet waits.
	keptAnyway = 30 * time.Second
	// keepAgain is how long a run is left alone that could not be read or written, the
	// first time; then twice as long each time, to keepRarely, for keptSince.
	keepAgain  = 10 * time.Second
	keepRarely = time.Hour
)

// keeper has the pages' store hold what is measured over this server, as
// `linerate history add nats:all` would, without anybody asking.
type keeper struct {
	bus  *link.Dialer
	runs *store.Store
	log  *slog.Logger
	add  func(ctx context.Context, run string) error // reads a run and writes it

	mu    sync.Mutex
	heard map[string]heardRun // as Follow names them
}

// heardRun is a run of which trials came in that the store does not have.
type heardRun struct {
	first, last time.Time // those of one that is to be tried again are to come
	wait        time.Duration
	failing     time.Time // since when it cannot be kept; zero: it was not tried
}

// keepRuns keeps runs until ctx ends; done is called when it has stopped.
func (f *usersFleet) keepRuns(ctx context.Context, runs *store.Store) (done func()) {
	dialer := link.NewDialer(func() (link.Config, error) { return f.as(web.User{Name: keeperName, Role: agentapi.RoleWatch}) })
	k := &keeper{bus: dialer, runs: runs, log: f.log, heard: make(map[string]heardRun)}
	k.add = k.keepOne
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			if kept := f.bus.Store(); kept != nil {
				if err := kept.Follow(ctx, time.Now().Add(-keptSince), k.hear); err != nil && ctx.Err() == nil {
					f.log.Error("follow trials", "error", err)
				}
			}
			if !pause(ctx, time.Second) {
				return
			}
		}
	})
	all.Go(func() {
		for pause(ctx, time.Second/2) {
			due := k.due(time.Now())
			for _, run := range slices.Sorted(maps.Keys(due)) {
				k.keep(ctx, run, due[run])
			}
		}
	})
	return func() {
		cancel()
		all.Wait()
		dialer.Close()
	}
}

// pause is false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// hear notes that a run has a trial.
func (k *keeper) hear(run string, _ record.Trial) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	h, there := k.heard[run]
	if !there {
		h.first = now
	}
	h.last = now
	k.heard[run] = h
}

// due are the runs to read, which are forgotten until they are heard of again.
func (k *keeper) due(now time.Time) map[string]heardRun {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make(map[string]heardRun)
	for run, h := range k.heard {
		if now.Sub(h.last) >= keptAfter || now.Sub(h.first) >= keptAnyway {
			out[run] = h
			delete(k.heard, run)
		}
	}
	return out
}

// keep reads a run and puts it into the store. One that cannot be read, or that the
// store does not take now, is tried again; what is wrong with the run is said once.
func (k *keeper) keep(ctx context.Context, run string, h heardRun) {
	err := k.add(ctx, run)
	if err == nil || ctx.Err() != nil {
		return
	}
	now := time.Now()
	if h.failing.IsZero() {
		h.failing = now
	}
	switch {
	case errors.Is(err, store.ErrNoTime), errors.Is(err, store.ErrTooLarge), errors.Is(err, wire.ErrName):
		k.log.Error("keep a run", "run", run, "error", err)
		return
	case now.Sub(h.failing) > keptSince:
		k.log.Error("keep a run: given up; add it with `linerate history add nats:all` when this is repaired", "run", run, "error", err)
		return
	}
	h.wait = min(max(2*h.wait, keepAgain), keepRarely)
	k.log.Warn("keep a run, later again", "run", run, "wait", h.wait, "error", err)
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.heard[run]; !there {
		h.first = now.Add(h.wait)
		h.last = h.first
		k.heard[run] = h
	}
}

func (k *keeper) keepOne(ctx context.Context, run string) error {
	conn, done, err := k.bus.Conn(ctx, false)
	if err != nil {
		return err
	}
	defer done()
	user, name, _ := strings.Cut(run, ".") // neither has one (wire.CheckName)
	r, err := results.Of(ctx, conn, results.Kept{User: user, Name: name})
	if err != nil {
		return err
	}
	text, err := console.JSONText(r) // as `history add` has it
	if err != nil {
		return err
	}
	added, err := k.runs.Add(ctx, r, text)
	if err == nil && added.State != store.Known {
		k.log.Info("run kept", "run", added.Run, "trials", added.Trials)
	}
	return err
}
