package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// squad is a fleet that remembers who asked it for what.
type squad struct {
	mu        sync.Mutex
	asked     []string
	measuring []Measuring
	entries   []agentapi.JournalEntry
	deaf      error // why no host's state can be read
}

func (q *squad) note(v User, format string, args ...any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = append(q.asked, v.Name+" "+string(v.Role)+": "+fmt.Sprintf(format, args...))
}

func (q *squad) Hosts(context.Context) ([]Host, error) {
	now := time.Date(2026, 5, 12, 0, 0, 0, 0, time.UTC)
	return []Host{
		{Name: "db1", State: wire.State{Hello: agentapi.HelloReply{OS: "linux", Kernel: "6.1"}, Written: now, Most: agentapi.RoleChange, Links: make([]wire.Link, 3)}},
		{Name: "db2", State: wire.State{Hello: agentapi.HelloReply{OS: "linux", Kernel: "6.1"}, Written: now, Most: agentapi.RoleMeasure}},
		{Name: "db3", State: wire.State{Written: now.Add(-time.Hour)}, Gone: true},
	}, nil
}

func (q *squad) Journal(_ context.Context, v User, host string) (agentapi.JournalReply, error) {
	q.note(v, "journal %s", host)
	if host != "db1" {
		return agentapi.JournalReply{}, fmt.Errorf("%w: host %s", ErrNothing, host)
	}
	return agentapi.JournalReply{Entries: q.entries}, nil
}

func (q *squad) Observe(_ context.Context, v User, host string) (netstate.Host, error) {
	q.note(v, "observe %s", host)
	return netstate.Host{Name: host, Links: []netstate.Link{{Name: "eth9", Driver: "ixgbe", Up: true, Carrier: true, Speed: 1e8, Duplex: "half"}}}, q.deaf
}

func (q *squad) Confirm(_ context.Context, v User, host, change string) error {
	q.note(v, "confirm %s on %s", change, host)
	if change != "c3" {
		return fmt.Errorf("confirm %s: %w", change, agentapi.ErrState)
	}
	return nil
}

func (q *squad) Rollback(_ context.Context, v User, host, change string) (agentapi.RollbackReply, error) {
	q.note(v, "roll back %s on %s", change, host)
	return agentapi.RollbackReply{Journal: change, RolledBack: 2, Left: []string{"net.core.rmem_max is 7"}}, nil
}

func (q *squad) Measure(v User, w Request) error {
	q.note(v, "measure %s to %s, %v streams, %s, %v", w.From, w.To, w.Streams, w.Direction, w.Duration)
	if w.To == "db3" {
		return fmt.Errorf("%w: four run", ErrBusy)
	}
	return nil
}

func (q *squad) Measuring() []Measuring {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.measuring
}

func (q *squad) Stop(v User, id string) error {
	q.note(v, "stop %s", id)
	return nil
}

// journal is one of each kind: confirmed, of a run, and one that waits.
func journal() []agentapi.JournalEntry {
	at := time.Date(2026, 5, 11, 12, 0, 0, 0, time.UTC)
	step := agentapi.JournalStep{Step: plan.Step{Kind: plan.Sysctl, Key: "net.core.rmem_max", Old: "1", New: "<2>"}, Progress: "done"}
	return []agentapi.JournalEntry{
		{ID: "c1", State: "confirmed", Started: at, Steps: []agentapi.JournalStep{step}},
		{ID: "c2", State: "confirmed", Started: at, Group: "g1", Title: "tune", Steps: []agentapi.JournalStep{step}},
		{ID: "c3", State: "applied", Started: at, Deadline: at.Add(2 * time.Minute), Pending: true, Steps: []agentapi.JournalStep{step}},
		{ID: "c4", State: "rolled-back", Started: at, Steps: []agentapi.JournalStep{step}},
	}
}

// as logs in with a role.
func (s *served) as(t *testing.T, role agentapi.Role) (c *http.Client, form string) {
	t.Helper()
	s.gate.mu.Lock()
	s.gate.all["token-"+string(role)] = User{Name: "eve", Role: role}
	s.gate.mu.Unlock()
	c = s.user(t)
	_, text := s.post(t, c, "/login", url.Values{"token": {"token-" + string(role)}})
	m := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no form on the page:\n%s", text)
	}
	return c, m[1]
}

