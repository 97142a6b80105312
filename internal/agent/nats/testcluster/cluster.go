//go:build !aix

package testcluster

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/server"
)

// Cluster is three processes of nats-server, as Debian or a user would run
// them, with the configuration that `linerate serve` writes.
type Cluster struct {
	*Server
	program string
	conf    []string
	members []*authority.Authority
	running []*exec.Cmd
}

// Members is how many servers a Cluster has: one may die.
const Members = 3

// StartCluster builds nats-server from the module that this program is built
// with, and runs a cluster until the test ends.
func StartCluster(t testing.TB) *Cluster { return withStores(t, processes(t, Members)) }

// StartProcess is a Cluster of one server.
func StartProcess(t testing.TB) *Cluster { return withStores(t, processes(t, 1)) }

// StartBare is a Cluster of one server, and no run store answers there.
func StartBare(t testing.TB) *Cluster { return processes(t, 1) }

func processes(t testing.TB, n int) *Cluster {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	top := t.TempDir()
	c := &Cluster{program: filepath.Join(top, "nats-server"), running: make([]*exec.Cmd, n)}
	build := exec.Command("go", "build", "-o", c.program, "github.com/nats-io/nats-server/v2")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build nats-server: %v\n%s", err, out)
	}
	a, err := authority.Open(filepath.Join(top, "serve-0"))
	must(err)
	ports := freePorts(t, 2*n)
	var routes []string
	for i := range n {
		routes = append(routes, fmt.Sprintf("127.0.0.1:%d", ports[n+i]))
	}
	url := ""
	for i := range n {
		member := a
		if i > 0 {
			dir := filepath.Join(top, fmt.Sprintf("serve-%d", i))
			must(a.Member(dir, []string{"127.0.0.1"}))
			member, err = authority.Open(dir)
			must(err)
			if member.Signs() {
				t.Fatal("a member has the keys that sign")
			}
		}
		listen := fmt.Sprintf("127.0.0.1:%d", ports[i])
		cfg := authority.ServerConfig{Name: fmt.Sprintf("n%d", i), Listen: listen, Names: []string{"127.0.0.1"}}
		if n > 1 {
			cfg.Cluster, cfg.Routes = routes[i], routes
		}
		conf, err := member.WriteConfig(cfg)
		must(err)
		c.conf, c.members = append(c.conf, conf), append(c.members, member)
		if url != "" {
			url += ","
		}
		url += "tls://" + listen
	}
	c.Server = &Server{Authority: a, URL: url, Dir: filepath.Join(top, "serve-0")}
	for i := range n {
		c.Run(t, i)
	}
	t.Cleanup(func() {
		for i := range n {
			c.Kill(t, i)
		}
	})
	return c
}

// withStores runs a run store for each server, when the cluster has a leader.
func withStores(t testing.TB, c *Cluster) *Cluster {
	t.Helper()
	for _, member := range c.members {
		cfg := server.StoreOf(member)
		cfg.Replicas = len(c.running)
		_, end, err := server.Keep(t.Context(), cfg, c.URL, c.CA())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(end)
	}
	return c
}

// PID is the process of a server that runs.
func (c *Cluster) PID(i int) int { return c.running[i].Process.Pid }

// Run starts a server that does not run.
func (c *Cluster) Run(t testing.TB, i int) {
	t.Helper()
	cmd := exec.Command(c.program, "-c", c.conf[i])
	log, err := os.OpenFile(c.conf[i]+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.running[i] = cmd
}

// Kill kills a server, as a machine that fails does.
func (c *Cluster) Kill(t testing.TB, i int) {
	t.Helper()
	if cmd := c.running[i]; cmd != nil {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		c.running[i] = nil
	}
}

// freePorts are ports of loopback that nobody has just now.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	var out []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out
}
