package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/apply"
	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/link"
	"github.com/linerate/linerate/internal/bus/rig"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sysctl"
)

// How many hosts are cut off side by side, and how often each, in a proof; a
// test cuts one once, for long.
const (
	cutLanes = 8
	cutTries = 100
)

const cutKey = "net.ipv4.tcp_fin_timeout"

// cutLane is one host in a namespace whose agent's way to NATS can be cut.
type cutLane struct {
	ns      netns.Namespace
	journal string
	proxy   *rig.Proxy
	who     link.Config
	name    string
}

func newCutLane(t *testing.T, server *rig.Cluster, i int) *cutLane {
	t.Helper()
	l := &cutLane{name: fmt.Sprintf("cut%d", i), journal: t.TempDir()}
	space := "linerate-" + l.name
	_ = netns.Delete(space) // of a test that was killed
	var err error
	if l.ns, err = netns.Create(space); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netns.Delete(space) })
	l.proxy = rig.NewProxy(t, strings.TrimPrefix(server.URL, "tls://"))
	l.who = server.As(t, fmt.Sprintf("eve%d", i), bus.Change)
	as := server.As(t, l.name, bus.Agent)
	startWatched(t, "agent", "--nats", "tls://"+l.proxy.Addr(), "--creds", as.Creds, "--nats-ca", as.CA, "--netns", space, "--audit-log", l.journal+".audit", "--journal", l.journal)
	return l
}

func (l *cutLane) value(t *testing.T) string {
	t.Helper()
	var v string
	err := l.ns.Do(func() error {
		path, err := sysctl.Path(cutKey)
		if err != nil {
			return err
		}
		text, err := os.ReadFile("/" + path)
		v = strings.TrimSpace(string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// settled waits until no change of the host is pending, and returns the newest
// one's state; "" is none.
func (l *cutLane) settled(t *testing.T, known int) apply.State {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		entries, problems, err := apply.OpenJournal(l.journal).List()
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		pending := false
		for _, e := range entries {
			pending = pending || e.State.Pending()
		}
		if !pending && len(entries) == known {
			return ""
		}
		if !pending {
			return entries[len(entries)-1].State
		}
		if time.Now().After(end) {
			t.Fatalf("a change is still pending: %+v", entries[len(entries)-1])
		}
	}
}

// try changes the host while its way is cut, from one moment for a while, and
// returns what became of it.
func (l *cutLane) try(t *testing.T, after, span time.Duration) string {
	t.Helper()
	before, known := l.value(t), 0
	if entries, _, err := apply.OpenJournal(l.journal).List(); err == nil {
		known = len(entries)
	}
	want := "30"
	if before == "30" {
		want = "60"
	}
	file := filepath.Join(t.TempDir(), "cut.yaml")
	text := fmt.Sprintf("linerate: v1\nhosts:\n  %s: {reach: \"nats:%s\", sysctl: {%s: \"%s\"}, network: {version: 2}}\n", l.name, l.name, cutKey, want)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startWatched(t, "apply", file, "--yes", "--deadline", "15s", "--persist", "none", "--wait=60s", "--nats", l.who.URL, "--creds", l.who.Creds, "--nats-ca", l.who.CA)
	if span > 0 {
		time.Sleep(after)
		l.proxy.Cut()
		time.Sleep(span)
		l.proxy.Heal()
	}
	err := p.Wait()
	state := l.settled(t, known)
	now := l.value(t)
	what := fmt.Sprintf("cut after %v for %v: %v, journal %q, value %s to %s is %s\n%s", after, span, err, state, before, want, now, p.errs.String())
	switch {
	case state == apply.Confirmed && now != want, state != apply.Confirmed && now != before:
		t.Errorf("neither old nor new: %s", what)
	case err == nil && state != apply.Confirmed:
		t.Errorf("said to be done, and taken back: %s", what)
	case err != nil && state == apply.Confirmed:
		t.Errorf("said to be taken back, and kept: %s", what)
	}
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Error(err)
	}
	return string(state)
}

// The network between agent and server is cut at some moment of a change: what
// the controller says is what holds, and what was not confirmed is taken back
// by the guard, without a network.
func TestApplyCutOff(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	t.Parallel()
	lanes, tries := 1, 1
	if os.Getenv("PROVE_RUN") != "" {
		lanes, tries = cutLanes, cutTries
	}
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("PROVE_SEED"), 10, 64); err == nil {
		seed = s
	}
	server := rig.StartProcess(t)
	var mu sync.Mutex
	outcomes := make(map[string]int)
	done := make(chan int, tries)
	for i := range tries {
		done <- i + 1
	}
	close(done)
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(strconv.Itoa(lane), func(t *testing.T) {
				t.Parallel()
				l := newCutLane(t, server, lane)
				time.Sleep(time.Second)
				begin := time.Now()
				if state := l.try(t, 0, 0); state != string(apply.Confirmed) {
					t.Fatalf("without a cut: %q", state)
				}
				takes := time.Since(begin)
				for i := range done {
					r := rand.New(rand.NewPCG(seed, uint64(i)))
					after := time.Duration(r.Float64() * 1.1 * float64(takes))
					span := time.Second + time.Duration(r.Float64()*7*float64(time.Second))
					if i%3 == 1 { // longer than conversations and unconfirmed changes last
						span = 16*time.Second + time.Duration(r.Float64()*14*float64(time.Second))
					}
					state := l.try(t, after.Round(time.Millisecond), span.Round(time.Millisecond))
					mu.Lock()
					outcomes[state]++
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("changes cut off in a row, seed %d: %d tries: confirmed %d, taken back %d, not begun %d", seed, tries, outcomes["confirmed"], outcomes["rolled-back"], outcomes[""])
	if outcomes["confirmed"]+outcomes["rolled-back"]+outcomes[""] != tries {
		t.Errorf("%v", outcomes)
	}
}
