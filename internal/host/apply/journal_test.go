package apply

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestReadWhileWritten: whoever reads without the lock gets one of the entries
// written, whole.
func TestReadWhileWritten(t *testing.T) {
	j := OpenJournal(tempDir(t))
	e := Entry{Version: entryVersion, ID: "x", State: agentapi.ChangeOpen, Steps: make([]StepState, 200), Plan: plan.Plan{Steps: make([]plan.Step, 200)}}
	set := func(p agentapi.StepProgress) {
		for i := range e.Steps {
			e.Steps[i] = StepState{Progress: p, Note: string(p)}
		}
	}
	set(agentapi.StepPending)
	if err := j.write(&e); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		for {
			for _, p := range []agentapi.StepProgress{agentapi.StepBegun, agentapi.StepDone, agentapi.StepRolledBack, agentapi.StepLeft} {
				set(p)
				if err := j.write(&e); err != nil {
					t.Error(err)
					return
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	seen := map[agentapi.StepProgress]int{}
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
		got, err := j.Read("x")
		if err != nil {
			t.Error(err)
			break
		}
		for _, s := range got.Steps {
			if s.Progress != got.Steps[0].Progress {
				t.Fatalf("a mixture of %s and %s", s.Progress, got.Steps[0].Progress)
			}
		}
		seen[got.Steps[0].Progress]++
	}
	close(stop)
	writing.Wait()
	if len(seen) < 2 {
		t.Errorf("nothing was written meanwhile: not tried: %v", seen)
	}
}

// TestEntryKeepsItsRoom: an entry's files do not grow while it is pending.
func TestEntryKeepsItsRoom(t *testing.T) {
	ctx := context.Background()
	root, p := withFiles(t, testPlans(t)["bounce"])
	a := fileApplier(t, tempDir(t), root, &fakeKernel{host: testHost()})
	sizes := map[int64]bool{}
	a.journal.moment = func() {
		files, _ := filepath.Glob(filepath.Join(a.cfg.Dir, "*"+entrySuffix))
		for _, f := range files {
			if info, err := os.Stat(f); err == nil {
				sizes[info.Size()] = true
			}
		}
	}
	r, err := a.Apply(ctx, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 1 {
		t.Errorf("sizes %v", sizes)
	}
	if err := a.Confirm(ctx, r.ID); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(a.cfg.Dir, "*")); len(left) != 2 { // the entry and the lock
		t.Errorf("left %v", left)
	}
}

func TestOldEntriesGo(t *testing.T) {
	a := applier(t, tempDir(t), &fakeKernel{host: testHost()})
	for n := range KeepEntries + 5 {
		e := Entry{Version: entryVersion, ID: fmt.Sprintf("2020-%04d", n), State: agentapi.ChangeConfirmed, Started: time.Now()}
		switch n {
		case 0:
			e.State = agentapi.ChangeApplied // pending ones stay however old
		case KeepEntries + 4:
			e.Started = time.Now().Add(-2 * KeepTime)
		}
		b := fmt.Sprintf(`{"version":1,"id":%q,"state":%q,"started":%q,"steps":[],"plan":{"steps":[]}}`, e.ID, e.State, e.Started.Format(time.RFC3339))
		if err := os.WriteFile(a.journal.path(e.ID), []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entries, _, err := a.List()
	if err != nil {
		t.Fatal(err)
	}
	a.sweep(entries)
	left, _, err := a.List()
	if err != nil || len(left) != KeepEntries || left[0].ID != "2020-0000" || left[1].ID != "2020-0005" || left[len(left)-1].ID != "2020-0203" {
		t.Errorf("%d left, from %s, %s to %s, %v", len(left), left[0].ID, left[1].ID, left[len(left)-1].ID, err)
	}
}

func TestAbout(t *testing.T) {
	route := plan.Step{Kind: plan.Route, Route: &netstate.Route{Dst: netip.MustParsePrefix("10.0.0.0/8"), Link: "bond0.10"}}
	for name, tt := range map[string]struct {
		s    plan.Step
		link string
		want bool
	}{
		"its own": {plan.Step{Kind: plan.LinkMTU, Link: "bond0"}, "bond0", true},
		"other":   {plan.Step{Kind: plan.LinkMTU, Link: "bond1"}, "bond0", false},
		"route":   {route, "bond0.10", true},
		"sysctl":  {plan.Step{Kind: plan.Sysctl, Key: "net.ipv4.conf.bond0/10.rp_filter"}, "bond0.10", true},
		"longer":  {plan.Step{Kind: plan.Sysctl, Key: "net.ipv4.conf.bond01.rp_filter"}, "bond0", false},
		"parent":  {plan.Step{Kind: plan.LinkPresence, Link: "v", Make: &plan.Made{Kind: "vlan", Parent: "bond0"}}, "bond0", true},
		"master":  {plan.Step{Kind: plan.PortMaster, Link: "p0", Old: plan.NoMaster, New: "bond0"}, "bond0", true},
	} {
		if got := about(tt.s, tt.link); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
