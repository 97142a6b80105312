package root

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// TestStrangersOnTheBus is the finding: `serve hosts` printed an agent's state raw,
// with lines that said things of other hosts.
func TestStrangersOnTheBus(t *testing.T) {
	r := testcluster.Start(t, nil)
	text, err := os.ReadFile(filepath.Join("testdata", "strangers", "agent-state-escapes.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, state := range map[string]string{"db1": string(text), "db2": string(mutant(t, text, func(key string) bool {
		return key != "since" && key != "written" && key != "most" && key != "addresses"
	}))} {
		if reply := testcluster.State(t, testcluster.Connect(t, r.As(t, name, agentapi.RoleAgent)), name, []byte(state)); reply.Error != "" {
			t.Fatal(reply.Error)
		}
	}
	who := r.As(t, "wat", agentapi.RoleWatch)
	o := strangers(t, "serve", "hosts", "--nats", who.URL, "--creds", who.Creds, "--nats-ca", who.CA)
	if o.status != console.ExitDone || strings.Count(o.stdout, "\n") != 2 || !strings.Contains(o.stdout, "?]0;owned") {
		t.Errorf("exit %d: %q, %s", o.status, o.stdout, o.stderr)
	}
}

// TestStrangersOnLiveHosts: the kernel takes nearly any name for a link, and a
// host's journal is its own word.
func TestStrangersOnLiveHosts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	const space = "linerate-strangers"
	_ = netns.Delete(space) // of a test that was killed
	if _, err := netns.Create(space); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netns.Delete(space) })
	for _, args := range [][]string{
		{"link", "add", "a\x1b[31m\u009b2J", "type", "veth", "peer", "name", "b\x7f\u202ex\x07"},
		{"addr", "add", "192.0.2.1/24", "dev", "a\x1b[31m\u009b2J"}, {"link", "set", "a\x1b[31m\u009b2J", "up"}, {"link", "set", "b\x7f\u202ex\x07", "up"},
		{"link", "set", "a\x1b[31m\u009b2J", "alias", "x\nFAKED\x1b[2J"},
	} {
		if out, err := exec.Command("ip", append([]string{"-n", space}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %q: %v: %s", args, err, out)
		}
	}
	reach, journal := "netns:"+space, testjournal.Dir(t)
	writeJournal(t, journal, space)
	fabricFile := file(t, "f.yaml", "linerate: v1\nhosts:\n  h: {reach: \""+reach+"\", network: {version: 2}}\n")
	for _, args := range [][]string{
		{"inspect", reach}, {"inspect", reach, "--all"}, {"discover", reach}, {"explain", "--live", reach, "--duration", "1s"}, {"plan", fabricFile}, {"plan", fabricFile, "--exact"},
		{"journal", reach, "--journal", journal}, {"predict", "--live", reach}, {"steer", "show", "--policy", "layer3+4", "--links", "2", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--sport", "1", "--dport", "2"},
		{"inspect", reach, fabricFile}, {"measure", fabricFile}, {"rollback", "--journal", journal, reach, "--dry-run"},
	} {
		strangers(t, args...)
	}
	if o := wide(t, "inspect", reach, "--all"); o.status != console.ExitDone || !strings.Contains(o.stdout, "a?[31m?2J") {
		t.Errorf("exit %d: %s", o.status, o.stderr)
	}
	if o := wide(t, "journal", reach, "--journal", journal); o.status != console.ExitDone || !strings.Contains(o.stdout, "owned") {
		t.Errorf("exit %d: %s, %s", o.status, o.stdout, o.stderr)
	}
	out := filepath.Join(t.TempDir(), "out.yaml")
	if o := wide(t, "discover", reach, "-o", out); o.status != console.ExitDone {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	printed(t, "the discovered file", string(text))
}

// writeJournal puts an entry with a stranger's words into a journal: root's own,
// of what a kernel, a driver or another host said.
func writeJournal(t *testing.T, dir, space string) {
	t.Helper()
	const id = "20260101T000000.000000Z-000001"
	text, err := json.Marshal(map[string]any{
		"version": 1, "id": id, "state": agentapi.ChangeRolledBack, "reason": stranger, "namespace": space, "started": "2026-01-01T00:00:00Z", "deadline": "2026-01-01T00:00:00Z",
		"group": map[string]any{"id": "g" + stranger, "title": stranger}, "pid": 1, "plan": map[string]any{"steps": []any{map[string]any{"kind": "sysctl", "link": stranger, "key": stranger, "new": stranger}}},
		"steps": []any{map[string]any{"progress": "left", "note": stranger}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, id+".json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}
