package root

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/plan"
)

// actor is somebody at the web page of a served fleet.
type actor struct {
	*http.Client
	page, form string
}

func (f *served) actor(t *testing.T, role string) *actor {
	t.Helper()
	o := run(t, "", "serve", "login", "--state", f.state, "--user", "eve", "--role", role, "--json")
	var said struct{ Token string }
	if err := json.Unmarshal([]byte(o.stdout), &said); err != nil {
		t.Fatalf("%v %s", err, o.stderr)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &actor{Client: &http.Client{Jar: jar, Timeout: 30 * time.Second}, page: f.web}
	text := a.post(t, "login", url.Values{"token": {said.Token}}, http.StatusOK)
	m := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("not logged in:\n%s", text)
	}
	a.form = m[1]
	return a
}

func (a *actor) read(t *testing.T, r *http.Response, err error, status int) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		t.Fatalf("%s %v\n%s", r.Status, err, text)
	}
	return string(text)
}

func (a *actor) post(t *testing.T, path string, form url.Values, status int) string {
	t.Helper()
	form.Set("form", a.form)
	r, err := a.PostForm(a.page+path, form)
	return a.read(t, r, err, status)
}

func (a *actor) get(t *testing.T, path string) string {
	t.Helper()
	r, err := a.Get(a.page + path)
	return a.read(t, r, err, http.StatusOK)
}

// awaits reads a page until it has the words.
func (a *actor) awaits(t *testing.T, path, words string) string {
	t.Helper()
	var text string
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if text = a.get(t, path); strings.Contains(text, words) {
			return text
		}
	}
	t.Fatalf("%s never has %q:\n%s", path, words, text)
	return ""
}

// A visitor measures two real hosts from the page, stops another measurement, and
// confirms a change and puts it back: with the role for it, and in their name.
func TestServeActs(t *testing.T) {
	triangle(t)
	f := newServed(t)
	journal := map[string]string{}
	for _, name := range []string{"a", "b"} {
		journal[name] = f.agent(t, name)
	}
	eve := f.actor(t, "measure")
	eve.awaits(t, "hosts", `<th scope="row"><a href="/host/b">b</a>`)
	wish := func(seconds string) url.Values {
		return url.Values{"from": {"a"}, "to": {"b"}, "streams": {"1"}, "direction": {"forward"}, "seconds": {seconds}}
	}
	eve.post(t, "measure", wish("1"), http.StatusOK)
	text := eve.awaits(t, "hosts", "the run</a>")
	m := regexp.MustCompile(`href="(/run/[^"]+)"`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no run:\n%s", text)
	}
	if report := eve.get(t, strings.TrimPrefix(m[1], "/")+"/report"); !strings.Contains(report, "95.6 Mbit/s, MTU 1500 B") { // the shaped link's ceiling
		t.Errorf("its report:\n%s", report)
	}
	eve.post(t, "measure", wish("120"), http.StatusOK)
	eve.awaits(t, "hosts", "/measure/2/stop")
	time.Sleep(2 * time.Second) // so that it measures
	eve.post(t, "measure/2/stop", url.Values{}, http.StatusOK)
	for end := time.Now().Add(30 * time.Second); strings.Contains(eve.get(t, "hosts"), "/measure/2/stop"); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it goes on")
		}
	}

	// What somebody else measures over the server is on the page without being asked
	// for, and its first look says how the path stands.
	waitForEnd(t, startWatched(t, "measure", "nats:a", "nats:b", "--streams", "2", "--directions", "forward", "--duration", "300ms", "--ping-count", "3", "-o", filepath.Join(t.TempDir(), "r.json"),
		"--nats", f.url, "--creds", f.enroll(t, "measure", "carol"), "--nats-ca", filepath.Join(f.state, "ca.pem")))
	eve.awaits(t, "", "2 streams, tcp")

	ctl := f.enroll(t, "change", "bob")
	for i, word := range []string{"confirm", "rollback"} {
		id := waitingChange(t, f, ctl, fmt.Sprint(31+i))
		eve.post(t, "host/a/"+word, url.Values{"change": {id}}, http.StatusForbidden)
		eve.awaits(t, "host/a", id)
		lead := f.actor(t, "change")
		lead.post(t, "host/a/"+word, url.Values{"change": {id}}, http.StatusOK)
		want := map[string]agentapi.ChangeState{"confirm": agentapi.ChangeConfirmed, "rollback": agentapi.ChangeRolledBack}[word]
		if got := stateOf(t, journal["a"], id); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
	audit, err := os.ReadFile(filepath.Join(journal["a"], "audit.log"))
	if err != nil || !strings.Contains(string(audit), `"eve-web"`) || !strings.Contains(string(audit), `"bob"`) {
		t.Errorf("the audit log does not say who: %v\n%s", err, audit)
	}
}

// waitingChange makes one on host a, as bob, that nobody confirms.
func waitingChange(t *testing.T, f *served, creds, value string) string {
	t.Helper()
	dialer := link.NewDialer(func() (link.Config, error) {
		return link.Config{URL: f.url, Creds: creds, CA: filepath.Join(f.state, "ca.pem")}, nil
	})
	defer dialer.Close()
	h, err := fleet.Dial(t.Context(), "a", "nats:a", fleet.Config{Bus: dialer, Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	state, err := h.Observe(t.Context(), cutKey)
	if err != nil {
		t.Fatal(err)
	}
	s := state.Host.Sysctls[cutKey]
	step := plan.Step{Kind: plan.Sysctl, Key: cutKey, Scope: s.Scope, Old: s.Value, New: value}
	reply, err := ask.Call(t.Context(), h, agentapi.Apply, agentapi.ApplyRequest{Plan: plan.Plan{Host: "a", Steps: []plan.Step{step}}, Deadline: time.Minute})
	if err != nil || reply.RolledBack != "" {
		t.Fatal(err, reply.RolledBack)
	}
	return reply.Journal
}

func stateOf(t *testing.T, journal, id string) agentapi.ChangeState {
	t.Helper()
	entries, problems, err := apply.OpenJournal(journal).List()
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	for _, e := range entries {
		if e.ID == id {
			return e.State
		}
	}
	return ""
}