// Each role sees and does what it may, and nothing more; no form of another
// session does anything.
func TestActions(t *testing.T) {
	q := &squad{entries: journal()}
	s := serveFleet(t, q)
	good := url.Values{"from": {"db1"}, "to": {"db2"}, "streams": {"1, 4"}, "direction": {"both"}, "seconds": {"5"}}
	actions := []struct {
		path string
		form url.Values
		role agentapi.Role // the least that may
		want string
	}{
		{"/measure", good, agentapi.RoleMeasure, "eve %s: measure db1 to db2, [1 4] streams, both, 5s"},
		{"/measure/7/stop", nil, agentapi.RoleMeasure, "eve %s: stop 7"},
		{"/host/db1/confirm", url.Values{"change": {"c3"}}, agentapi.RoleChange, "eve %s: confirm c3 on db1"},
		{"/host/db1/rollback", url.Values{"change": {"c1"}}, agentapi.RoleChange, "eve %s: roll back c1 on db1"},
	}
	for _, role := range agentapi.People() {
		c, form := s.as(t, role)
		for _, a := range actions {
			q.asked = nil
			with := func(token string) url.Values {
				f := url.Values{"form": {token}}
				for k, v := range a.form {
					f[k] = v
				}
				return f
			}
			if r, _ := s.post(t, c, a.path, with("")); r.StatusCode != http.StatusForbidden || len(q.asked) > 0 {
				t.Errorf("%s %s with a form of nobody's: %s, %v", role, a.path, r.Status, q.asked)
			}
			r, text := s.post(t, c, a.path, with(form))
			if !role.Includes(a.role) {
				if r.StatusCode != http.StatusForbidden || len(q.asked) > 0 || !strings.Contains(text, "needs the role "+string(a.role)) {
					t.Errorf("%s %s: %s, %v\n%s", role, a.path, r.Status, q.asked, text)
				}
				continue
			}
			if want := fmt.Sprintf(a.want, role); r.StatusCode != http.StatusOK || !slices.Contains(q.asked, want) || !strings.Contains(text, `class="said"`) {
				t.Errorf("%s %s: %s, %v\n%s", role, a.path, r.Status, q.asked, text)
			}
		}
		_, hosts := s.get(t, c, "/hosts")
		if got := strings.Contains(hosts, `action="/measure"`); got != role.Includes(agentapi.RoleMeasure) {
			t.Errorf("%s: form to measure %v", role, got)
		}
		_, host := s.get(t, c, "/host/db1")
		var offered []string
		for _, m := range regexp.MustCompile(`(?s)action="/host/db1/(\w+)".*?name="change" value="(\w+)"`).FindAllStringSubmatch(host, -1) {
			offered = append(offered, m[1]+" "+m[2])
		}
		want := []string(nil)
		if role == agentapi.RoleChange {
			want = []string{"confirm c3", "rollback c3", "rollback c1"}
		}
		if diff := cmp.Diff(want, offered); diff != "" {
			t.Errorf("%s is offered (-want +got):\n%s", role, diff)
		}
		if strings.Contains(host, "<2>") || !strings.Contains(host, "&lt;2&gt;") || !strings.Contains(host, "linerate rollback FABRIC g1") {
			t.Errorf("%s:\n%s", role, host)
		}
	}
}

// TestHostFindings: a host's page says what is wrong with it, and where its state cannot
// be read why, never that nothing is wrong.
func TestHostFindings(t *testing.T) {
	q := &squad{entries: journal()}
	s := serveFleet(t, q)
	c, _ := s.as(t, agentapi.RoleWatch)
	if _, text := s.get(t, c, "/host/db1"); !strings.Contains(text, "fault: eth9 runs half duplex") || !strings.Contains(text, "Remedy:") || !slices.Contains(q.asked, "eve watch: observe db1") {
		t.Errorf("findings: %s, %v", text, q.asked)
	}
	q.deaf = fmt.Errorf("observe db1: <timeout>")
	if r, text := s.get(t, c, "/host/db1"); r.StatusCode != http.StatusOK || !strings.Contains(text, "observe db1: &lt;timeout&gt;") || strings.Contains(text, "Nothing found wrong") || !strings.Contains(text, "Changes") {
		t.Errorf("no state: %s %s", r.Status, text)
	}
}

