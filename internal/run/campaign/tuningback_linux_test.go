package campaign

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const reorderingKey = "net.ipv4.tcp_reordering"

// onePair is a tune over the first pair that has measured nothing.
func onePair(t *testing.T) *tuning {
	t.Helper()
	f := twoPairs(t)
	f.Hosts, f.Paths = f.Hosts[:2], f.EffectivePaths()[:1]
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.begin(Tuning{Path: c.State().Paths[0], Direction: flow.Forward, Duration: 200 * time.Millisecond})
}

// valueOf is a host's sysctl, as the kernel has it.
func (u *tuning) valueOf(t *testing.T, host, key string) string {
	t.Helper()
	reply, err := u.c.hosts[host].Observe(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Host.Sysctls[key].Value
}

// The whole run goes back in the order of the journal, whichever step was set
// again last; entry by entry the first would find the other's value.
func TestKernelPutBackTogether(t *testing.T) {
	u := onePair(t)
	const rmem = "net.ipv4.tcp_rmem"
	before := u.valueOf(t, "b", rmem)
	u.keep(t, rmem, "4096 131072 8388608")
	u.keep(t, rmem, "4096 131072 16777216")
	u.kept[0], u.kept[1] = u.kept[1], u.kept[0]
	if err := u.putBack(); err != nil {
		t.Fatal(err)
	}
	if now := u.valueOf(t, "b", rmem); now != before || len(u.kept) != 0 {
		t.Errorf("%s is %q, was %q; %d steps kept", rmem, now, before, len(u.kept))
	}
	if err := u.c.revertRun(u.Group, []string{"a", "b"}); err != nil {
		t.Errorf("nothing is left to put back: %v", err)
	}
}

// A step whose second host refuses, and whose first one somebody has changed
// meanwhile, ends the tune: what holds there nobody has measured.
func TestKernelHalfPutBack(t *testing.T) {
	u := onePair(t)
	done := make(chan error, 1)
	go func() { done <- meddle(t) }()
	wanted := map[string]netstate.Host{}
	for name, value := range map[string]string{"a": "30", "b": "031"} { // which reads otherwise, so that b puts it back
		wanted[name] = withValue(u.c.state.Hosts[name], reorderingKey, value)
	}
	u.s.Trials = []record.Trial{freshSample(u, 90*unit.Mbps)}
	r, _, err := u.step(t.Context(), tune.Proposal{Name: tune.Reordering, Change: "it", Hosts: wanted, Load: u.s.Load, ProofA: u.s.Load, ProofB: u.s.Load})
	if fault := <-done; fault != nil {
		t.Fatal(fault)
	}
	if !errors.Is(err, ErrNotPutBack) || errors.Is(err, ErrRolledBack) || !strings.Contains(err.Error(), reorderingKey) || len(u.c.record.Trials) > 0 {
		t.Errorf("%v, %d trials", err, len(u.c.record.Trials))
	}
	if r == nil || r.step.Kept {
		t.Errorf("proof %+v", r)
	}
}

// meddle sets a's value once the step has set it; b is busy for seconds then,
// waiting for its own to show.
func meddle(t *testing.T) error {
	for range 100 {
		out, err := exec.CommandContext(t.Context(), "ip", "netns", "exec", "linerate-campaign-a", "cat", "/proc/sys/net/ipv4/tcp_reordering").Output()
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(out)) == "30" {
			return exec.CommandContext(t.Context(), "ip", "netns", "exec", "linerate-campaign-a", "sh", "-c", "echo 17 > /proc/sys/net/ipv4/tcp_reordering").Run()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("a was not changed")
}

func withValue(h netstate.Host, key, value string) netstate.Host {
	h = h.Clone()
	s := h.Sysctls[key]
	s.Value = value
	h.Sysctls[key] = s
	return h
}

// TestKernelCutShort: of a tune that was killed the next one says what stands, and how
// it is rolled back.
func TestKernelCutShort(t *testing.T) {
	u := onePair(t)
	const rmem = "net.ipv4.tcp_rmem"
	u.Title = "tune f.yaml"
	u.keep(t, rmem, "4096 131072 8388608")
	plans, err := plansTo(u.c.state.Hosts, map[string]netstate.Host{"b": withValue(u.c.state.Hosts["b"], reorderingKey, "30")})
	if err == nil {
		_, err = u.c.carryOut(t.Context(), plans, u.unconfirmed())
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(u.c.cfg.Fleet.JournalDir, "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files { // as of processes that are no more
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, regexp.MustCompile(`"start_ticks": \d+`).ReplaceAll(text, []byte(`"start_ticks": 1`)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var notes []string
	u.c.cfg.Tell = func(e Event) { notes = append(notes, e.Note) }
	if err := u.c.Changeable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(notes, "\n"); !strings.Contains(said, "tune f.yaml") || !strings.Contains(said, "1 change of it stands") || !strings.Contains(said, "linerate rollback") || !strings.Contains(said, u.Group) {
		t.Errorf("it says %q", said)
	}
	if v := u.valueOf(t, "b", reorderingKey); v == "30" {
		t.Error("the step that was not confirmed stands")
	}
	if err := u.c.revertRun(u.Group, []string{"b"}); err != nil {
		t.Error(err)
	}
}

// TestRefusal: what was put back may be followed by another try, what was not
// ends the tune.
func TestRefusal(t *testing.T) {
	denied := &agentapi.Error{Code: agentapi.CodeBusy, Text: "b: busy"}
	stays := wentBack("a", agentapi.RollbackReply{Left: []string{"MTU of eth0"}}, nil, "")
	for _, c := range []struct {
		name        string
		err         error
		goOn, stuck bool
	}{
		{"refused", refusal(denied, nil), true, false},
		{"did not hold", refusal(ErrRolledBack, nil), true, false},
		{"did not hold, and the other stays", refusal(ErrRolledBack, stays), false, true},
		{"refused, and the other stays", refusal(denied, stays), false, true},
		{"half of it stays", refusal(&agentapi.Error{Code: agentapi.CodeHalf, Text: "b: half"}, nil), false, true},
		{"no answer", refusal(errors.New("broken pipe"), nil), false, false},
	} {
		if asBefore(c.err) != c.goOn || errors.Is(c.err, ErrNotPutBack) != c.stuck || c.stuck && errors.Is(c.err, ErrRolledBack) {
			t.Errorf("%s: %v: go on %v, stuck %v", c.name, c.err, asBefore(c.err), errors.Is(c.err, ErrNotPutBack))
		}
	}
}

// Hosts whose journal cannot be are said before anything is measured; a plan
// that waits for somebody's word too.
func TestKernelChangeable(t *testing.T) {
	f := twoPairs(t)
	f.Hosts, f.Paths = f.Hosts[:2], f.EffectivePaths()[:1]
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{t.TempDir(): "", filepath.Join(file, "journal"): "a: make journal directory"} {
		c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: dir, Unguarded: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Changeable(t.Context()); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", dir, err)
		}
		if want != "" {
			continue
		}
		wanted := map[string]netstate.Host{"a": withValue(c.State().Hosts["a"], reorderingKey, "30")}
		plans, err := plansTo(c.State().Hosts, wanted)
		if err == nil {
			_, err = c.carryOut(t.Context(), []plan.Plan{plans[0]}, agentapi.ApplyRequest{Deadline: unconfirmed})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Changeable(t.Context()); !errors.Is(err, agentapi.ErrBusy) {
			t.Errorf("with a change that is not confirmed: %v", err)
		}
	}
}
