package apply

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/plan"
)

// TestGroupGoesBackAtTheSecondTry: while a change of the run cannot be taken
// back, an older one of the same thing is not given up as somebody else's: when
// what was in the way is gone, one more rollback gives the host as it was.
func TestGroupGoesBackAtTheSecondTry(t *testing.T) {
	ctx := context.Background()
	const rmem = "net.ipv4.tcp_rmem"
	for _, alone := range []bool{false, true} {
		k := &fakeKernel{host: testHost()}
		a := applier(t, tempDir(t), k)
		groupSteps(t, a, k)
		stuck := &stuckKernel{fakeKernel: k, target: rmem}
		a.cfg.Kernel = stuck
		first, err := a.RollbackGroup(ctx, testGroup.ID)
		if err == nil {
			t.Fatal("nothing was in the way")
		}
		failed := 0
		for _, r := range first {
			if r.State == agentapi.ChangeFailed {
				failed++
			}
			if len(r.Left) > 0 {
				t.Errorf("%s: left as somebody else's: %q", r.ID, r.Left)
			}
		}
		if failed != 2 {
			t.Errorf("%d failed, want both that are about %s: %+v", failed, rmem, first)
		}
		stuck.target = ""
		if alone { // the newer one by itself, then the rest
			if _, err := a.Rollback(ctx, first[0].ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.RollbackGroup(ctx, testGroup.ID); err != nil {
			t.Fatal(err)
		}
		sameHost(t, "second try", testHost(), k.host)
		nothingLeft(t, a)
	}
}

// stuckKernel cannot change one thing.
type stuckKernel struct {
	*fakeKernel
	target string
}

func (k *stuckKernel) Do(ctx context.Context, s plan.Step) error {
	if k.target != "" && s.Key == k.target {
		return errors.New("device or resource busy")
	}
	return k.fakeKernel.Do(ctx, s)
}

// TestPendingGroupIsKeptTogether: a change of a run that still waits keeps those
// of the run that have ended, however many came since.
func TestPendingGroupIsKeptTogether(t *testing.T) {
	a := applier(t, tempDir(t), &fakeKernel{host: testHost()})
	now := time.Now().UTC()
	const older = 3
	for i := range KeepEntries + older + 1 {
		e := a.newEntry(plan.Plan{Host: "h"}, nil, time.Minute, "")
		e.ID, e.State, e.Started = newID(now.Add(time.Duration(i)*time.Second)), agentapi.ChangeConfirmed, now
		switch {
		case i < older:
			e.Group = testGroup
		case i == KeepEntries+older:
			e.Group, e.State = testGroup, agentapi.ChangeReverting
		}
		if err := a.journal.write(&e); err != nil {
			t.Fatal(err)
		}
	}
	entries, _, err := a.List()
	if err != nil {
		t.Fatal(err)
	}
	a.sweep(entries)
	kept, _, err := a.List()
	if n := len(ofGroup(kept, testGroup.ID)); err != nil || n != older+1 {
		t.Errorf("%d of the group kept, want %d, %v", n, older+1, err)
	}
	if !slices.ContainsFunc(kept, func(e Entry) bool { return e.State == agentapi.ChangeReverting }) {
		t.Error("the one that waits is gone")
	}
}
