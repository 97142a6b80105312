package fleet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
)

// Where the process of the agents finds what it is to be.
const (
	scaleURL = "LINERATE_SCALE_URL"
	scaleDir = "LINERATE_SCALE_DIR"
)

// TestScaleAgents is no test: it is the process of TestNATSScale's agents, each
// with a connection and an identity of its own.
func TestScaleAgents(t *testing.T) {
	dir := os.Getenv(scaleDir)
	if dir == "" {
		t.Skip("the process of TestNATSScale's agents")
	}
	creds, err := filepath.Glob(filepath.Join(dir, "*.creds"))
	if err != nil {
		t.Fatal(err)
	}
	// It ends with its parent, who holds the other end of this.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	var all sync.WaitGroup
	for _, file := range creds {
		all.Go(func() {
			conn, err := link.Connect(ctx, link.Config{URL: os.Getenv(scaleURL), Creds: file, CA: filepath.Join(dir, "ca.pem"), Forever: true})
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			cfg := agent.Config{Version: "test", JournalDir: filepath.Join(dir, "journal"), LockDir: filepath.Join(dir, "hold")}
			if err := natsagent.Run(ctx, conn, natsagent.Config{Host: conn.Who.Name, Agent: cfg, Audit: filepath.Join(dir, "audit.log")}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// agentsAt is how many agents a run of the proof has; a test has a few.
func agentsAt(run string) int {
	if n, err := strconv.Atoi(run); err == nil && n >= 1 && n <= 4 {
		return []int{10, 100, 300, 1000}[n-1]
	}
	return 50
}

// TestNATSScale asks many agents, each on a connection of its own, what they
// are: from the run store, and one after the other. The server, the agents and
// this controller are three processes.
func TestNATSScale(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	n := agentsAt(os.Getenv("PROVE_RUN"))
	server := testcluster.StartProcess(t)
	dir := t.TempDir()
	ca, err := os.ReadFile(server.CA())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		name := fmt.Sprintf("h%04d", i)
		if err := os.Rename(server.As(t, name, agentapi.RoleAgent).Creds, filepath.Join(dir, name+".creds")); err != nil {
			t.Fatal(err)
		}
	}
	agents := exec.Command(os.Args[0], "-test.run", "^TestScaleAgents$", "-test.timeout", "20m")
	agents.Env = append(os.Environ(), scaleURL+"="+server.URL, scaleDir+"="+dir)
	hold, err := agents.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := agents.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		hold.Close()
		_ = agents.Wait()
	})
	d := dialer(server.As(t, "eve", agentapi.RoleWatch))
	t.Cleanup(d.Close)
	conn, _, err := d.Conn(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for there := 0; there < n; time.Sleep(200 * time.Millisecond) {
		states, _, err := results.States(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		if there = len(states); time.Since(begin) > 5*time.Minute {
			t.Fatalf("%d of %d agents came", there, n)
		}
	}
	came := time.Since(begin)
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak counts from the start: %v", err)
	}
	idle := memory(t, "VmRSS")
	begin = time.Now()
	states, _, err := results.States(t.Context(), conn)
	bucket := time.Since(begin)
	if err != nil || len(states) != n {
		t.Fatalf("%d states, %v", len(states), err)
	}
	for name, s := range states {
		if s.Hello.Hostname != name || len(s.Links) == 0 || s.Most != agentapi.RoleChange {
			t.Fatalf("%s: %+v", name, s)
		}
	}
	begin = time.Now()
	asked := askAll(t, d, n, false)
	greeting := time.Since(begin)
	begin, before := time.Now(), ownTime(t)
	asked = min(asked, askAll(t, d, n, true))
	asking, own := time.Since(begin), ownTime(t)-before
	peak := memory(t, "VmHWM")
	t.Logf("%d agents on NATS: %d of %d asked; all came within %.1f s; inventory from the run store %.3f s, a conversation with each and its hello %.2f s, with the whole host observed anew by each on these cores %.2f s, of which the controller worked %.2f s on one; memory of the controller %.0f MB at most, %.0f MB before; of the server %.0f MB, of all agents %.0f MB",
		n, asked, n, came.Seconds(), bucket.Seconds(), greeting.Seconds(), asking.Seconds(), own.Seconds(), peak, idle, memoryOf(t, server.PID(0), "VmRSS"), memoryOf(t, agents.Process.Pid, "VmRSS"))
	// Observing is the agents' own work, each on its host; here they share two cores.
	if asked != n || bucket > 10*time.Second || greeting > 10*time.Second || asking > 10*time.Second || peak > 500 {
		t.Errorf("want the inventory, every hello and every host observed within 10 s, and 500 MB")
	}
}

// atOnce is how many hosts a controller asks at the same time.
const atOnce = 32

// askAll greets every host, has it observed where asked to, and returns how many
// answered.
func askAll(t *testing.T, d *link.Dialer, n int, observe bool) int {
	t.Helper()
	slots := make(chan struct{}, atOnce)
	var mu sync.Mutex
	answered := 0
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			name := fmt.Sprintf("h%04d", i)
			h, err := Dial(t.Context(), name, "nats:"+name, Config{Bus: d})
			if err != nil {
				t.Error(err)
				return
			}
			defer h.Close()
			if h.Hello.Hostname != name {
				t.Errorf("%s says that it is %s", name, h.Hello.Hostname)
				return
			}
			if !observe {
				mu.Lock()
				defer mu.Unlock()
				answered++
				return
			}
			seen, err := h.Observe(t.Context())
			if err != nil || seen.Host.Name != name {
				t.Errorf("%s: %s, %v", name, seen.Host.Name, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answered++
		})
	}
	all.Wait()
	return answered
}

// ownTime is what this process has worked until now.
func ownTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func memory(t *testing.T, key string) float64 { return memoryOf(t, os.Getpid(), key) }

// memoryOf is a line of a process's status, in MB.
func memoryOf(t *testing.T, pid int, key string) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == key+":" {
			kb, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb * 1024 / 1e6
		}
	}
	t.Fatalf("no %s in the status of %d", key, pid)
	return 0
}
