package root

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sysctl"
)

// How many hosts are cut off side by side, and how often, in a proof: a hundred
// times for 1 to 8 s, and then for 30 s, which no conversation outlives. A test
// cuts one host twice.
const (
	cutLanes = 8
	cutTries = 100
	cutLong  = 24
)

// guardLate is how much later than its deadline a change may be all back: the guard
// looks at it to the millisecond, and then has to be let onto a busy core.
const guardLate = time.Second

// cut is one cut of a lane's way.
type cut struct {
	word  string // what the program says before it; "" is its start
	after time.Duration
	span  time.Duration // zero is no cut
}

func (c cut) String() string {
	return fmt.Sprintf("cut %v after %q for %v", c.after.Round(time.Millisecond), c.word, c.span.Round(time.Millisecond))
}

// cutMoments are where tries are cut: any moment of the whole, and each part of it
// that something is at stake in, for as long as that takes.
var cutMoments = [...]struct {
	word string
	most time.Duration
}{{"", 0}, {"arm ", 150 * time.Millisecond}, {"prove: ", 100 * time.Millisecond}, {"confirm over new connections", 25 * time.Millisecond}}

// drawCut is a try's cut; takes is how long a change does without one.
func drawCut(seed uint64, i int, takes time.Duration) cut {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	at := cutMoments[i%len(cutMoments)]
	c := cut{word: at.word, after: time.Duration(r.Float64() * float64(at.most)), span: time.Second + time.Duration(r.Float64()*7*float64(time.Second))}
	if at.word == "" {
		c.after = time.Duration(r.Float64() * float64(takes))
	}
	switch {
	case i > cutTries:
		c.span = 30 * time.Second
	case os.Getenv("PROVE_RUN") == "" && i == 1:
		c.span = 12 * time.Second
	}
	return c
}

const cutKey = "net.ipv4.tcp_fin_timeout"

// cutLane is one host in a namespace whose agent's way to NATS can be cut.
type cutLane struct {
	ns      netns.Namespace
	journal string
	proxy   *testcluster.Proxy
	who     link.Config
	name    string
}

func newCutLane(t *testing.T, server *testcluster.Cluster, i int) *cutLane {
	t.Helper()
	l := &cutLane{name: fmt.Sprintf("cut%d", i), journal: testjournal.Dir(t)}
	space := "linerate-" + l.name
	_ = netns.Delete(space) // of a test that was killed
	var err error
	if l.ns, err = netns.Create(space); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netns.Delete(space) })
	l.proxy = testcluster.NewProxy(t, strings.TrimPrefix(server.URL, "tls://"))
	l.who = server.As(t, fmt.Sprintf("eve%d", i), agentapi.RoleChange)
	as := server.As(t, l.name, agentapi.RoleAgent)
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
// entry where there is one more than were known.
func (l *cutLane) settled(t *testing.T, known int) (newest apply.Entry) {
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
		switch {
		case !pending && len(entries) == known:
			return newest
		case !pending:
			return entries[len(entries)-1]
		case time.Now().After(end):
			t.Fatalf("a change is still pending: %+v", entries[len(entries)-1])
		}
	}
}

// said waits until a change has come to a word, or is over.
func (p *watched) said(word string) {
	for range 10000 {
		if text := p.errs.String(); strings.Contains(text, word) || strings.Contains(text, "linerate: ") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// try changes the host while its way is cut, and returns what became of it:
// confirmed, rolled-back, or "" for a change that was not begun.
func (l *cutLane) try(t *testing.T, c cut) string {
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
	p := startWatched(t, append([]string{"apply", file, "--yes", "--confirm-timeout", "5s", "--persist", "none", "--wait=60s"}, l.as()...)...)
	if c.span > 0 {
		p.said(c.word)
		time.Sleep(c.after)
		l.proxy.Cut()
		time.Sleep(c.span)
		l.proxy.Heal()
	}
	status := 0
	if err := p.Wait(); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			t.Fatal(err)
		}
		status = exit.ExitCode()
	}
	e := l.settled(t, known)
	now := l.value(t)
	what := fmt.Sprintf("%v: status %d, journal %q (%s), value %s to %s is %s\n%s", c, status, e.State, e.Reason, before, want, now, p.errs.String())
	begun := slices.ContainsFunc(e.Steps, func(s apply.StepState) bool { return s.Progress != agentapi.StepPending })
	switch {
	case e.State == agentapi.ChangeConfirmed && now != want, e.State != agentapi.ChangeConfirmed && now != before:
		t.Errorf("neither old nor new: %s", what)
	case (status == console.ExitDone) != (e.State == agentapi.ChangeConfirmed):
		t.Errorf("it says another thing than holds: %s", what)
	case begun && e.State == agentapi.ChangeRolledBack && (status != console.ExitRolledBack || !strings.Contains(p.errs.String(), "change rolled back")):
		t.Errorf("taken back, and not said so: %s", what)
	}
	if late := l.late(t, e); late > guardLate {
		t.Errorf("it was back %v after its deadline: %s", late, what)
	}
	if c.span > 10*time.Second {
		l.awaitAgent(t)
	}
	if !begun {
		return ""
	}
	return string(e.State)
}

// late is how long after its deadline a change was back that nobody confirmed;
// below zero it was in time. One that was asked to go back later has no deadline.
func (l *cutLane) late(t *testing.T, e apply.Entry) time.Duration {
	t.Helper()
	if e.State != agentapi.ChangeRolledBack || !strings.Contains(e.Reason, "in time") {
		return 0
	}
	info, err := os.Stat(filepath.Join(l.journal, e.ID+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().Sub(e.Deadline)
}

// as is who the controller is.
func (l *cutLane) as() []string {
	return []string{"--nats", l.who.URL, "--creds", l.who.Creds, "--nats-ca", l.who.CA}
}

// awaitAgent waits until the agent answers again.
func (l *cutLane) awaitAgent(t *testing.T) {
	t.Helper()
	for range 60 {
		if startWatched(t, append([]string{"journal", "nats:" + l.name}, l.as()...)...).Wait() == nil {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Error("the agent does not answer after a cut")
}

// The network between agent and server is cut at some moment of a change: what
// the controller says is what holds, and what was not confirmed is taken back
// by the guard, without a network.
func TestApplyCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	t.Parallel()
	lanes, tries := 1, 2
	if os.Getenv("PROVE_RUN") != "" {
		lanes, tries = cutLanes, cutTries+cutLong
	}
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("PROVE_SEED"), 10, 64); err == nil {
		seed = s
	}
	server := testcluster.StartProcess(t)
	var mu sync.Mutex
	outcomes, long := make(map[string]int), make(map[string]int)
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
				if state := l.try(t, cut{}); state != string(agentapi.ChangeConfirmed) {
					t.Fatalf("without a cut: %q", state)
				}
				takes := time.Since(begin)
				for i := range done {
					state := l.try(t, drawCut(seed, i, takes))
					mu.Lock()
					outcomes[state]++
					if i > cutTries {
						long[state]++
					}
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("changes cut off in a row, --confirm-timeout 5s, seed %d: %d tries: confirmed %d, taken back %d, not begun %d; %d of them for 30 s: %d, %d, %d; bound for the guard: back within %v of the deadline",
		seed, tries, outcomes["confirmed"], outcomes["rolled-back"], outcomes[""], max(0, tries-cutTries), long["confirmed"], long["rolled-back"], long[""], guardLate)
	if outcomes["confirmed"]+outcomes["rolled-back"]+outcomes[""] != tries {
		t.Errorf("%v", outcomes)
	}
}
