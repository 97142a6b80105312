package openvswitch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/host/openvswitch/testswitch"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// Switch is one that runs, with the bridge br0.
type Switch struct {
	Space    floor.Space
	t        testing.TB
	programs testswitch.Programs
}

// New starts one in a namespace; it goes with the test. The test is skipped where the
// package is not there, or the kernel has no tun.
func New(t testing.TB, space floor.Space) *Switch {
	t.Helper()
	dir := os.Getenv("LINERATE_LAB_CONFIG")
	if dir == "" {
		dir = "../../../../.lab-config"
	}
	root, err := filepath.Abs(filepath.Join(dir, "openvswitch"))
	floor.Must(t, err)
	if !exists(root) {
		t.Skip("Open vSwitch is not there: make deps-config fetches it")
	}
	if !exists("/dev/net/tun") {
		t.Skip("this kernel has no /dev/net/tun: Open vSwitch in user space makes its own port with it")
	}
	s := &Switch{t: t, Space: space, programs: testswitch.Programs{Root: root, Dir: t.TempDir()}}
	floor.Must(t, space.Builder.Up("lo"))
	s.run(s.programs.Command("usr/bin/ovsdb-tool", "create", s.at("conf.db"), filepath.Join(root, "usr/share/openvswitch/vswitch.ovsschema")))
	s.start("usr/sbin/ovsdb-server", "db.sock", s.at("conf.db"), "--remote=punix:"+s.at("db.sock"), "--unixctl="+s.at("db.ctl"))
	// Hosts hand over frames larger than the MTU, without check sums.
	s.Vsctl("--no-wait", "init", "--", "set", "Open_vSwitch", ".", "other_config:userspace-tso-enable=true")
	s.start("usr/lib/openvswitch-switch/ovs-vswitchd", control, "unix:"+s.at("db.sock"), "--unixctl="+s.at(control), "--disable-system", "--disable-system-route")
	s.Vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")
	return s
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// control is the socket of ovs-vswitchd, named as its own programs look for it.
const control = "ovs-vswitchd.1.ctl"

// Dir is where its sockets are, as in /run/openvswitch of a host.
func (s *Switch) Dir() string { return s.programs.Dir }

func (s *Switch) at(name string) string { return filepath.Join(s.programs.Dir, name) }

func (s *Switch) run(c *exec.Cmd) string {
	s.t.Helper()
	return testswitch.Run(s.t, c)
}

func (s *Switch) start(program, socket string, args ...string) {
	s.t.Helper()
	c := s.programs.Command(program, args...)
	if made, err := os.CreateTemp("/tmp", "linerate-test-"); err == nil {
		floor.Must(s.t, errors.Join(made.Close(), os.Remove(made.Name())))
	} else { // a lab kernel's is the machine's, and not to be written; the servers want one
		c = s.programs.Command("/bin/sh", append([]string{"-c", `mount -t tmpfs tmpfs /tmp && exec "$@"`, "sh", c.Path}, args...)...)
	}
	testswitch.Serve(s.t, c, s.at(socket), func() error { return s.Space.NS.DoWithSysfs(c.Start) })
}

// Vsctl is ovs-vsctl on it, and what that printed.
func (s *Switch) Vsctl(args ...string) string {
	s.t.Helper()
	return s.run(s.programs.Command("usr/bin/ovs-vsctl", append([]string{"--timeout=60"}, args...)...))
}

// Appctl is ovs-appctl on it.
func (s *Switch) Appctl(args ...string) string {
	s.t.Helper()
	return s.run(s.programs.Command("usr/bin/ovs-appctl", append([]string{"-t", s.at(control)}, args...)...))
}

// Type has a shell at the switch read lines, as somebody who pastes them.
func (s *Switch) Type(lines string) string {
	s.t.Helper()
	return s.run(s.programs.Command("/bin/sh", "-e", "-c", lines))
}

// KeepShapers has it leave the shapers of a port's links alone that it did not make.
func (s *Switch) KeepShapers(ports ...string) {
	s.t.Helper()
	args := []string{"--id=@n", "create", "qos", "type=linux-noop"}
	for _, p := range ports {
		args = append(args, "--", "set", "port", p, "qos=@n")
	}
	s.Vsctl(args...)
}

// Await waits until LACP agrees on a bond that was made just now and all its members send:
// the other end may still count the partner that was there before.
func (s *Switch) Await(bond string, members int, patience time.Duration) {
	s.t.Helper()
	shown := ""
	for end := time.Now().Add(patience); time.Now().Before(end); floor.Pause() {
		shown = s.Appctl("bond/show", bond)
		if strings.Contains(shown, "lacp_status: negotiated") && strings.Count(shown, ": enabled") == members {
			return
		}
	}
	s.t.Fatalf("LACP does not agree on %d members: %s", members, shown)
}
