package root

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/plan"
)

// tunedPair is two hosts of a fabric file, namespaces, on which a run made
// three changes, of which one is put back and one on the second host waits.
type tunedPair struct {
	file, journal string
	hosts         []*fleet.Host
}

const tunedRun = "20261122T103000.000Z"

func newTunedPair(t *testing.T) tunedPair {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	p := tunedPair{file: t.TempDir() + "/two.yaml", journal: testjournal.Dir(t)}
	text := "linerate: v1\nhosts:\n"
	for _, name := range []string{"left", "right"} {
		space := "linerate-undo-" + name
		_ = netns.Delete(space) // of a test that was killed
		if _, err := netns.Create(space); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netns.Delete(space) })
		text += "  " + name + ": {reach: \"netns:" + space + "\", network: {version: 2}}\n"
		h, err := fleet.Dial(t.Context(), name, "netns:"+space, fleet.Config{JournalDir: p.journal, Unguarded: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		p.hosts = append(p.hosts, h)
	}
	if err := os.WriteFile(p.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.change(t, 0, tunedRun, "net.ipv4.tcp_fin_timeout", "60", "30", true)
	p.change(t, 1, tunedRun, "net.ipv4.tcp_fin_timeout", "60", "30", true)
	p.change(t, 0, tunedRun, "net.ipv4.tcp_fin_timeout", "30", "20", true)
	p.change(t, 1, tunedRun, "net.ipv4.tcp_keepalive_probes", "9", "5", false)
	return p
}

// change sets a sysctl on a host and returns its entry.
func (p tunedPair) change(t *testing.T, host int, group, key, from, to string, confirm bool) string {
	t.Helper()
	title := ""
	if group != "" {
		title = "tune two.yaml"
	}
	step := plan.Step{Kind: plan.Sysctl, Key: key, Old: from, New: to, Disruption: plan.Online}
	reply, err := ask.Call(context.Background(), p.hosts[host], agentapi.Apply, agentapi.ApplyRequest{Plan: plan.Plan{Steps: []plan.Step{step}}, Group: group, Title: title})
	if err == nil && confirm {
		_, err = ask.Call(context.Background(), p.hosts[host], agentapi.Confirm, agentapi.ConfirmRequest{Journal: reply.Journal})
	}
	if err = errors.Join(err, rolledBackError(reply)); err != nil {
		t.Fatal(err)
	}
	return reply.Journal
}

func rolledBackError(r agentapi.ApplyReply) error {
	if r.RolledBack != "" {
		return errors.New(r.RolledBack)
	}
	return nil
}

// values are the two sysctls of both hosts.
func (p tunedPair) values(t *testing.T) string {
	t.Helper()
	var out []string
	for _, h := range p.hosts {
		reply, err := h.Observe(context.Background(), "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_probes")
		if err != nil {
			t.Fatal(err)
		}
		s := reply.Host.Sysctls
		out = append(out, s["net.ipv4.tcp_fin_timeout"].Value+" "+s["net.ipv4.tcp_keepalive_probes"].Value)
	}
	return strings.Join(out, ", ")
}

func (p tunedPair) run(t *testing.T, args ...string) outcome {
	t.Helper()
	return run(t, "", append(args, "--journal", p.journal)...)
}

// TestRollbackOfRun takes a run back on both hosts of a file with one command,
// after having shown it, and only once.
func TestRollbackOfRun(t *testing.T) {
	p := newTunedPair(t)
	if v := p.values(t); v != "20 9, 30 5" {
		t.Fatalf("before: %s", v)
	}
	o := p.run(t, "journal", p.file)
	if !strings.Contains(o.stdout, "left:\n"+tunedRun+"  tune two.yaml: 2 changes: 2 confirmed\n") ||
		!strings.Contains(o.stdout, "right:\n"+tunedRun+"  tune two.yaml: 2 changes: 1 applied, 1 confirmed\n") {
		t.Errorf("journal: %s%s", o.stdout, o.stderr)
	}
	o = p.run(t, "rollback", p.file, "--dry-run")
	if o.status != 0 || !strings.HasPrefix(o.stdout, tunedRun+": tune two.yaml (4 changes) would be rolled back:\n") || strings.Count(o.stdout, "net.ipv4.tcp_fin_timeout: 20 -> 30") != 1 {
		t.Errorf("dry run: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if v := p.values(t); v != "20 9, 30 5" {
		t.Errorf("a dry run made it %s", v)
	}
	o = p.run(t, "rollback", p.file)
	if o.status != 0 || o.stdout != tunedRun+": tune two.yaml (4 changes): 4 steps rolled back on 2 hosts\n" {
		t.Errorf("rollback: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if v := p.values(t); v != "60 9, 60 9" {
		t.Errorf("after: %s", v)
	}
	if o = p.run(t, "rollback", p.file); o.status != console.ExitUsage || !strings.Contains(o.stderr, "nothing to roll back on left, right") {
		t.Errorf("again: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if o = p.run(t, "rollback", p.file, tunedRun); o.status != console.ExitFailed || !strings.Contains(o.stderr, "it is rolled back already") {
		t.Errorf("again by name: %d %s%s", o.status, o.stdout, o.stderr)
	}
}

// TestRollbackOfOneStep takes one change of a run back, and says what stays.
func TestRollbackOfOneStep(t *testing.T) {
	p := newTunedPair(t)
	reply, err := ask.Call(t.Context(), p.hosts[0], agentapi.Journal, agentapi.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	first := reply.Entries[0].ID
	o := p.run(t, "rollback", p.file, first)
	text := strings.Join(strings.Fields(o.stdout), " ")
	if o.status != 0 || !regexp.MustCompile(`has set sysctl \S+ since|has set net.ipv4.tcp_fin_timeout since`).MatchString(text) ||
		!strings.Contains(text, "the others stay: `linerate rollback "+tunedRun+"`") {
		t.Errorf("rollback of the first: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if v := p.values(t); v != "20 9, 30 5" {
		t.Errorf("the later one's value must stay: %s", v)
	}
	doc := document(t, p.run(t, "rollback", p.file, "--host", "left", "--json"))
	wantKeys(t, "rollback", doc, "group hosts left title undone_count")
	if v := p.values(t); v != "30 9, 30 5" {
		t.Errorf("left alone, its first entry back already: %s", v)
	}
}

// TestRollbackNamesWhatIsNewer: a change by itself that is newer than a run
// must be named; what others set stays; a host that another run holds, and one
// that is not there, stop all before anything is touched.
func TestRollbackNamesWhatIsNewer(t *testing.T) {
	p := newTunedPair(t)
	if o := p.run(t, "rollback", p.file, "missing"); o.status != console.ExitUsage || !strings.Contains(o.stderr, "no journal entry missing") {
		t.Errorf("unknown: %d %s", o.status, o.stderr)
	}
	if _, err := ask.Call(t.Context(), p.hosts[1], agentapi.Lock, agentapi.LockRequest{Holder: agentapi.Holder{Run: "other", What: "tune two.yaml"}}); err != nil {
		t.Fatal(err)
	}
	if o := p.run(t, "rollback", p.file); o.status != console.ExitUnreachable || !strings.Contains(o.stderr, "tune two.yaml") || !strings.Contains(o.stderr, "hint: end that run first") {
		t.Errorf("held: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if _, err := ask.Call(t.Context(), p.hosts[1], agentapi.Release, agentapi.Empty{}); err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(readText(t, p.file), "hosts:\n", "hosts:\n  gone: {reach: \"netns:linerate-undo-gone\", network: {version: 2}}\n", 1)
	if err := os.WriteFile(p.file, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := p.run(t, "rollback", p.file); o.status != console.ExitUnreachable || !strings.Contains(o.stderr, "hint: nothing was touched; --host") {
		t.Errorf("unreachable: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if v := p.values(t); v != "20 9, 30 5" {
		t.Errorf("something was touched: %s", v)
	}
	if o := p.run(t, "rollback", p.file, "--host", "right"); o.status != 0 {
		t.Errorf("right alone: %d %s", o.status, o.stderr)
	}
	p.change(t, 0, "", "net.ipv4.tcp_fin_timeout", "20", "10", true)
	o := p.run(t, "rollback", p.file, "--host", "left")
	if o.status != console.ExitUsage || !strings.Contains(o.stderr, "or the run before it, "+tunedRun) {
		t.Errorf("newer: %d %s%s", o.status, o.stdout, o.stderr)
	}
	o = p.run(t, "rollback", p.file, tunedRun, "--host", "left")
	if o.status != 0 || !strings.Contains(o.stdout, "left: ") {
		t.Errorf("others' value: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if v := p.values(t); v != "10 9, 60 9" {
		t.Errorf("after: %s", v)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
