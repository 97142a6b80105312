package overssh

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/plan"
)

// dial reaches a host from the desk, in this process.
func (r *rack) dial(t *testing.T, reach string, fresh bool, shared *fleet.SSH) *fleet.Host {
	t.Helper()
	h, err := fleet.Dial(t.Context(), "h1", reach, fleet.Config{SSH: shared, Fresh: fresh, Version: "test"})
	floor.Must(t, err)
	return h
}

// atDesk lets this process find the desk's ssh.
func (r *rack) atDesk(t *testing.T) *fleet.SSH {
	t.Helper()
	t.Setenv("PATH", r.path+":"+os.Getenv("PATH"))
	shared := &fleet.SSH{Program: agent, Dir: r.temp}
	t.Cleanup(func() { floor.Must(t, shared.Close()) })
	return shared
}

// mtu changes a host's MTU, with so long to confirm it.
func mtu(t *testing.T, h *fleet.Host, to int, deadline time.Duration) string {
	t.Helper()
	seen, err := h.Observe(t.Context())
	floor.Must(t, err)
	want := seen.Host.Clone()
	l, _ := want.Link("eth0")
	l.MTU = to
	want.SetLink(l)
	p, err := plan.Between(seen.Host, want)
	floor.Must(t, err)
	reply, err := ask.Call(t.Context(), h, agentapi.Apply, agentapi.ApplyRequest{Plan: p, Deadline: deadline})
	floor.Must(t, err)
	if reply.Journal == "" || reply.Applied == 0 {
		t.Fatalf("nothing was changed: %+v", reply)
	}
	return reply.Journal
}

func (h *host) mtu(t *testing.T) string {
	t.Helper()
	// The link belongs to the namespace that the host's sysfs shows.
	return strings.TrimSpace(own(t, filepath.Join(h.root, "sys/class/net/eth0/mtu")))
}

// copies are the directories that a host's programs were copied to.
func (h *host) copies(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(h.root, "tmp/linerate.*"))
	floor.Must(t, err)
	return found
}

// TestPendingChange: a change outlives the agent that made it, and so does the
// program that its guard is; both go when it is rolled back, and when it is
// confirmed over another connection with another copy.
func TestPendingChange(t *testing.T) {
	r := newRack(t, 0, hosting{})
	shared := r.atDesk(t)
	const reach = "ssh://ann@h1?become=sudo"
	one := r.hosts[0]
	for _, confirmed := range []bool{false, true} {
		h := r.dial(t, reach, false, shared)
		deadline := 3 * time.Second
		if confirmed {
			deadline = time.Minute
		}
		id := mtu(t, h, 1400, deadline)
		floor.Must(t, h.Close())
		floor.Must(t, shared.Close()) // which keeps the program for further connections
		if one.mtu(t) != "1400" || len(one.copies(t)) != 1 || len(one.processes(t)) == 0 {
			t.Fatalf("confirmed %v: MTU %s, copies %q, processes %q: the guard needs its program", confirmed, one.mtu(t), one.copies(t), one.processes(t))
		}
		want := "1500"
		if confirmed {
			again := r.dial(t, reach, true, shared)
			_, err := ask.Call(t.Context(), again, agentapi.Confirm, agentapi.ConfirmRequest{Journal: id})
			floor.Must(t, err)
			floor.Must(t, again.Close())
			want = "1400"
		}
		for range 500 {
			if one.mtu(t) == want && len(one.copies(t)) == 0 && len(one.processes(t)) == 0 {
				break
			}
			floor.Pause()
		}
		if one.mtu(t) != want {
			t.Errorf("confirmed %v: MTU %s", confirmed, one.mtu(t))
		}
		journal := filepath.Join(one.root, "var/lib/linerate")
		if _, err := os.Stat(journal); err != nil {
			t.Errorf("no journal: %v", err)
		}
		floor.Must(t, os.RemoveAll(journal)) // what is meant to stay
		one.clean(t)
	}
}

// TestConnectionCut: whoever ran linerate is gone without a word.
func TestConnectionCut(t *testing.T) {
	r := newRack(t, cable, hosting{}, hosting{})
	cmd := r.command(t.Context(), "measure", "ssh://root@h1", "ssh://ann@h2", "--become", "sudo", "--streams", "1", "--directions", "forward", "--duration", "30s", "--ping-count", "1", "--no-loaded-latency")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := cmd.StderrPipe()
	floor.Must(t, err)
	floor.Must(t, cmd.Start())
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if strings.Contains(lines.Text(), "latency") {
			break
		}
	}
	time.Sleep(2 * time.Second) // into the traffic
	if len(r.hosts[0].copies(t)) != 1 || len(r.hosts[1].processes(t)) == 0 {
		t.Errorf("nothing runs there: %q %q", r.hosts[0].copies(t), r.hosts[1].processes(t))
	}
	floor.Must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, h := range r.hosts {
		h.clean(t)
	}
	// Its sockets' directory it could not remove; what they were for ends by itself.
	found, _ := filepath.Glob(filepath.Join(r.temp, "lr*"))
	for _, dir := range found {
		sockets, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, s := range sockets {
			_ = exec.Command("ssh", "-o", "ControlPath="+s, "-O", "exit", "any").Run()
		}
		floor.Must(t, os.RemoveAll(dir))
	}
}

