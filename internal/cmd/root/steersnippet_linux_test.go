package root

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
)

// loopbackSpace is a namespace with loopback up, gone when the test is.
func loopbackSpace(t *testing.T, name string) netns.Namespace {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	ns, err := netns.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		endAllIn(t, "/run/netns/"+name)
		_ = netns.Delete(name)
	})
	b, err := rtnl.OpenBuilder(ns)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Up("lo"); err != nil {
		t.Fatal(err)
	}
	return ns
}

// endAllIn ends the processes in a namespace but this process's own children:
// shells, which end once they have waited for theirs.
func endAllIn(t *testing.T, path string) {
	t.Helper()
	space, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || parent(e.Name()) == os.Getpid() {
			continue
		}
		if in, err := os.Stat("/proc/" + e.Name() + "/ns/net"); err == nil && os.SameFile(in, space) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// parent is the process that a process came from; 0 when it is gone.
func parent(pid string) int {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	var state string
	var ppid int
	_, _ = fmt.Sscan(after, &state, &ppid)
	return ppid
}

// shell runs commands as a user would paste them, in the namespace.
func shell(t *testing.T, ns netns.Namespace, commands []string) {
	t.Helper()
	script := exec.Command("sh", "-c", strings.Join(commands, "\n"))
	if err := ns.Do(script.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		endAllIn(t, "/run/netns/"+ns.Name)
		_ = script.Wait()
	})
}

func texts(list any) []string {
	var out []string
	all, _ := list.([]any)
	for _, v := range all {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// TestKernelSnippets runs the commands that pick prints and looks in the
// kernel's list of sockets whether the ports are the chosen ones.
func TestKernelSnippets(t *testing.T) {
	for _, c := range []struct {
		program, binary, src, dst string
		links, streams            int
		// control is how many connections of its own a process makes.
		control int
	}{
		{"iperf3", "iperf3", "127.0.0.1", "127.0.0.2", 2, 4, 1},
		{"iperf3", "iperf3", "127.0.0.1", "127.0.0.2", 4, 4, 4},
		{"iperf3", "iperf3", "::1", "::1", 2, 2, 1},
		{"iperf2", "iperf", "127.0.0.1", "127.0.0.2", 4, 4, 0},
	} {
		t.Run(fmt.Sprintf("%s %s %d on %d", c.program, c.dst, c.streams, c.links), func(t *testing.T) {
			if _, err := exec.LookPath(c.binary); err != nil {
				t.Skipf("%s is not installed", c.binary)
			}
			const name = "linerate-test-recipe"
			ns := loopbackSpace(t, name)
			doc := document(t, run(t, "", "steer", "pick", "--json", "--policy", "layer3+4", "--links", fmt.Sprint(c.links), "--kernel", "6.1",
				"--host", "netns:"+name, "--src", c.src, "--dst", c.dst, "--streams", fmt.Sprint(c.streams), "--for", c.program))
			snippetOf := doc["recipe"].(map[string]any)
			if snippetOf["exact"] != true || doc["even"] != true {
				t.Fatalf("not exact: %v", doc)
			}
			want := texts(doc["ports"])
			receiver, sender := texts(snippetOf["receiver"]), texts(snippetOf["sender"])
			for i := range receiver { // children of the shell, not daemons, so that they end with it
				receiver[i] = strings.Replace(receiver[i], " -D", "", 1) + " >/dev/null 2>&1 &"
			}
			for i := range sender {
				sender[i] = strings.Replace(sender[i], " -c ", " -t 3 -c ", 1)
			}
			shell(t, ns, append(receiver, "wait"))
			awaitListeners(t, ns, len(receiver))
			shell(t, ns, append([]string{"exec >/dev/null 2>&1"}, sender...))
			got, others := connections(t, ns, want)
			slices.Sort(want)
			if !slices.Equal(got, want) || others != c.control {
				t.Errorf("connected from ports %v and %d others, want %v and %d\n%s", got, others, want, c.control, strings.Join(sender, "\n"))
			}
		})
	}
}

// awaitListeners waits until the servers listen.
func awaitListeners(t *testing.T, ns netns.Namespace, n int) {
	t.Helper()
	for range 100 {
		count := 0
		for _, s := range tcpSockets(t, ns) {
			if s.State == sockdiag.Listen {
				count++
			}
		}
		if count >= n {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%d servers do not listen", n)
}

// connections waits until all ports wanted are connected from, and returns
// those, and how many other connections clients have.
func connections(t *testing.T, ns netns.Namespace, want []string) (got []string, others int) {
	t.Helper()
	for range 60 {
		got, others = nil, 0
		sockets := tcpSockets(t, ns)
		listening := map[uint16]bool{}
		for _, s := range sockets {
			if s.State == sockdiag.Listen {
				listening[s.Sport] = true
			}
		}
		for _, s := range sockets {
			port := fmt.Sprint(s.Sport)
			switch {
			case s.State != sockdiag.Established:
			case slices.Contains(want, port):
				got = append(got, port)
			case s.Dport >= 5201 && s.Dport < 5301 && !listening[s.Sport]:
				others++
			}
		}
		slices.Sort(got)
		if len(got) == len(want) {
			return got, others
		}
		time.Sleep(50 * time.Millisecond)
	}
	return got, others
}

func tcpSockets(t *testing.T, ns netns.Namespace) []sockdiag.Socket {
	t.Helper()
	var sockets []sockdiag.Socket
	if err := ns.Do(func() (err error) {
		sockets, err = sockdiag.Sockets(sockdiag.Query{Proto: flow.TCP, Listening: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return sockets
}

// TestKernelPickAvoids: ports that the host uses, reserves or keeps for its
// kernel are not chosen, and that is said.
func TestKernelPickAvoids(t *testing.T) {
	const name = "linerate-test-avoid"
	ns := loopbackSpace(t, name)
	var l net.Listener
	if err := ns.Do(func() (err error) {
		if l, err = net.Listen("tcp4", "127.0.0.1:40000"); err != nil {
			return err
		}
		return os.WriteFile("/proc/sys/net/ipv4/ip_local_reserved_ports", []byte("40001-40009"), 0o644)
	}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	args := []string{"steer", "pick", "--policy", "layer3+4", "--links", "2", "--kernel", "6.1", "--src", "127.0.0.1", "--dst", "127.0.0.2", "--host", "netns:" + name}
	o := run(t, "", args...)
	text := strings.Join(strings.Fields(o.stdout), " ")
	if !strings.Contains(text, "ports: 40010,40012") || !strings.Contains(text, "ports of the host left out: 1 in use, reserved 40001-40009") {
		t.Errorf("exit %d, %s\n%s", o.status, o.stderr, o.stdout)
	}
	fits(t, o.stdout)
	o = run(t, "", append(args, "--avoid-ephemeral")...)
	if text := strings.Join(strings.Fields(o.stdout), " "); !strings.Contains(text, "ports: 1000") || !strings.Contains(text, "ephemeral 32768-60999") {
		t.Errorf("exit %d, %s\n%s", o.status, o.stderr, o.stdout)
	}
}
