package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/plan"
)

// envScenario is what TestCrash does in a machine with systemd.
const envScenario = "LINERATE_CRASH_SCENARIO"

// inside is the part of powerCuts and unitCuts that runs in the machine.
func inside(t *testing.T, scenario string) {
	how, state, _ := strings.Cut(scenario, " ")
	switch how {
	case "cut":
		cutPower(t, state)
	case "look":
		look(t)
	case "units":
		killSessions(t)
	}
}

const rmem = "net.ipv4.tcp_rmem"

var oldFiles = map[string]string{"/etc/netplan/10-old.yaml": "network: {version: 2}\n", "/etc/sysctl.d/91-old.conf": "# old\n"}

var newFiles = map[string]string{"/etc/netplan/10-old.yaml": "network: {version: 2, renderer: networkd}\n", "/etc/sysctl.d/95-linerate.conf": "# new\n"}

// hostPlan changes two links and a sysctl of the machine, and three files.
func hostPlan(t *testing.T) plan.Plan {
	t.Helper()
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}); err != nil {
		t.Fatal(err)
	}
	v, err := sysctl.Read(rmem)
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{Host: "h", Steps: []plan.Step{
		{Kind: plan.Sysctl, Key: rmem, Old: v[rmem].Value, New: "4096 65536 1048576"},
		{Kind: plan.LinkMTU, Link: "v0", Old: "1500", New: "9000"},
		{Kind: plan.LinkMTU, Link: "v1", Old: "1500", New: "9000"},
		{Kind: plan.LinkState, Link: "v0", Old: plan.Down, New: plan.Up},
	}}
	for path, text := range oldFiles {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o640))
	}
	p = withFiles(p)
	syscall.Sync() // the state from which the change starts
	return p
}

func asBefore(p plan.Plan) error {
	for _, s := range p.Steps {
		now, err := (act.Kernel{}).Read(context.Background(), s)
		if err != nil {
			return err
		}
		if now != s.Old {
			return fmt.Errorf("%s is %s, before it was %s", s.Target(), now, s.Old)
		}
	}
	return nil
}

// cutPower brings a change to a state and asks for the power to go.
func cutPower(t *testing.T, state string) {
	p := hostPlan(t)
	open := job{Op: "apply", Plan: p, Guard: true, Deadline: time.Minute}
	held := func(j job, word string) {
		cmd, out := j.start(t)
		defer func() { _ = cmd.Process.Kill() }()
		for !strings.Contains(out.String(), word) {
			time.Sleep(10 * time.Millisecond)
		}
	}
	if state == "open" {
		open.HoldAfter = 3
		held(open, "held")
	} else if out, killed := open.run(t); killed || out.Err != "" || out.State != agentapi.ChangeApplied {
		t.Fatalf("apply: %+v", out)
	}
	if _, err := os.Lstat(apply.BootUnit); err != nil {
		t.Errorf("no boot unit: %v", err)
	}
	switch state {
	case "confirming", "confirming half":
		// The first moments are those of the journal: the files come after.
		at := 6
		if state == "confirming half" {
			at = 8
		}
		stopGuard(t)
		if out, killed := (job{Op: "confirm", DieMoment: at}).run(t); !killed {
			t.Fatalf("confirm: %+v", out)
		}
		if s := states(t); s[0] != agentapi.ChangeConfirming {
			t.Fatalf("it is %v", s)
		}
	case "confirmed", "reverting":
		if out, killed := (job{Op: "confirm"}).run(t); killed || out.Err != "" {
			t.Fatalf("confirm: %+v", out)
		}
	}
	if state == "reverting" {
		if out, killed := (job{Op: "rollback", Guard: true, DieMoment: 8}).run(t); !killed {
			t.Fatalf("rollback: %+v", out)
		}
		if s := states(t); s[0] != agentapi.ChangeReverting {
			t.Fatalf("it is %v", s)
		}
	}
	fmt.Println(mark)
	select {}
}

// stopGuard stops the guard, so that it does not finish what is to be cut.
func stopGuard(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("kill", "-STOP", waitUnit(t)).CombinedOutput(); err != nil {
		t.Fatalf("stop the guard: %v: %s", err, out)
	}
}

func states(t *testing.T) []agentapi.ChangeState {
	t.Helper()
	entries, problems, err := apply.OpenJournal("").List()
	if err != nil || len(problems) > 0 {
		t.Fatalf("journal: %v, %v", problems, err)
	}
	var out []agentapi.ChangeState
	for _, e := range entries {
		out = append(out, e.State)
	}
	return out
}

