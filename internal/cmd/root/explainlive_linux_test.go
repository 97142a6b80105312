package root

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
)

// TestExplainLiveCost: watching takes a small part of a core beside 10,000
// connections, what the program takes to start left out, and finds the few of them that
// move. A machine that is busy otherwise, or slow, makes processor time dearer: the best of
// three counts, and the bound is half as much again as what idle machines need.
func TestExplainLiveCost(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	const (
		most, span = 0.03, 5 * time.Second
		rounds     = 3
		idle       = 10_000
		moving     = 10
	)
	spaces := liveSpaces(t)
	start := time.Hour
	for range 2 * rounds {
		cpu, _ := liveCost(t, "explain", "--help")
		start = min(start, cpu)
	}
	watch := func(name string, all int) {
		least := 1.0
		for range rounds {
			cpu, doc := liveCost(t, "explain", "--live", "netns:"+spaces[0], "--json", "--duration", span.String())
			share := (cpu - start).Seconds() / doc.Watched
			t.Logf("%s: %v in %.1f s, and %v to start: %.2f %% of a core", name, cpu-start, doc.Watched, start, 100*share)
			least = min(least, share)
			found := 0
			for _, f := range doc.Flows {
				found += len(f.Connections)
				if f.Program.PID != os.Getpid() {
					t.Errorf("%s: connections of process %d, want %d", name, f.Program.PID, os.Getpid())
				}
			}
			if all > 0 && found != moving {
				t.Errorf("%s: found %d connections that move, want %d", name, found, moving)
			}
			if doc.Watched < 0.98*span.Seconds() {
				t.Errorf("%s: watched for %.1f s, want %v", name, doc.Watched, span)
			}
		}
		if least > most {
			t.Errorf("%s: watching took %.2f %% of a core, want %v %% at most", name, 100*least, 100*most)
		}
	}
	watch("without connections", 0)
	send := liveConnections(t, spaces, idle+moving, moving)
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for _, c := range send {
		busy.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					_, _ = c.Write(make([]byte, 10_000))
				}
			}
		})
	}
	defer busy.Wait()
	defer close(stop)
	watch(fmt.Sprint("beside ", idle), idle)
}

type liveCostDocument struct {
	Watched float64 `json:"watched_s"`
	Flows   []struct {
		Connections []struct{} `json:"connections"`
		Program     struct {
			PID int `json:"pid"`
		} `json:"program"`
	} `json:"flows"`
}

// liveCost runs the program and returns the processor time that it took.
func liveCost(t *testing.T, args ...string) (time.Duration, liveCostDocument) {
	t.Helper()
	cmd := exec.Command("linerate", args...) // as TestMain has it
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	var doc liveCostDocument
	if args[1] == "--live" {
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), doc
}

// liveSpaces are two network namespaces with a veth between.
func liveSpaces(t *testing.T) [2]string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	spaces := [2]string{"linerate-test-many-a", "linerate-test-many-b"}
	for _, s := range spaces {
		_ = netns.Delete(s) // of a test that was killed
		if _, err := netns.Create(s); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netns.Delete(s) })
	}
	for _, line := range []string{
		"-n " + spaces[0] + " link add dev a type veth peer name b netns " + spaces[1],
		"-n " + spaces[0] + " addr add 192.0.2.1/24 dev a", "-n " + spaces[1] + " addr add 192.0.2.2/24 dev b",
		"-n " + spaces[0] + " link set dev a up", "-n " + spaces[1] + " link set dev b up",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	return spaces
}

// liveConnections opens n connections between the two, and returns the sending
// ends of the last few, whose other ends are read. The other ends of the rest wait
// in their listeners' queues: nobody has to hold a file for each.
func liveConnections(t *testing.T, spaces [2]string, n, moving int) (send []net.Conn) {
	t.Helper()
	var room syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &room); err != nil {
		t.Fatal(err)
	}
	room.Cur = room.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &room); err != nil || room.Max < uint64(n)+1000 {
		t.Skipf("this user may have %d files open, and %d are wanted", room.Max, n+1000)
	}
	const queue = 2500 // of one listener; the kernel allows 4096 (net.core.somaxconn)
	listen := func() (l net.Listener) {
		if err := netns.Named(spaces[1]).Do(func() (err error) {
			l, err = net.Listen("tcp4", "192.0.2.2:0")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	var queues []net.Listener
	for range 1 + n/queue {
		queues = append(queues, listen())
	}
	last := listen()
	dial := func(to net.Listener) (net.Conn, error) {
		c, err := net.Dial("tcp4", to.Addr().String())
		if err == nil {
			t.Cleanup(func() { c.Close() })
		}
		return c, err
	}
	if err := netns.Named(spaces[0]).Do(func() error {
		for i := range n - moving {
			if _, err := dial(queues[i/queue]); err != nil {
				return err
			}
		}
		for range moving {
			near, err := dial(last)
			if err != nil {
				return err
			}
			far, err := last.Accept()
			if err != nil {
				return err
			}
			t.Cleanup(func() { far.Close() })
			send = append(send, near)
			go io.Copy(io.Discard, far)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return send
}