// What cannot be measured is refused with a sentence, and nothing is started.
func TestRequests(t *testing.T) {
	q := &squad{}
	s := serveFleet(t, q)
	c, form := s.as(t, agentapi.RoleChange)
	for change, status := range map[[2]string]int{
		{"from", "../x"}: 400, {"from", ""}: 400, {"to", "db1"}: 400, {"streams", "0"}: 400, {"streams", "65"}: 400, {"streams", "1;2"}: 400,
		{"streams", "1,1,1,1,1,1,1,1,1"}: 400, {"streams", "--help"}: 400, {"direction", "up"}: 400, {"seconds", "0"}: 400, {"seconds", "301"}: 400, {"seconds", "x"}: 400,
		{"to", "db3"}: 409,
	} {
		q.asked = nil
		f := url.Values{"form": {form}, "from": {"db1"}, "to": {"db2"}, "streams": {"1"}, "direction": {"forward"}, "seconds": {"5"}}
		f.Set(change[0], change[1])
		r, text := s.post(t, c, "/measure", f)
		if r.StatusCode != status || status == 400 && len(q.asked) > 0 || !strings.Contains(text, "<main") {
			t.Errorf("%v: %s, %v", change, r.Status, q.asked)
		}
	}
	if r, _ := s.get(t, c, "/host/db9"); r.StatusCode != http.StatusNotFound {
		t.Error(r.Status)
	}
	if r, _ := s.get(t, c, "/host/a%20b"); r.StatusCode != http.StatusBadRequest {
		t.Error(r.Status)
	}
	if r, text := s.post(t, c, "/host/db1/confirm", url.Values{"form": {form}, "change": {"c1"}}); r.StatusCode != http.StatusConflict {
		t.Errorf("%s\n%s", r.Status, text)
	}
}

// Code 4.7: who may measure stops what they started; who may change stops any.
func TestStopOfAnothers(t *testing.T) {
	w := Request{From: "db1", To: "db2", Streams: []int{1}, Direction: flow.Both, Duration: time.Second}
	q := &squad{measuring: []Measuring{{ID: "2", Who: "bob", Request: w}, {ID: "1", Who: "eve", Request: w}}}
	s := serveFleet(t, q)
	for role, may := range map[agentapi.Role][]string{agentapi.RoleWatch: nil, agentapi.RoleMeasure: {"1"}, agentapi.RoleChange: {"2", "1"}} {
		c, form := s.as(t, role)
		_, text := s.get(t, c, "/hosts")
		for _, id := range []string{"1", "2"} {
			allowed := slices.Contains(may, id)
			if strings.Contains(text, "/measure/"+id+"/stop") != allowed {
				t.Errorf("%s is offered to stop %s: %v", role, id, !allowed)
			}
			q.asked = nil
			r, text := s.post(t, c, "/measure/"+id+"/stop", url.Values{"form": {form}})
			if (r.StatusCode == http.StatusOK) != allowed || (len(q.asked) > 0) != allowed || !allowed && r.StatusCode != http.StatusForbidden {
				t.Errorf("%s stops %s: %s, %v", role, id, r.Status, q.asked)
			}
			if role == agentapi.RoleMeasure && !allowed && !strings.Contains(text, "bob started it") {
				t.Errorf("%s is not told why:\n%s", role, text)
			}
		}
	}
}

// A measurement shows while it runs and after; what is said is said once.
func TestMeasuring(t *testing.T) {
	q := &squad{}
	s := serveFleet(t, q)
	c, form := s.as(t, agentapi.RoleMeasure)
	w := Request{From: "db1", To: "db2", Streams: []int{1}, Direction: flow.Both, Duration: time.Second}
	q.measuring = []Measuring{{ID: "3", Who: "eve", Request: w, Line: "2/4 <forward>"}, {ID: "2", Who: "bob", Request: w, Ended: true, Run: "run-03"}, {ID: "1", Who: "bob", Request: w, Ended: true, Error: "db2 is busy"}}
	_, text := s.get(t, c, "/hosts")
	for _, want := range []string{"2/4 &lt;forward&gt;", "/measure/3/stop", `href="/run/run-03"`, "db2 is busy", "again.js"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "/measure/2/stop") {
		t.Error("what has ended can be stopped")
	}
	f := url.Values{"form": {form}, "from": {"db1"}, "to": {"db2"}, "streams": {"1"}, "direction": {"forward"}, "seconds": {"5"}}
	if _, text := s.post(t, c, "/measure", f); !strings.Contains(text, "is being measured") {
		t.Errorf("not said:\n%s", text)
	}
	if _, text := s.get(t, c, "/hosts"); strings.Contains(text, "is being measured") {
		t.Error("said twice")
	}
}

// Without a fleet there is nothing to act on.
func TestNoFleet(t *testing.T) {
	s := serve(t)
	c := s.in(t)
	if r, text := s.get(t, c, "/hosts"); r.StatusCode != http.StatusNotFound || strings.Contains(text, `href="/hosts"`) {
		t.Error(r.Status)
	}
}
