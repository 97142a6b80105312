//go:build linux && !portable

package engine

import (
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/record"
)

// TestSocketOptions: what is asked for is what the kernel reads back, of the
// kernel's own way of counting.
func TestSocketOptions(t *testing.T) {
	for _, addr := range []netip.Addr{loopback, netip.IPv6Loopback()} {
		asked := record.Socket{SndBuf: 64 << 10, RcvBuf: 96 << 10, Congestion: "reno", MSS: 1000, NoDelay: true, Pacing: 8e9, DSCP: 46, Device: "lo"}
		_, sink, source, err := connected(t, addr, 2, openings{stream: agentapi.Stream{Socket: asked}, sink: agentapi.SinkRequest{Socket: record.Socket{RcvBuf: 96 << 10, DSCP: 46}}})
		if err != nil {
			t.Fatal(err)
		}
		want := asked
		want.SndBuf, want.RcvBuf = 2*asked.SndBuf, 2*asked.RcvBuf
		want.MSS -= 12 // timestamps
		for _, s := range source.Streams {
			if diff := cmp.Diff(want, s.Socket); diff != "" {
				t.Errorf("%v (-want +got)\n%s", addr, diff)
			}
		}
		if sink.Socket.RcvBuf != 2*asked.RcvBuf || sink.Socket.DSCP != 46 || sink.Socket.Congestion == "" {
			t.Errorf("%v: sink %+v", addr, sink.Socket)
		}
		if source.Method.Send != "write" || sink.Method.Receive != "read" {
			t.Errorf("moved by %v, %v", source.Method, sink.Method)
		}
	}
}

// TestSocketLimits: more than the kernel grants is not an error, and what it
// granted is what is told.
func TestSocketLimits(t *testing.T) {
	limits, err := sysctl.Read("net.core.rmem_max", "net.core.wmem_max")
	if err != nil {
		t.Fatal(err)
	}
	if limits["net.core.rmem_max"].Value == "" {
		t.Skip("this kernel has no net.core.rmem_max in this namespace")
	}
	half := agentapi.EarlierSocket{SocketBuffer: 1 << 29}
	_, sink, source, err := connected(t, loopback, 1, openings{source: agentapi.SourceRequest{EarlierSocket: half}, sink: agentapi.SinkRequest{EarlierSocket: half}})
	if err != nil {
		t.Fatal(err)
	}
	if got := source.Streams[0].Socket; got.SndBuf <= 0 || got.SndBuf >= 1<<30 || sink.Socket.RcvBuf <= 0 || sink.Socket.RcvBuf >= 1<<30 {
		t.Errorf("granted %+v and %+v of half a gigabyte", got, sink.Socket)
	}
}

func TestSocketRefused(t *testing.T) {
	for name, asked := range map[string]record.Socket{"no such congestion control": {Congestion: "nosuch"}, "no such link": {Device: "nosuch0"}} {
		if _, _, _, err := connected(t, loopback, 1, openings{stream: agentapi.Stream{Socket: asked}}); err == nil || !strings.Contains(err.Error(), "no") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, _, err := connected(t, loopback, 1, openings{stream: agentapi.Stream{Socket: record.Socket{Congestion: "nosuch"}}})
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "tcp_available_congestion_control") {
		t.Errorf("%v, want the list named", err)
	}
}

// TestZeroCopy: every mode carries every byte, says how, and whether the kernel
// copied: over loopback it does with MSG_ZEROCOPY (skb_orphan_frags_rx).
func TestZeroCopy(t *testing.T) {
	for _, c := range []struct {
		mode   agentapi.Mode
		send   string
		copied bool
	}{{agentapi.ModeZeroCopy, "sendfile", false}, {agentapi.ModeSendfile, "sendfile", false}, {agentapi.ModeMsgZeroCopy, "MSG_ZEROCOPY", true}} {
		t.Run(string(c.mode), func(t *testing.T) {
			const n, limit = 3, 9<<20 + 77
			e, sink, source, err := connected(t, loopback, n, openings{sink: agentapi.SinkRequest{Mode: c.mode}, source: agentapi.SourceRequest{Mode: c.mode}})
			if err != nil {
				t.Fatal(err)
			}
			if source.Method.Send != c.send || sink.Method.Receive != "MSG_TRUNC" {
				t.Errorf("moved by %v, %v", source.Method, sink.Method)
			}
			if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: limit}); err != nil {
				t.Fatal(err)
			}
			want := slices.Repeat([]uint64{limit}, n)
			for _, session := range []string{"in", "out"} {
				if got := awaitTotal(t, e, session, n*limit); !slices.Equal(got, want) {
					t.Errorf("session %s counts %v", session, got)
				}
			}
			last, err := e.Finish(t.Context(), agentapi.FinishRequest{Session: "out"})
			if err != nil {
				t.Fatal(err)
			}
			if got := last.Samples[0].Copied; got != c.copied {
				t.Errorf("the kernel copied: %v, want %v", got, c.copied)
			}
		})
	}
}

// TestSourceIsReleased: the file that zero-copy streams share goes with them.
func TestSourceIsReleased(t *testing.T) {
	files := func() (n int) {
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, f := range entries {
			if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && (strings.Contains(to, "linerate-source") || strings.Contains(to, "/#") && strings.HasSuffix(to, " (deleted)")) {
				n++
			}
		}
		return n
	}
	e, _, _, err := connected(t, loopback, 4, openings{source: agentapi.SourceRequest{Mode: agentapi.ModeSendfile}})
	if err != nil {
		t.Fatal(err)
	}
	if files() != 1 {
		t.Errorf("%d files for one session", files())
	}
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out"}); err != nil {
		t.Fatal(err)
	}
	awaitTotal(t, e, "in", 1)
	if _, err := e.Finish(t.Context(), agentapi.FinishRequest{Session: "out"}); err != nil {
		t.Fatal(err)
	}
	await(t, e, "in", func(agentapi.TCPCount) bool { return files() == 0 })
}
