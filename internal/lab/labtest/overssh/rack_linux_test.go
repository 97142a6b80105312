package overssh

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/unit"
)

// rack is hosts on one switch, each by a shaped cable, and a desk from which
// they are reached over that switch.
type rack struct {
	t      testing.TB
	desk   floor.Space
	fabric floor.Space // the switch
	spaces []floor.Space
	rates  []unit.BitRate // of the hosts' cables
	hosts  []*host
	config string // of ssh
	path   string // of programs: ssh is run at the desk
	temp   string // the desk's directory for temporary files, of a short name
}

// newRack makes a rack; the hosts are named h1, h2 and so on.
func newRack(t testing.TB, rate unit.BitRate, as ...hosting) *rack {
	t.Helper()
	return newRackCalled(t, "ssh", rate, as...)
}

// newRackCalled is newRack with another name for its namespaces, so that two can
// be on one machine.
func newRackCalled(t testing.TB, name string, rate unit.BitRate, as ...hosting) *rack {
	t.Helper()
	if why := missing(); why != "" {
		t.Skip(why)
	}
	r := &rack{t: t, desk: floor.NewSpace(t, name+"-desk"), fabric: floor.NewSpace(t, name+"-switch")}
	ports := []string{"desk"}
	floor.Must(t, r.desk.Builder.Veth("eth0", r.fabric.Builder, "desk"))
	r.address(r.desk, r.addr(254))
	for i, a := range as {
		space := floor.NewSpace(t, fmt.Sprintf("%s-h%d", name, i+1))
		port := fmt.Sprintf("port%d", i+1)
		floor.Must(t, space.Builder.Veth("eth0", r.fabric.Builder, port))
		r.address(space, r.addr(i+1))
		shaped := cmp.Or(a.cable, rate)
		if shaped > 0 {
			floor.Must(t, space.Builder.Shape("eth0", shaped, floor.Bucket(shaped), 30*time.Millisecond))
			floor.Must(t, r.fabric.Builder.Shape(port, shaped, floor.Bucket(shaped), 30*time.Millisecond))
		}
		ports, r.spaces, r.rates = append(ports, port), append(r.spaces, space), append(r.rates, cmp.Or(shaped, cable))
	}
	floor.Must(t, r.fabric.Builder.Bridge("br0", ports))
	for _, port := range append(ports, "br0") {
		floor.Must(t, r.fabric.Builder.Up(port))
	}
	r.client()
	for i, a := range as {
		r.hosts = append(r.hosts, newHost(t, r.spaces[i], fmt.Sprintf("h%d", i+1), r.addr(i+1), a))
	}
	r.trust()
	return r
}

func (r *rack) addr(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 97, 0, byte(n)}) }

func (r *rack) address(s floor.Space, addr netip.Addr) {
	floor.Must(r.t, s.Builder.Address("eth0", netip.PrefixFrom(addr, 24)))
	floor.Must(r.t, s.Builder.Up("lo"))
	floor.Must(r.t, s.Builder.Up("eth0"))
}

// client writes the configuration of an ssh at the desk, as its user would.
func (r *rack) client() {
	r.path = filepath.Join(r.t.TempDir(), "bin")
	floor.Must(r.t, os.Mkdir(r.path, 0o755))
	var err error
	r.temp, err = os.MkdirTemp("/tmp", "d")
	floor.Must(r.t, err)
	r.t.Cleanup(func() { os.RemoveAll(r.temp) })
	r.config = filepath.Join(r.path, "config")
	var text strings.Builder
	for i := range r.spaces {
		fmt.Fprintf(&text, "Host h%d\n  HostName %s\n", i+1, r.addr(i+1))
	}
	fmt.Fprintf(&text, "Host *\n  IdentityFile %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n  GlobalKnownHostsFile /dev/null\n  HashKnownHosts no\n", clientKey(r.t), r.known())
	floor.Must(r.t, os.WriteFile(r.config, []byte(text.String()), 0o600))
	r.wrap(r.config)
}

func (r *rack) known() string { return filepath.Join(r.path, "known_hosts") }

// wrap makes the ssh that is found on the path one that runs at the desk.
func (r *rack) wrap(config string) {
	text := fmt.Sprintf("#!/bin/sh\nexec /usr/bin/nsenter --net=/run/netns/%s /usr/bin/ssh -F %s \"$@\"\n", r.desk.NS.Name, config)
	floor.Must(r.t, os.WriteFile(filepath.Join(r.path, "ssh"), []byte(text), 0o755))
}

// trust knows the hosts' keys.
func (r *rack) trust() {
	var text strings.Builder
	for _, h := range r.hosts {
		key, err := os.ReadFile(filepath.Join(filepath.Dir(h.log), "host_key.pub"))
		floor.Must(r.t, err)
		fmt.Fprintf(&text, "%s %s", h.addr, key)
	}
	floor.Must(r.t, os.WriteFile(r.known(), []byte(text.String()), 0o600))
}

// said is what a run of the program came to.
type said struct {
	out, err string
	status   int
}

// env is the environment of programs at the desk.
func (r *rack) env(more ...string) []string {
	return append(append(os.Environ(), "PATH="+r.path+":"+os.Getenv("PATH"), "HOME="+r.path, "XDG_RUNTIME_DIR=", "TMPDIR="+r.temp), more...)
}

// command is the program as a user at the desk starts it.
func (r *rack) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = r.env(), r.path
	return cmd
}

// run runs the program at the desk.
func (r *rack) run(args ...string) said {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	return r.finish(r.command(ctx, args...))
}

func (r *rack) finish(cmd *exec.Cmd) said {
	r.t.Helper()
	var out, err strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &err
	failed := cmd.Run()
	if cmd.ProcessState == nil {
		r.t.Fatal(failed)
	}
	return said{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// clean holds every host to having nothing left, and the desk to having no
// socket and no ssh.
func (r *rack) clean() {
	r.t.Helper()
	for _, h := range r.hosts {
		h.clean(r.t)
	}
	if found, _ := filepath.Glob(filepath.Join(r.temp, "lr*")); len(found) > 0 {
		r.t.Errorf("sockets are left at the desk: %q", found)
	}
}

func (r *rack) reach(i int, user, more string) string {
	return fmt.Sprintf("ssh://%s@h%d%s", user, i, more)
}
