package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/plan"
)

// changed is an agent in a namespace that may be changed, on a bus.
type changed struct {
	audit      string
	testServer *testcluster.Server
}

func changeable(t *testing.T) changed {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	const space = "linerate-nats-change"
	_ = netns.Delete(space) // of a test that was killed
	ns, err := netns.Create(space)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netns.Delete(space) })
	c := changed{audit: filepath.Join(t.TempDir(), "log", "audit.log"), testServer: testcluster.Start(t, nil)}
	cfg := natsagent.Config{Host: "here", Audit: c.audit, Silence: time.Second}
	cfg.Agent.Namespace = ns
	onNATS(t, c.testServer, cfg)
	return c
}

const finTimeout = "net.ipv4.tcp_fin_timeout"

func request(to string, temporary bool) agentapi.ApplyRequest {
	step := plan.Step{Kind: plan.Sysctl, Key: finTimeout, Old: "60", New: to, Disruption: plan.Online}
	return agentapi.ApplyRequest{Plan: plan.Plan{Steps: []plan.Step{step}}, Temporary: temporary}
}

func (c changed) value(t *testing.T, h *Host) string {
	t.Helper()
	reply, err := h.Observe(t.Context(), finTimeout)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Host.Sysctls[finTimeout].Value
}

// lines are the audit log's.
func (c changed) lines(t *testing.T) []map[string]any {
	t.Helper()
	info, err := os.Stat(c.audit)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the audit log: %v, %v", info, err)
	}
	text, err := os.ReadFile(c.audit)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for line := range bytes.Lines(text) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

// A change is written down before and after, with who asked for it; a temporary
// one goes back with its conversation, however that ends.
func TestNATSChange(t *testing.T) {
	c := changeable(t)
	watcher := dialer(c.testServer.As(t, "bob", agentapi.RoleWatch))
	defer watcher.Close()
	looks, err := Dial(t.Context(), "here", "nats:here", Config{Bus: watcher})
	if err != nil {
		t.Fatal(err)
	}
	defer looks.Close()
	for _, end := range []string{"said", "silent"} {
		d := dialer(c.testServer.As(t, "eve", agentapi.RoleChange))
		h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := ask.Call(t.Context(), h, agentapi.Apply, request("30", true))
		if err != nil || reply.RolledBack != "" || c.value(t, looks) != "30" {
			t.Fatalf("%+v, %v: the value is %s", reply, err, c.value(t, looks))
		}
		if end == "said" {
			h.Close()
			if v := c.value(t, looks); v != "60" {
				t.Errorf("a temporary change stands after its conversation: %s", v)
			}
		}
		d.Close()
		for end := time.Now().Add(10 * time.Second); c.value(t, looks) != "60"; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("a temporary change outlives its controller")
			}
		}
	}
	// The value is back a moment before the log has the end of it.
	last := func(all []map[string]any) bool { return len(all) > 0 && all[len(all)-1]["stage"] == "end" }
	for end := time.Now().Add(10 * time.Second); !last(c.lines(t)) && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	var got []string
	for _, e := range c.lines(t) {
		if e["user"] != "eve" || e["host"] != "here" || e["time"] == "" || len(e["request_sha256"].(string)) != 64 {
			t.Errorf("%v", e)
		}
		got = append(got, e["method"].(string)+" "+e["stage"].(string))
		if e["stage"] == "end" && (e["result"] != "done" || e["journal"] == "") {
			t.Errorf("%v", e)
		}
		if e["method"] == "apply" && e["stage"] == "begin" && len(e["steps"].([]any)) != 1 {
			t.Errorf("%v", e)
		}
	}
	want := "apply begin,apply end,rollback begin,rollback end"
	if text := join(got); text != want+","+want {
		t.Errorf("the log has %s", text)
	}
}

// TestNATSConfirmedStays: what was made for a conversation and confirmed, in it or in
// another one, outlives it.
func TestNATSConfirmedStays(t *testing.T) {
	for _, by := range []string{"itself", "another"} {
		c := changeable(t)
		d := dialer(c.testServer.As(t, "eve", agentapi.RoleChange))
		h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := ask.Call(t.Context(), h, agentapi.Apply, request("30", true))
		if err != nil {
			t.Fatal(err)
		}
		other := dialer(c.testServer.As(t, "bob", agentapi.RoleChange))
		defer other.Close()
		another, err := Dial(t.Context(), "here", "nats:here", Config{Bus: other})
		if err != nil {
			t.Fatal(err)
		}
		defer another.Close()
		confirms := map[string]*Host{"itself": h, "another": another}[by]
		if _, err := ask.Call(t.Context(), confirms, agentapi.Confirm, agentapi.ConfirmRequest{Journal: reply.Journal}); err != nil {
			t.Fatal(err)
		}
		h.Close()
		d.Close()
		if v := c.value(t, another); v != "30" {
			t.Errorf("confirmed by %s, and the end of its conversation rolled it back: %s", by, v)
		}
		if _, err := ask.Call(t.Context(), another, agentapi.Rollback, agentapi.RollbackRequest{Journal: reply.Journal}); err != nil {
			t.Error(err)
		}
	}
}

func join(words []string) string {
	var b bytes.Buffer
	for i, w := range words {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(w)
	}
	return b.String()
}

// Where the log cannot be written nothing is changed.
func TestNATSAuditFailsClosed(t *testing.T) {
	c := changeable(t)
	d := dialer(c.testServer.As(t, "eve", agentapi.RoleChange))
	defer d.Close()
	h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	dir := filepath.Dir(c.audit)
	for name, spoil := range map[string]func() error{
		"a directory":          func() error { return os.MkdirAll(c.audit, 0o700) },
		"a link elsewhere":     func() error { return os.Symlink("/dev/null", c.audit) },
		"others may write it":  func() error { return os.WriteFile(c.audit, nil, 0o666) },
		"a full disk":          func() error { return os.Symlink("/dev/full", c.audit) },
		"no directory for one": func() error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
	} {
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700), spoil()); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"apply":    second(ask.Call(t.Context(), h, agentapi.Apply, request("30", false))),
			"confirm":  second(ask.Call(t.Context(), h, agentapi.Confirm, agentapi.ConfirmRequest{Journal: "x"})),
			"rollback": second(ask.Call(t.Context(), h, agentapi.Rollback, agentapi.RollbackRequest{})),
		} {
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		if v := c.value(t, h); v != "60" {
			t.Errorf("%s: changed to %s", name, v)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	reply, err := ask.Call(t.Context(), h, agentapi.Apply, request("30", false))
	if err != nil || c.value(t, h) != "30" {
		t.Errorf("with a log again: %+v, %v", reply, err)
	}
	if _, err := ask.Call(t.Context(), h, agentapi.Rollback, agentapi.RollbackRequest{Journal: reply.Journal}); err != nil || c.value(t, h) != "60" {
		t.Errorf("back: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
