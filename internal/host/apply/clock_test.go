package apply

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/plan"
)

// TestClockSetBack: the time of day is set back by an hour after a change was made
// (a first answer of NTP, a virtual machine that was restored). A guard that systemd
// starts again ends the change at the deadline all the same.
func TestClockSetBack(t *testing.T) {
	k := &fakeKernel{host: testHost()}
	a := applier(t, tempDir(t), k)
	r, err := a.Apply(context.Background(), testPlans(t)["online"], Options{Deadline: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	e, err := a.journal.Read(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	e.Started, e.Deadline = e.Started.Add(time.Hour), e.Deadline.Add(time.Hour) // as they look now
	if err := a.journal.write(&e); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // told to end, it rolls back too
	defer cancel()
	if err := Guard(ctx, a.cfg, r.ID); err != nil {
		t.Fatal(err)
	}
	if e, err = a.journal.Read(r.ID); err != nil || e.State != agentapi.ChangeRolledBack || e.Reason != "nobody confirmed in time" {
		t.Errorf("%s (%s), %v", e.State, e.Reason, err)
	}
	sameHost(t, "rolled back", testHost(), k.host)
}

// TestClockBetweenChanges: the time of day is set back by an hour between two
// changes of one run. They are rolled back in the order in which they were made,
// not in that of the clock.
func TestClockBetweenChanges(t *testing.T) {
	k := &fakeKernel{host: testHost()}
	a := applier(t, tempDir(t), k)
	group := Group{ID: "20261127T120000.000Z"}
	for i, mtu := range []string{"1600", "1700"} {
		old := []string{"1500", "1600"}[i]
		p := plan.Plan{Host: "h", Steps: []plan.Step{{Kind: plan.LinkMTU, Link: "p0", Old: old, New: mtu}}}
		r, err := a.Apply(context.Background(), p, Options{Group: group})
		if err == nil {
			err = a.Confirm(context.Background(), r.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 { // its name and its times are an hour ahead of what comes
			rename(t, a, r.ID, newID(time.Now().Add(time.Hour)))
		}
	}
	if _, err := a.RollbackGroup(context.Background(), group.ID); err != nil {
		t.Error(err)
	}
	sameHost(t, "rolled back", testHost(), k.host)
}

// TestClockSetAfterAChange: a host that is told the time only after a change does not take
// the change for years old, in the same boot or after it.
func TestClockSetAfterAChange(t *testing.T) {
	a := applier(t, tempDir(t), &fakeKernel{host: testHost()})
	p := testPlans(t)["online"]
	unset := time.Date(1970, 1, 1, 0, 0, 42, 0, time.UTC)
	boot := dead()
	for _, owner := range []Owner{boot, {PID: 1, Start: 1, Boot: "another"}} {
		e := a.newEntry(p, nil, time.Minute, "")
		e.Started, e.Deadline, e.Owner, e.State = unset, unset.Add(time.Minute), owner, agentapi.ChangeConfirmed
		if err := a.journal.write(&e); err != nil {
			t.Fatal(err)
		}
	}
	late := a.newEntry(p, nil, time.Minute, "")
	late.Started, late.Deadline = late.Started.Add(-2*KeepTime), late.Deadline.Add(-2*KeepTime)
	late.Owner, late.State = boot, agentapi.ChangeConfirmed
	if err := a.journal.write(&late); err != nil {
		t.Fatal(err)
	}
	entries, _, err := a.List()
	if err != nil {
		t.Fatal(err)
	}
	a.sweep(entries)
	if left, _, err := a.List(); err != nil || len(left) != 3 {
		t.Errorf("%d of 3 changes are left, %v", len(left), err)
	}
}

// rename gives an entry the name that it would have had at another time.
func rename(t *testing.T, a *Applier, from, to string) {
	t.Helper()
	e, err := a.journal.Read(from)
	if err == nil {
		e.ID = to
		err = a.journal.write(&e)
	}
	if err == nil {
		err = os.Remove(a.journal.path(from))
	}
	if err != nil {
		t.Fatal(err)
	}
}