// TestNetworkCut: nobody tells the host that whoever ran linerate is gone. Its
// agent ends by itself, a minute later, and with it goes what was copied.
func TestNetworkCut(t *testing.T) {
	long(t)
	r := newRack(t, 0, hosting{})
	shared := r.atDesk(t)
	h := r.dial(t, "ssh://ann@h1?become=sudo", false, shared)
	if _, err := ask.Call(t.Context(), h, agentapi.Lock, agentapi.LockRequest{Holder: agentapi.Holder{Run: "cut"}}); err != nil {
		t.Fatal(err)
	}
	one := r.hosts[0]
	time.Sleep(35 * time.Second)
	if _, err := ask.Call(t.Context(), h, agentapi.Hello, agentapi.HelloRequest{Version: agentapi.Version}); err != nil { // signs of life keep it
		t.Errorf("an idle connection: %v", err)
	}
	floor.Must(t, r.desk.Builder.Down("eth0"))
	begin := time.Now()
	_ = h.Close() // it cannot say so any more
	if len(one.copies(t)) != 1 {
		t.Errorf("copies %q", one.copies(t))
	}
	for range 100 {
		if len(one.copies(t)) == 0 {
			break
		}
		time.Sleep(time.Second)
	}
	one.clean(t)
	t.Logf("compared with a silence of 60 s at the most, the agent was gone after %.0f s", time.Since(begin).Seconds())
}

// TestInstalled: a program that is the same is run where it is, another one is
// not, and one for another machine is found among those that are here.
func TestInstalled(t *testing.T) {
	other := filepath.Join(dir, "other")
	floor.Must(t, os.WriteFile(other, []byte("#!/bin/sh\necho linerate version v0.0.1\n"), 0o755))
	// No 32-bit linerate can be built: this machine's, a byte longer, stands in
	// for one, as what counts is which file is chosen, by what uname says there.
	text := own(t, program) + "\x00"
	floor.Must(t, os.WriteFile(filepath.Join(dir, "linerate-linux-386"), []byte(text), 0o755))
	r := newRack(t, 0, hosting{installed: program, sudoers: "bob ALL=(root) NOPASSWD: /usr/local/bin/linerate agent *\n"}, hosting{installed: other}, hosting{machine: "i686"})
	shared := r.atDesk(t)
	shared.Binaries, shared.Program = dir, program
	for i, want := range []string{"", own(t, program), text} {
		h := r.dial(t, r.reach(i+1, "root", ""), false, shared)
		copies := r.hosts[i].copies(t)
		switch {
		case want == "" && len(copies) > 0:
			t.Errorf("h%d: copied though it has the same program", i+1)
		case want != "" && (len(copies) != 1 || own(t, filepath.Join(copies[0], "linerate")) != want):
			t.Errorf("h%d: copied to %q, or another program", i+1, copies)
		}
		floor.Must(t, h.Close())
	}
	h := r.dial(t, r.reach(1, "bob", "?become=sudo"), false, shared) // who may run that program alone
	if !h.Hello.Capabilities.Has(agentapi.CanRoot) {
		t.Errorf("become: %v", h.Hello.Capabilities)
	}
	floor.Must(t, h.Close())
	floor.Must(t, shared.Close())
	r.clean()
}

// TestWithoutRoot: a user measures without root, and is told what is lost.
func TestWithoutRoot(t *testing.T) {
	r := newRack(t, 0, hosting{}, hosting{})
	got := r.run("measure", "ssh://ann@h1", "ssh://bob@h2", "--streams", "1", "--directions", "forward", "--duration", "1s", "--ping-count", "1", "--no-loaded-latency")
	text := unwrapped(got.err)
	if got.status != 0 {
		t.Errorf("status %d", got.status)
	}
	for _, name := range []string{"h1", "h2"} {
		if !strings.Contains(text, name+": without root you lose: changes") {
			t.Errorf("it does not say what is lost on %s", name)
		}
	}
	if t.Failed() {
		t.Log(got.err)
	}
	got = r.run("inspect", "ssh://ann@h1")
	if !strings.Contains(unwrapped(got.err), "h1: without root you lose: changes") || got.status != 0 {
		t.Errorf("inspect: status %d\n%s", got.status, got.err)
	}
	r.clean()
}

// TestKept: what was copied to a host stays for the run's next connections, which use
// it, and goes with the run.
func TestKept(t *testing.T) {
	r := newRack(t, 0, hosting{})
	shared := r.atDesk(t)
	one := r.hosts[0]
	for _, reach := range []string{"ssh://root@h1", "ssh://ann@h1?become=sudo"} {
		floor.Must(t, r.dial(t, reach, false, shared).Close())
		before := one.copies(t)
		h := r.dial(t, reach, false, shared)
		if after := one.copies(t); len(before) != 1 || !slices.Equal(before, after) {
			t.Errorf("%s: copied to %q, then to %q", reach, before, after)
		}
		floor.Must(t, h.Close())
		floor.Must(t, shared.Close())
		r.clean()
	}
}