// look reports what a boot has made of it.
func look(t *testing.T) {
	var r report
	r.States = states(t)
	r.Files = filesBelow("/")
	_, err := os.Lstat(apply.BootUnit)
	r.Unit = err == nil
	for _, dir := range []string{"/etc/netplan", "/etc/sysctl.d", apply.DefaultDir} {
		names, _ := filepath.Glob(filepath.Join(dir, ".*linerate*"))
		more, _ := filepath.Glob(filepath.Join(dir, "*.spare"))
		r.Litter = append(append(r.Litter, names...), more...)
	}
	r.First = monotonic("linerate-recover.service", "ExecMainExitTimestampMonotonic") > 0 &&
		monotonic("linerate-recover.service", "ExecMainExitTimestampMonotonic") <= monotonic("systemd-sysctl.service", "ExecMainStartTimestampMonotonic")
	r.print()
}

// monotonic is a time of a unit, in microseconds since the boot; zero where
// there is none.
func monotonic(unit, property string) int64 {
	out, err := exec.Command("systemctl", "show", "--property="+property, "--value", unit).Output()
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return n
}

// filesBelow says what the files of a tree are: "old", "new" or "between".
func filesBelow(root string) string {
	same := func(want map[string]string) bool {
		for _, path := range []string{"/etc/netplan/10-old.yaml", "/etc/sysctl.d/91-old.conf", "/etc/sysctl.d/95-linerate.conf"} {
			b, err := os.ReadFile(filepath.Join(root, path))
			text, ok := want[path]
			if ok != (err == nil) || string(b) != text {
				return false
			}
		}
		return true
	}
	switch {
	case same(oldFiles):
		return "old"
	case same(newFiles):
		return "new"
	}
	return "between"
}

// killSessions kills the whole session of a change, then the guard too.
func killSessions(t *testing.T) {
	p := hostPlan(t)
	p.Files = nil
	for _, what := range []string{"half done", "applied", "applied and guard killed", "applied and guard told to end"} {
		j := job{Op: "apply", Plan: p, Guard: true, Deadline: 20 * time.Second, HoldEnd: true}
		if what == "half done" {
			j.HoldAfter = 2
		}
		if what == "applied" {
			j.Deadline = 4 * time.Second
		}
		cmd, _ := j.start(t)
		guard := waitUnit(t)
		group, err := os.ReadFile(fmt.Sprintf("/proc/%s/cgroup", guard))
		if err != nil || !strings.Contains(string(group), "linerate-guard-") {
			t.Errorf("the guard's control group is %q, %v", group, err)
		}
		waitSteps(t, len(p.Steps), what == "half done")
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		switch what {
		case "applied and guard killed":
			_ = exec.Command("kill", "-9", guard).Run()
			waitTrue(t, "the guard to be started again", func() bool { return waitUnit(t) != guard })
			_ = exec.Command("systemctl", "stop", "linerate-guard-*.service").Run()
		case "applied and guard told to end":
			_ = exec.Command("systemctl", "stop", "linerate-guard-*.service").Run()
		}
		waitTrue(t, what+": taken back", func() bool { s := states(t); return s[len(s)-1] == agentapi.ChangeRolledBack })
		if err := asBefore(p); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		waitTrue(t, "boot unit to go", func() bool { _, err := os.Lstat(apply.BootUnit); return err != nil })
		fmt.Printf("cut: session killed, change %s\n", what)
	}
}

// waitUnit waits for a guard's unit that runs and is armed, and returns its
// process.
func waitUnit(t *testing.T) string {
	t.Helper()
	var pid string
	waitTrue(t, "the guard's unit", func() bool {
		entries, _, _ := apply.OpenJournal("").List()
		if len(entries) == 0 {
			return false
		}
		id := entries[len(entries)-1].ID
		unit := "linerate-guard-" + id + ".service"
		out, err := exec.Command("systemctl", "show", "--property=MainPID", "--value", unit).Output()
		pid = strings.TrimSpace(string(out))
		armed, _ := os.ReadFile(filepath.Join(apply.DefaultDir, id+".armed"))
		return err == nil && pid != "" && pid != "0" && strings.Contains(string(armed), `"pid":`+pid+",")
	})
	return pid
}

func waitSteps(t *testing.T, all int, half bool) {
	t.Helper()
	waitTrue(t, "the steps", func() bool {
		entries, _, _ := apply.OpenJournal("").List()
		e := entries[len(entries)-1]
		done := 0
		for _, s := range e.Steps {
			if s.Progress == agentapi.StepDone {
				done++
			}
		}
		return half && done == 1 || done == all && e.State == agentapi.ChangeApplied
	})
}

// patience is how long is waited for what a busy machine does at once.
const patience = 40 * time.Second

func waitTrue(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
