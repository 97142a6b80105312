package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/lab/guest"
)

// machine is a host with systemd and a disk, that can be booted again.
type machine struct {
	t    *testing.T
	disk string
	dir  string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	if out, err := exec.Command("/usr/sbin/mke2fs", "-q", "-F", "-t", "ext4", disk, "400M").CombinedOutput(); err != nil {
		t.Fatalf("make disk: %v: %s", err, out)
	}
	return machine{t, disk, dir}
}

// mark is what the guest prints when its power is to go.
const mark = "now cut the power"

// watcher closes cut when the mark comes.
type watcher struct {
	mu   sync.Mutex
	text bytes.Buffer
	cut  chan struct{}
	once sync.Once
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if bytes.Contains(w.text.Bytes(), []byte(mark)) {
		w.once.Do(func() { close(w.cut) })
	}
	return len(p), nil
}

// boot boots the machine, runs a scenario there, and returns what it said; cut
// that its power went.
func (m machine) boot(scenario string, units ...string) (said string, cut bool) {
	m.t.Helper()
	w := &watcher{cut: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	exit, err := guest.Run(ctx, guest.Command{
		Args: []string{"-test.run=^TestCrash$", "-test.v", "-test.timeout=2m"}, Env: []string{envScenario + "=" + scenario},
		Dir: m.dir, Disk: m.disk, Units: units, Cut: w.cut, Stdout: w, Stderr: w, MemoryMiB: 768,
		Modules: []string{"veth", "dummy"},
	})
	said = w.text.String()
	if errors.Is(err, guest.ErrCut) {
		return said, true
	}
	if err != nil || exit.Status != 0 {
		m.t.Fatalf("%s: status %d, %v:\n%s", scenario, exit.Status, err, said)
	}
	return said, false
}

// powerCase is what a change is at when the power goes, and what is found after
// the next boot.
type powerCase struct {
	name string
	want agentapi.ChangeState
	tree string
}

var powerCases = []powerCase{
	{"open", agentapi.ChangeRolledBack, "old"},
	{"applied", agentapi.ChangeRolledBack, "old"},
	{"confirming", agentapi.ChangeConfirmed, "new"},
	{"confirming half", agentapi.ChangeConfirmed, "new"},
	{"reverting", agentapi.ChangeRolledBack, "old"},
	{"confirmed", agentapi.ChangeConfirmed, "new"},
}

// powerCuts cuts the power of a machine with systemd and boots it again.
func powerCuts(t *testing.T, cases []powerCase) {
	e := &ends{cuts: map[string]int{}}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			if said, cut := m.boot("cut " + tt.name); !cut {
				t.Fatalf("not cut:\n%s", said)
			}
			said, _ := m.boot("look", "systemd-sysctl.service")
			var got report
			if err := json.Unmarshal([]byte(line(said, "report: ")), &got); err != nil {
				t.Fatalf("%v in:\n%s", err, said)
			}
			if len(got.States) != 1 || got.States[0] != tt.want || got.Files != tt.tree || got.Unit || len(got.Litter) > 0 {
				t.Errorf("after the boot: %+v, want %s and the files %s", got, tt.want, tt.tree)
			}
			if pending := tt.name != "confirmed"; got.First != pending {
				t.Errorf("the boot unit ran before all that configures: %v, want %v", got.First, pending)
			}
			e.cuts["power while "+tt.name]++
			switch {
			case t.Failed():
				e.between++
			case tt.want == agentapi.ChangeConfirmed:
				e.new++
			default:
				e.old++
			}
		})
	}
	t.Logf("power cuts in a row, each with the next boot: %s", e.text())
}

// unitCuts kills the session of a change on a machine with systemd.
func unitCuts(t *testing.T) {
	m := newMachine(t)
	said, _ := m.boot("units")
	e := &ends{cuts: map[string]int{}}
	for l := range strings.Lines(said) {
		if _, what, ok := strings.Cut(l, "cut: "); ok {
			e.cuts[strings.TrimSpace(what)]++
			e.old++
		}
	}
	if len(e.cuts) != 4 {
		t.Errorf("%d kinds of cuts:\n%s", len(e.cuts), said)
	}
	t.Logf("cuts in a row on a machine with systemd: %s", e.text())
}

func line(said, prefix string) string {
	for l := range strings.Lines(said) {
		if _, rest, ok := strings.Cut(l, prefix); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// report is what is found after a boot.
type report struct {
	States []agentapi.ChangeState
	Files  string // "old", "new" or what is wrong
	Unit   bool   // the boot unit is still there
	Litter []string
	First  bool // the boot unit had ended when the system's sysctls were set
}

func (r report) print() {
	b, _ := json.Marshal(r)
	fmt.Println("report: " + string(b))
	_ = os.Stdout.Sync()
}
