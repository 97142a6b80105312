package pages

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/web"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// rack is a fleet that keeps what it is asked for.
type rack struct {
	mu    sync.Mutex
	asked []string
}

var rackTime = time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)

var rackLinks = []wire.Link{
	{Name: "eth0", MTU: 9000, Speed: 25e9, PartOf: "bond0"}, {Name: "eth1", MTU: 9000, Speed: 25e9, PartOf: "bond0"},
	{Name: "bond0", Kind: "bond", Bond: "802.3ad, layer3+4", MTU: 9000, Speed: 50e9, Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.11/24")}}, {Name: "mgmt0", MTU: 1500},
}

func (r *rack) Hosts(context.Context) (all []web.Host, _ error) {
	for i := range 12 {
		s := wire.State{Hello: agentapi.HelloReply{OS: "linux", Kernel: "6.1.0-42-amd64", Linerate: "test"}, Written: rackTime, Most: agentapi.RoleChange, Links: rackLinks}
		if i == 5 {
			s.Wrong = []string{"eth0 runs half duplex: it cannot send while it receives, and collides"}
		}
		all = append(all, web.Host{Name: fmt.Sprintf("db%02d", i), State: s, Gone: i == 7})
	}
	return all, nil
}

func (r *rack) Journal(context.Context, web.User, string) (agentapi.JournalReply, error) {
	step := agentapi.JournalStep{Step: plan.Step{Kind: plan.BondOption, Link: "bond0", Key: "xmit_hash_policy", Old: "layer2", New: "layer3+4"}, Progress: "done"}
	entry := func(id string, state agentapi.ChangeState, group string) agentapi.JournalEntry {
		return agentapi.JournalEntry{ID: "20260519T120000.000000Z-" + id, State: state, Group: group, Started: rackTime, Deadline: rackTime.Add(2 * time.Minute), Steps: []agentapi.JournalStep{step}, Files: []string{"/etc/netplan/50-linerate.yaml"}}
	}
	old := entry("aaaaaa", "confirmed", "")
	old.Started = time.Date(2026, 5, 5, 20, 0, 0, 0, time.UTC) // between two runs of a mesh
	return agentapi.JournalReply{Entries: []agentapi.JournalEntry{old, entry("bbbbbb", "confirmed", "20260519T110000Z-tuned"), entry("cccccc", "applied", "")}}, nil
}

func (r *rack) Observe(_ context.Context, _ web.User, host string) (netstate.Host, error) {
	return netstate.Host{Name: host, Links: []netstate.Link{{Name: "eth0", Driver: "ixgbe", Up: true, Carrier: true, Speed: 1e8, Duplex: "half"}}}, nil
}

func (r *rack) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, fmt.Sprintf(format, args...))
}

func (r *rack) Confirm(_ context.Context, v web.User, host, change string) error {
	r.note("%s confirms %s on %s", v.Name, change, host)
	return nil
}

func (r *rack) Rollback(_ context.Context, v web.User, host, change string) (agentapi.RollbackReply, error) {
	r.note("%s puts %s on %s back", v.Name, change, host)
	return agentapi.RollbackReply{Journal: change, RolledBack: 1}, nil
}

func (r *rack) Measure(v web.User, w web.Request) error {
	r.note("%s measures %s to %s", v.Name, w.From, w.To)
	return nil
}

func (r *rack) Measuring() []web.Measuring {
	w := web.Request{From: "db01", To: "db02"}
	return []web.Measuring{
		{ID: "2", Who: "eve", Request: w, Started: rackTime, Line: "  3/6 both      4 streams  18.6 Gbit/s    98.8 % of 18.8 Gbit/s  line-rate"},
		{ID: "1", Who: "bob", Request: w, Started: rackTime, Ended: true, Run: "run-001"},
	}
}

func (r *rack) Stop(v web.User, id string) error {
	r.note("%s stops %s", v.Name, id)
	return nil
}

// TestActionsByKeyboard: a measurement is started, and a change confirmed, without a
// mouse; forms work without scripts.
func TestActionsByKeyboard(t *testing.T) {
	hosts := &rack{}
	s := siteOf(t, hosts, mesh(0, 3, 6))
	b := open(t)
	b.size(t, 1280, "light")
	b.login(t, s)
	b.do(t, chromedp.Navigate(s.URL+"/hosts"))
	b.to(t, "select[name=from]")
	b.do(t, chromedp.KeyEvent("db03"), chromedp.KeyEvent("\t"), chromedp.KeyEvent("db04"))
	b.to(t, `form[action="/measure"] button`)
	b.do(t, chromedp.KeyEvent("\r"))
	b.await(t, `document.querySelector(".said") !== null`)
	b.do(t, chromedp.Navigate(s.URL+"/host/db03"))
	b.to(t, `form[action$="/confirm"] button`)
	b.do(t, chromedp.KeyEvent("\r"))
	b.await(t, `document.querySelector(".said") !== null`)
	hosts.mu.Lock()
	defer hosts.mu.Unlock()
	if got := strings.Join(hosts.asked, "; "); got != "eve measures db03 to db04; eve confirms 20260519T120000.000000Z-cccccc on db03" {
		t.Error(got)
	}
}

// to walks to an element by the tabulator key.
func (b *browser) to(t *testing.T, selector string) {
	t.Helper()
	for range 60 {
		b.do(t, chromedp.KeyEvent("\t"))
		if value[bool](t, b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	t.Fatalf("the tabulator never comes to %s", selector)
}
