package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

var testGroup = Group{ID: "20261122T103000.000Z", Title: "tune fabric.yaml"}

// groupHosts are a host as it is and as each of several steps makes it, some
// of which change the same things again.
func groupHosts() []netstate.Host {
	hosts := []netstate.Host{testHost()}
	next := func(wish func(*netstate.Host)) {
		h := hosts[len(hosts)-1].Clone()
		wish(&h)
		hosts = append(hosts, h)
	}
	next(func(h *netstate.Host) {
		b, _ := h.Link("b")
		b.Bond.HashPolicy = netstate.Layer34
		h.SetLink(b)
	})
	next(func(h *netstate.Host) { h.Sysctls["net.ipv4.tcp_rmem"] = testSysctl("4096 131072 16777216") })
	next(func(h *netstate.Host) {
		h.Sysctls["net.ipv4.tcp_rmem"] = testSysctl("4096 131072 33554432")
		for _, name := range []string{"b", "v"} {
			l, _ := h.Link(name)
			l.MTU = 9000
			h.SetLink(l)
		}
	})
	return hosts
}

// groupSteps applies the steps of a tune, all but the last of them confirmed.
func groupSteps(t *testing.T, a *Applier, k *fakeKernel) {
	t.Helper()
	ctx := context.Background()
	hosts := groupHosts()
	for i, want := range hosts[1:] {
		p, err := plan.Between(k.host, want)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Apply(ctx, p, Options{Group: testGroup})
		if err != nil {
			t.Fatal(err)
		}
		if i == len(hosts)-2 {
			return // the last one is pending
		}
		if err := a.Confirm(ctx, r.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// dieAt lets the process of an applier die at the n-th thing it does.
func dieAt(a *Applier, k *fakeKernel, n int) {
	a.self = dead()
	moment := crashAt(n)
	a.journal.moment = moment
	k.before = func(int) error { moment(); return nil }
	k.after = k.before
}

func alive(k *fakeKernel) { k.before, k.after = nil, nil }

// TestGroupRollsBackAll kills a run of several changes at every moment: one
// rollback, after whatever the guard would have done, gives the host as it was.
func TestGroupRollsBackAll(t *testing.T) {
	through := false
	for n := 0; !through; n++ {
		k, dir := &fakeKernel{host: testHost()}, tempDir(t)
		a := applier(t, dir, k)
		dieAt(a, k, n)
		through = !crashes(t, func() { groupSteps(t, a, k) })
		alive(k)
		again := applier(t, dir, k)
		if n%2 == 0 { // the guard, or the next command, came first
			if _, err := again.Recover(context.Background()); err != nil {
				t.Fatalf("%s: recover: %v", caseName("group", n), err)
			}
		}
		_, err := again.RollbackGroup(context.Background(), testGroup.ID)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrState) {
			t.Fatalf("%s: %v", caseName("group", n), err)
		}
		sameHost(t, caseName("group", n), testHost(), k.host)
		nothingLeft(t, again)
	}
}

func nothingLeft(t *testing.T, a *Applier) {
	t.Helper()
	entries, problems, err := a.List()
	if err != nil || len(problems) > 0 {
		t.Fatalf("journal: %v, %v", problems, err)
	}
	for _, e := range entries {
		if e.State != agentapi.ChangeRolledBack {
			t.Errorf("%s is %s: %s", e.ID, e.State, e.Reason)
		}
	}
}

// TestGroupRollbackCut kills the rollback at every moment: the next program
// takes back all that was asked for, and nothing where the asking itself was
// cut before it was on the disk.
func TestGroupRollbackCut(t *testing.T) {
	ctx := context.Background()
	cut := 0
	for n := 0; ; n++ {
		k, dir := &fakeKernel{host: testHost()}, tempDir(t)
		groupSteps(t, applier(t, dir, k), k)
		before := k.host.Clone()
		a := applier(t, dir, k)
		dieAt(a, k, n)
		through := !crashes(t, func() { _, _ = a.RollbackGroup(ctx, testGroup.ID) })
		alive(k)
		entries, _, err := a.List()
		if err != nil {
			t.Fatal(err)
		}
		asked := slices.ContainsFunc(entries, func(e Entry) bool { return e.State == agentapi.ChangeReverting || e.State == agentapi.ChangeRolledBack })
		again := applier(t, dir, k)
		if _, err := again.Recover(ctx); err != nil {
			t.Fatalf("%s: recover: %v", caseName("rollback", n), err)
		}
		if !asked {
			sameHost(t, caseName("not asked", n), before, k.host)
			continue
		}
		cut++
		sameHost(t, caseName("rollback", n), testHost(), k.host)
		nothingLeft(t, again)
		if through {
			break
		}
	}
	if cut < 20 {
		t.Errorf("only %d cuts of a rollback", cut)
	}
}

// TestGroupRollbackCutTwice kills the recovery of a cut rollback too.
func TestGroupRollbackCutTwice(t *testing.T) {
	ctx := context.Background()
	for n := 4; n < 60; n += 7 {
		for m, through := 0, false; !through; m += 5 {
			k, dir := &fakeKernel{host: testHost()}, tempDir(t)
			groupSteps(t, applier(t, dir, k), k)
			a := applier(t, dir, k)
			dieAt(a, k, n)
			if !crashes(t, func() { _, _ = a.RollbackGroup(ctx, testGroup.ID) }) {
				if n == 4 {
					t.Fatal("no crash in the rollback")
				}
				return
			}
			b := applier(t, dir, k)
			dieAt(b, k, m)
			through = !crashes(t, func() { _, _ = b.Recover(ctx) })
			alive(k)
			if _, err := applier(t, dir, k).Recover(ctx); err != nil {
				t.Fatalf("%s then %d: %v", caseName("rollback", n), m, err)
			}
			what := fmt.Sprintf("%s then %d", caseName("rollback", n), m)
			sameHost(t, what, testHost(), k.host)
		}
	}
}

// TestGroupLeavesWhatOthersSet: a value that somebody else set meanwhile stays,
// also when the rollback was cut before it came to it.
func TestGroupLeavesWhatOthersSet(t *testing.T) {
	ctx := context.Background()
	const others = "4096 131072 1000000"
	for n := -1; n < 12; n++ {
		k, dir := &fakeKernel{host: testHost()}, tempDir(t)
		groupSteps(t, applier(t, dir, k), k)
		k.host.Sysctls["net.ipv4.tcp_rmem"] = testSysctl(others)
		a := applier(t, dir, k)
		if n >= 0 {
			dieAt(a, k, n)
		}
		died := crashes(t, func() { _, _ = a.RollbackGroup(ctx, testGroup.ID) })
		alive(k)
		again := applier(t, dir, k)
		if died {
			if _, err := again.RollbackGroup(ctx, testGroup.ID); err != nil && !errors.Is(err, ErrState) {
				t.Fatal(err)
			}
		}
		want := testHost()
		want.Sysctls["net.ipv4.tcp_rmem"] = testSysctl(others)
		sameHost(t, caseName("others", n), want, k.host)
	}
}

// TestGroupsApart: another run's changes, and those of none, stay.
func TestGroupsApart(t *testing.T) {
	ctx := context.Background()
	k, dir := &fakeKernel{host: testHost()}, tempDir(t)
	a := applier(t, dir, k)
	mtu := func(size int) plan.Plan {
		want := k.host.Clone()
		b, _ := want.Link("b")
		b.MTU = size
		want.SetLink(b)
		p, err := plan.Between(k.host, want)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for i, g := range []Group{{}, {ID: "one"}, {ID: "two"}, {}} {
		r, err := a.Apply(ctx, mtu(2000+1000*i), Options{Group: g})
		if err = errors.Join(err, a.Confirm(ctx, r.ID)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.RollbackGroup(ctx, "three"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unknown group: %v", err)
	}
	if _, err := a.RollbackGroup(ctx, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no group: %v", err)
	}
	// The newest set the MTU since: the older group has nothing to put back.
	r, err := a.RollbackGroup(ctx, "two")
	if err != nil || len(r) != 1 || len(r[0].Left) != 1 {
		t.Errorf("a later change holds the value: %+v, %v", r, err)
	}
	if b, _ := k.host.Link("b"); b.MTU != 5000 {
		t.Errorf("MTU %d", b.MTU)
	}
	if _, err := a.RollbackGroup(ctx, "two"); !errors.Is(err, ErrState) {
		t.Errorf("taken back already: %v", err)
	}
	for _, bad := range []Group{{ID: "../x"}, {Title: "no name"}, {ID: "x", Title: "two\nlines"}, {ID: "x", Title: string(make([]byte, maxTitle+1))}} {
		if _, err := a.Apply(ctx, mtu(7000), Options{Group: bad}); err == nil {
			t.Errorf("group %+v taken", bad)
		}
	}
}

// TestGuardGoesOnWithTheGroup: the guard of the change that waited is alive when
// a rollback of the group is killed: it ends the way back of all of them.
func TestGuardGoesOnWithTheGroup(t *testing.T) {
	ctx := context.Background()
	for n := 3; n < 40; n += 4 {
		k, dir := &fakeKernel{host: testHost()}, tempDir(t)
		groupSteps(t, applier(t, dir, k), k)
		a := applier(t, dir, k)
		dieAt(a, k, n)
		if !crashes(t, func() { _, _ = a.RollbackGroup(ctx, testGroup.ID) }) {
			t.Fatalf("%s: no crash", caseName("rollback", n))
		}
		alive(k)
		entries, _, err := a.List()
		if err != nil {
			t.Fatal(err)
		}
		last := entries[len(entries)-1]
		if last.State != agentapi.ChangeReverting {
			continue // it was through with that one: the next command has the rest
		}
		if err := Guard(ctx, Config{Kernel: k, Dir: dir, Settle: time.Millisecond, Poll: time.Microsecond}, last.ID); err != nil {
			t.Fatalf("%s: guard: %v", caseName("rollback", n), err)
		}
		sameHost(t, caseName("guard", n), testHost(), k.host)
		nothingLeft(t, applier(t, dir, k))
	}
}

// TestGroupIsKeptTogether: the journal forgets old changes, and none of a group of
// which it keeps one.
func TestGroupIsKeptTogether(t *testing.T) {
	a := applier(t, tempDir(t), &fakeKernel{host: testHost()})
	const more = 5
	now := time.Now().UTC()
	for i := range KeepEntries + 2*more {
		e := a.newEntry(plan.Plan{Host: "h"}, nil, time.Minute, "")
		e.ID, e.State, e.Started = newID(now.Add(time.Duration(i)*time.Second)), agentapi.ChangeConfirmed, now
		if i >= more && i < 3*more { // one group across the edge, older ones of none
			e.Group = testGroup
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
	if err != nil || len(kept) != KeepEntries+more || len(ofGroup(kept, testGroup.ID)) != 2*more {
		t.Errorf("%d kept, %d of the group, %v", len(kept), len(ofGroup(kept, testGroup.ID)), err)
	}
}

// TestGroupAfterReboot: steps alone are gone with the boot; where a later
// entry of the group wrote files, what they brought back is undone.
func TestGroupAfterReboot(t *testing.T) {
	ctx := context.Background()
	for _, persisted := range []bool{false, true} {
		k, dir, root := &fakeKernel{host: testHost()}, tempDir(t), tempDir(t)
		a, err := New(Config{Kernel: k, Dir: dir, Root: root, Settle: time.Millisecond, Poll: time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		a.self.Boot = "an earlier boot"
		p, err := plan.Between(k.host, groupHosts()[1])
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Apply(ctx, p, Options{Group: testGroup})
		if err = errors.Join(err, a.Confirm(ctx, r.ID)); err != nil {
			t.Fatal(err)
		}
		text := "network: {version: 2}\n"
		if persisted {
			files := plan.Plan{Host: "h", Files: []plan.File{{Path: "/etc/netplan/90-linerate.yaml", Mode: 0o600, New: &text}}}
			r, err := a.Apply(ctx, files, Options{Group: testGroup})
			if err = errors.Join(err, a.Confirm(ctx, r.ID)); err != nil {
				t.Fatal(err)
			}
		} else {
			k.host = testHost() // the reboot's work
		}
		b, err := New(Config{Kernel: k, Dir: dir, Root: root, Settle: time.Millisecond, Poll: time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.RollbackGroup(ctx, testGroup.ID); err != nil {
			t.Fatal(err)
		}
		sameHost(t, fmt.Sprintf("files %v", persisted), testHost(), k.host)
		nothingLeft(t, b)
		if text, _, err := readText(root + "/etc/netplan/90-linerate.yaml"); err != nil || text != nil {
			t.Errorf("the file is still there: %v", err)
		}
	}
}
