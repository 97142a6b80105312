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
	// keepAgain is how long a store that could not be written is left alone.
	keepAgain = 10 * time.Second
)

// keeper has the pages' store hold what is measured over this server, as
// `linerate history add nats:all` would, without anybody asking.
type keeper struct {
	bus  *link.Dialer
	runs *store.Store
	log  *slog.Logger

	mu    sync.Mutex
	heard map[string]heardRun // as Follow names them
}

// heardRun is a run of which trials came in that the store does not have.
type heardRun struct{ first, last time.Time }

// keepRuns keeps runs until ctx ends; done is called when it has stopped.
func (f *usersFleet) keepRuns(ctx context.Context, runs *store.Store) (done func()) {
	dialer := link.NewDialer(func() (link.Config, error) { return f.as(web.User{Name: keeperName, Role: agentapi.RoleWatch}) })
	k := &keeper{bus: dialer, runs: runs, log: f.log, heard: make(map[string]heardRun)}
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
			for _, run := range k.due(time.Now()) {
				k.keep(ctx, run)
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
func (k *keeper) due(now time.Time) (out []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, run := range slices.Sorted(maps.Keys(k.heard)) {
		if h := k.heard[run]; now.Sub(h.last) >= keptAfter || now.Sub(h.first) >= keptAnyway {
			out = append(out, run)
			delete(k.heard, run)
		}
	}
	return out
}

// keep reads a run and puts it into the store. What a store that others write
// does not take is tried again; what is wrong with the run is said once.
func (k *keeper) keep(ctx context.Context, run string) {
	err := k.keepOne(ctx, run)
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, store.ErrBusy), errors.Is(err, store.ErrUnreachable):
		k.log.Warn("keep a run, again soon", "run", run, "error", err)
		k.mu.Lock()
		defer k.mu.Unlock()
		if _, there := k.heard[run]; !there {
			at := time.Now().Add(keepAgain)
			k.heard[run] = heardRun{at, at}
		}
	default:
		k.log.Error("keep a run", "run", run, "error", err)
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
