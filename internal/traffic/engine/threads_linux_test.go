//go:build linux && !portable

package engine

import (
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
)

// allowed is the list of cores that the kernel lets a thread of this process
// run on.
func allowed(t *testing.T, tid int64) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", tid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// TestThreadsArePinned: each stream's thread stays on the core that was chosen
// for it, says so, and no other thread of the process is bound by it.
func TestThreadsArePinned(t *testing.T) {
	cores, err := sys.Affinity()
	if err != nil {
		t.Fatal(err)
	}
	core := cores[len(cores)-1]
	for name, udp := range map[string]*agentapi.Datagrams{"tcp": nil, "udp": {}} {
		t.Run(name, func(t *testing.T) {
			var asked []int
			e := New(Config{Place: func(links []string, streams int, taken []int) []int {
				asked = append(asked, taken...)
				if slices.Contains(taken, core) {
					return nil
				}
				return slices.Repeat([]int{core}, streams)
			}})
			t.Cleanup(e.Close)
			sink, err := e.OpenSink(t.Context(), agentapi.SinkRequest{
				Session: "in", Key: testKey, Bind: []netip.Addr{loopback}, Peers: []netip.Addr{loopback}, Streams: 2, UDP: udp, Links: []string{"lo"}, Lifetime: time.Minute,
			})
			if err != nil {
				t.Fatal(err)
			}
			one := agentapi.Stream{Lane: flow.Lane{Src: loopback, Dst: loopback}, Dport: uint16(sink.Port)}
			_, err = e.OpenSource(t.Context(), agentapi.SourceRequest{
				Session: "out", Key: testKey, Streams: []agentapi.Stream{one, one}, UDP: udp, Links: []string{"lo"}, Lifetime: time.Minute,
			})
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.sessions.Get("in")
			if err != nil {
				t.Fatal(err)
			}
			deadline := time.Now().Add(10 * time.Second)
			in := sampleOf(t, e, "in")
			// A thread may start between the two looks of one sample: then it is
			// pinned there and its switches are not.
			settled := func() bool {
				return slices.Equal(in.CPU.Pinned, []int{core, core}) && len(in.CPU.Switches) == 2
			}
			for !settled() && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond)
				in = sampleOf(t, e, "in")
			}
			if !settled() {
				t.Errorf("processors %+v, want both threads on core %d", in.CPU, core)
			}
			for i, st := range s.streams {
				if got := allowed(t, st.thread.Load()); got != fmt.Sprint(core) {
					t.Errorf("stream %d may run on %s, want %d", i, got, core)
				}
			}
			// The source was told which cores are taken, and got none.
			if out := sampleOf(t, e, "out"); out.CPU.Pinned != nil || !slices.Contains(asked, core) {
				t.Errorf("the source's threads are on %v, told of %v", out.CPU.Pinned, asked)
			}
			for range 20 { // threads of other goroutines, among them new ones
				got := make(chan []int)
				go func() {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
					now, _ := sys.Affinity()
					got <- now
				}()
				if now := <-got; !slices.Equal(now, cores) {
					t.Fatalf("another thread may run on %v, want %v", now, cores)
				}
			}
		})
	}
}

// TestUnpinned: nothing is chosen for a session that does not want it, or that
// counts no link.
func TestUnpinned(t *testing.T) {
	e := New(Config{Place: func([]string, int, []int) []int {
		t.Error("cores were chosen")
		return nil
	}})
	t.Cleanup(e.Close)
	for name, req := range map[string]agentapi.SinkRequest{"asked not to": {Links: []string{"lo"}, Unpinned: true}, "no links": {}} {
		req.Session, req.Bind, req.Streams, req.Lifetime = name, []netip.Addr{loopback}, 1, time.Minute
		if _, err := e.OpenSink(t.Context(), req); err != nil {
			t.Error(err)
		}
	}
}
