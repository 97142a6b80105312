// Package testswitch runs Debian's programs of Open vSwitch for tests, out of the package
// as it was unpacked.
package testswitch

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Programs are those of the package.
type Programs struct {
	Root string // where the package is unpacked
	Dir  string // where a switch has its database and sockets
}

// Command is a program of the package, or another one, which finds those of the package,
// and the ones in the directory bin of Dir, by their names.
func (p Programs) Command(program string, args ...string) *exec.Cmd {
	own := filepath.Join(p.Root, program)
	if _, err := os.Stat(own); err == nil {
		program = own
	}
	c := exec.Command(program, args...)
	var libraries []string
	for _, lib := range []string{"usr/lib", "lib"} {
		found, _ := filepath.Glob(filepath.Join(p.Root, lib, "*-linux-gnu*")) // the pattern is a good one
		libraries = append(libraries, found...)
	}
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+strings.Join(libraries, ":"), "OVS_PKGDATADIR="+filepath.Join(p.Root, "usr/share/openvswitch"),
		"PATH="+filepath.Join(p.Root, "usr/bin")+":"+filepath.Join(p.Dir, "bin")+":"+os.Getenv("PATH"))
	for _, name := range []string{"RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR"} {
		c.Env = append(c.Env, "OVS_"+name+"="+p.Dir)
	}
	return c
}

// Run runs a command to its end, and returns what it printed.
func Run(t testing.TB, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
	return string(out)
}

// Serve has start begin the command, which runs until the test ends, and waits until it
// serves at the socket.
func Serve(t testing.TB, c *exec.Cmd, socket string, start func() error) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for range 400 {
		if conn, err := net.Dial("unix", socket); err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%v does not serve:\n%s", c.Args, out.String())
}
