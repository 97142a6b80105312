package standing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// nobody is an ordinary user.
const nobody = 65534

// place is where a test's labs are, and as whom.
type place struct {
	program, dir string
	as           *syscall.Credential
}

func newPlace(t *testing.T, ordinary bool) place {
	t.Helper()
	if err := guest.Installed(); err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("", "lr-") // short: sockets are made below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := place{program: filepath.Join(dir, "program"), dir: dir}
	if out, err := exec.Command("go", "build", "-o", p.program, "github.com/linerate/linerate/cmd/linerate").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if ordinary {
		if os.Getuid() == 0 {
			p.as = &syscall.Credential{Uid: nobody, Gid: nobody}
			if err := errors.Join(os.Chown(dir, nobody, nobody), os.Chmod(p.program, 0o755)); err != nil {
				t.Fatal(err)
			}
		}
	} else if os.Getuid() != 0 {
		t.Skip("not root")
	}
	return p
}

// run runs a command line and returns its output and status.
func (p place) run(t *testing.T, input string, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // also when the test is over
	defer cancel()
	cmd := exec.CommandContext(ctx, p.program, args...)
	cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "TMPDIR="+p.dir, "XDG_RUNTIME_DIR="+p.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", args, err)
	}
	if cmd.ProcessState.ExitCode() != 0 {
		t.Logf("%v: %s", args, errs.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// must is run for what has to succeed.
func (p place) must(t *testing.T, args ...string) string {
	t.Helper()
	out, status := p.run(t, "", args...)
	if status != 0 {
		t.Fatalf("%v: status %d", args, status)
	}
	return out
}

// state reads who keeps a lab, and its kernel's first process.
func (p place) state(t *testing.T, name string) (keeper, machine int) {
	t.Helper()
	dir := filepath.Join(p.dir, "linerate", "lab")
	if p.as == nil && os.Getuid() == 0 {
		dir = "/run/linerate/lab"
	}
	text, err := os.ReadFile(filepath.Join(dir, name, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Keeper, Machine struct{ PID int }
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s.Keeper.PID, s.Machine.PID
}

// group are the living processes of a process group.
func group(t *testing.T, pid int) (alive []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if f[2] == strconv.Itoa(pid) && f[0] != "Z" && f[0] != "X" {
			alive = append(alive, path)
		}
	}
	return alive
}

// TestStanding has two labs of one scenario under two names, kills what keeps
// one, or its kernel, or both, and finds nothing left of it and the other whole.
func TestStanding(t *testing.T) {
	floor.Turn(t, floor.Standing)
	for _, who := range []string{"root", "ordinary user"} {
		t.Run(who, func(t *testing.T) {
			p := newPlace(t, who != "root")
			one, two := "t"+strconv.Itoa(os.Getpid())+"a", "t"+strconv.Itoa(os.Getpid())+"b"
			t.Cleanup(func() {
				for _, name := range []string{one, two} { // those that a failed test left
					p.run(t, "", "lab", "down", name)
				}
			})
			p.must(t, "lab", "up", "one-link", "--back-end", "uml", "--name", two)
			for _, killed := range [][]string{{"keeper"}, {"machine"}, {"machine", "keeper"}} {
				t.Run(strings.Join(killed, " and "), func(t *testing.T) { p.killOne(t, one, two, killed) })
			}
			keeper, machine := p.state(t, two)
			p.must(t, "lab", "down", two)
			gone(t, keeper, machine)
			if out := p.must(t, "lab", "list"); strings.Contains(out, two) || strings.Contains(out, one) {
				t.Errorf("still listed:\n%s", out)
			}
		})
	}
}

// network is a file of a user's, at a tenth of its rates in the lab.
const network = `
linerate: v1
hosts:
  web:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.1/24], mtu: 9000, parameters: {mode: active-backup, mii-monitor-interval: 100}}}
    hardware: {links: {eth0: {speed: 1G}, eth1: {speed: 1G}}}
  store:
    network: {version: 2, ethernets: {eth0: {addresses: [10.9.0.2/24], mtu: 4000}}}
    hardware: {links: {eth0: {speed: 1G}}}
paths:
  - {between: [web, store], rtt: 4ms}
scenario: {name: my-network, scale: 10, steps: [{name: as it is, measure: []}]}
`

// TestFile: a file's network stands, is what the file declares, and goes.
func TestFile(t *testing.T) {
	p := newPlace(t, true)
	if err := os.WriteFile(filepath.Join(p.dir, "net.yaml"), []byte(network), 0o644); err != nil {
		t.Fatal(err)
	}
	name := "t" + strconv.Itoa(os.Getpid()) + "f"
	t.Cleanup(func() { p.run(t, "", "lab", "down", name) })
	if out := p.must(t, "lab", "up", "net.yaml", "--back-end", "uml", "--name", name); !strings.Contains(out, "10.9.0.1/24") {
		t.Errorf("up says %q", out)
	}
	if out := p.must(t, "lab", "list"); !strings.Contains(out, name) || !strings.Contains(out, "up of my-network on uml") {
		t.Errorf("not listed:\n%s", out)
	}
	for _, c := range []struct{ host, command, want string }{
		{"web", "cd /sys/class/net/bond0; cat mtu bonding/mode bonding/slaves", "9000\nactive-backup 1\neth0 eth1\n"},
		{"store", "cat /sys/class/net/eth0/mtu; ls /run/netns", "4000\nlinerate-" + name + "-store\nlinerate-" + name + "-switch\nlinerate-" + name + "-web\n"},
	} {
		if out := p.must(t, "lab", "exec", name, c.host, "--", "sh", "-c", c.command); out != c.want {
			t.Errorf("on %s: %q, want %q", c.host, out, c.want)
		}
	}
	keeper, machine := p.state(t, name)
	p.must(t, "lab", "down", name)
	gone(t, keeper, machine)
}

func (p place) killOne(t *testing.T, one, two string, killed []string) {
	t.Helper()
	p.must(t, "lab", "up", "one-link", "--back-end", "uml", "--name", one)
	if _, status := p.run(t, "", "lab", "up", "one-link", "--back-end", "uml", "--name", one); status != 3 {
		t.Errorf("a name in use: status %d, want 3", status)
	}
	for _, name := range []string{one, two} {
		p.speak(t, name)
	}
	keeper, machine := p.state(t, one)
	for _, what := range killed {
		pid := map[string]int{"keeper": keeper, "machine": machine}[what]
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	for begin := time.Now(); !strings.Contains(p.must(t, "lab", "list"), "fallen: "); time.Sleep(200 * time.Millisecond) {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("a lab whose %v was killed is not said to have fallen", killed)
		}
	}
	if _, status := p.run(t, "", "lab", "exec", one, "--", "true"); status != 3 {
		t.Errorf("a command in a fallen lab: status %d, want 3", status)
	}
	if out := p.must(t, "lab", "down", one); !strings.Contains(out, "it had fallen") {
		t.Errorf("down of a fallen lab says %q", out)
	}
	gone(t, keeper, machine)
	p.speak(t, two)
}

// speak has a command's input, output, status, host and name shown.
func (p place) speak(t *testing.T, name string) {
	t.Helper()
	p.mix(t, name)
	out, status := p.run(t, "hello\n", "lab", "exec", name, "beta", "--", "sh", "-c", "cat; ls /run/netns; cat /sys/class/net/eth0/operstate; exit 7")
	want := "hello\nlinerate-" + name + "-alpha\nlinerate-" + name + "-beta\nlinerate-" + name + "-switch\nup\n"
	if out != want || status != 7 {
		t.Errorf("in lab %s: %q, status %d; want %q, 7", name, out, status, want)
	}
	// More than any window or buffer on the way, both ways.
	big := strings.Repeat("0123456789abcdef", 1<<15)
	if out, status := p.run(t, big, "lab", "exec", name, "--", "cat"); out != big || status != 0 {
		t.Errorf("in lab %s: %d bytes of %d came back, status %d", name, len(out), len(big), status)
	}
}

// mix has output and errors written to one pipe, which keep their order there.
func (p place) mix(t *testing.T, name string) {
	t.Helper()
	c := exec.Command(p.program, "lab", "exec", name, "--", "sh", "-c", "for i in $(seq 300); do echo out $i; echo err $i >&2; done")
	c.Dir, c.Env, c.SysProcAttr = p.dir, append(os.Environ(), "TMPDIR="+p.dir, "XDG_RUNTIME_DIR="+p.dir), &syscall.SysProcAttr{Credential: p.as}
	mixed, err := c.CombinedOutput()
	var want strings.Builder
	for i := range 300 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i+1, i+1)
	}
	if err != nil || string(mixed) != want.String() {
		t.Errorf("%s: out of order, or %v:\n%.300s", name, err, mixed)
	}
}

// gone fails when a process of a lab is there.
func gone(t *testing.T, keeper, machine int) {
	t.Helper()
	if left := append(group(t, machine), group(t, keeper)...); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
}
