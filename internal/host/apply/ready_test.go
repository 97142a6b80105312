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

// portsKernel has links that carry again some looks after they were disturbed,
// or never.
type portsKernel struct {
	*fakeKernel
	never []string
	looks map[string]int // until it carries
	order []string
}

func (k *portsKernel) Do(ctx context.Context, s plan.Step) error {
	for _, l := range s.Ready {
		k.looks[l] = 3
	}
	k.order = append(k.order, "do "+s.Target())
	return k.fakeKernel.Do(ctx, s)
}

func (k *portsKernel) Ready(ctx context.Context, link string) (string, error) {
	if slices.Contains(k.never, link) && k.dos > 0 {
		return link + " has no partner", ctx.Err()
	}
	if k.looks[link]--; k.looks[link] > 0 {
		return link + " waits", ctx.Err()
	}
	k.order = append(k.order, "ready "+link)
	return "", ctx.Err()
}

func portsPlan(t *testing.T) plan.Plan {
	t.Helper()
	steps := []plan.Step{
		{Kind: plan.LinkMTU, Link: "v", Old: "1500", New: "1400", Ready: []string{"p0"}},
		{Kind: plan.LinkMTU, Link: "b", Old: "1500", New: "1450", Ready: []string{"p1"}},
	}
	return plan.Plan{Steps: steps}
}

func TestWaitsForLinks(t *testing.T) {
	k := &portsKernel{fakeKernel: &fakeKernel{host: testHost()}, looks: map[string]int{}}
	r, err := applier(t, tempDir(t), k).Apply(context.Background(), portsPlan(t), Options{})
	if err != nil || r.State != agentapi.ChangeApplied {
		t.Fatalf("%+v, %v", r, err)
	}
	want := []string{"ready p0", "ready p1", "do v mtu", "ready p0", "do b mtu", "ready p1"}
	if !slices.Equal(k.order, want) {
		t.Errorf("order %q, want %q", k.order, want)
	}
}

func TestLinkStaysAway(t *testing.T) {
	k := &portsKernel{fakeKernel: &fakeKernel{host: testHost()}, looks: map[string]int{}, never: []string{"p1"}}
	a := applier(t, tempDir(t), k)
	a.cfg.Ready = 20 * time.Millisecond
	r, err := a.Apply(context.Background(), portsPlan(t), Options{})
	var step *StepError
	if !errors.Is(err, ErrNotReady) || !errors.As(err, &step) || !step.RolledBack || step.Step.Link != "b" || r.State != agentapi.ChangeRolledBack {
		t.Errorf("%+v, %v", r, err)
	}
	sameHost(t, "taken back", testHost(), k.host)
}

// TestDeadPortIsNotWaitedFor: it did not carry before.
func TestDeadPortIsNotWaitedFor(t *testing.T) {
	k := &portsKernel{fakeKernel: &fakeKernel{host: testHost(), dos: 1}, looks: map[string]int{}, never: []string{"p1"}}
	a := applier(t, tempDir(t), k)
	a.cfg.Ready = time.Minute
	if r, err := a.Apply(context.Background(), portsPlan(t), Options{}); err != nil || r.State != agentapi.ChangeApplied {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCheckSaysNo(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("no traffic on p1")
	k := &fakeKernel{host: testHost()}
	a := applier(t, tempDir(t), k)
	p := testPlans(t)["bounce"]
	want, err := plan.Apply(testHost(), p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Apply(ctx, p, Options{Check: func(context.Context) error {
		sameHost(t, "at the check", want, k.host)
		if e, err := a.find(""); err != nil || e.State != agentapi.ChangeOpen {
			t.Errorf("at the check: %s, %v", e.State, err)
		}
		return broken
	}})
	var step *StepError
	if !errors.Is(err, broken) || !errors.As(err, &step) || !step.RolledBack || !step.Check || r.State != agentapi.ChangeRolledBack {
		t.Errorf("%+v, %v", r, err)
	}
	sameHost(t, "taken back", testHost(), k.host)
}

// TestGoneLinks: what was taken out or renamed meanwhile is left, and said.
func TestGoneLinks(t *testing.T) {
	ctx := context.Background()
	k := goneKernel{fakeKernel: &fakeKernel{host: testHost()}, gone: ""}
	a := applier(t, tempDir(t), &k)
	if _, err := a.Apply(ctx, portsPlan(t), Options{}); err != nil {
		t.Fatal(err)
	}
	k.gone = "v"
	back, err := a.Rollback(ctx, "")
	if err != nil || back.State != agentapi.ChangeRolledBack || len(back.Left) != 1 || back.RolledBack != 1 {
		t.Errorf("%+v, %v", back, err)
	}
}
