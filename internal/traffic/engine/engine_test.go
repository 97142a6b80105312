package engine

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/socket"
)

var (
	loopback = netip.MustParseAddr("127.0.0.1")
	testKey  = agentapi.Key{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// pair opens a sink and a source of n streams over an address of this host.
func pair(t *testing.T, addr netip.Addr, n int) (*Engine, []agentapi.Stream) {
	t.Helper()
	e := New(Config{})
	t.Cleanup(e.Close)
	sink, err := e.OpenSink(t.Context(), agentapi.SinkRequest{
		Session: "in", Key: testKey, Bind: []netip.Addr{addr}, Peers: []netip.Addr{addr}, Streams: n, Lifetime: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]agentapi.Stream, n)
	for i := range want {
		want[i] = agentapi.Stream{Lane: flow.Lane{Src: addr, Dst: addr}, Dport: uint16(sink.Port)}
	}
	reply, err := e.OpenSource(t.Context(), agentapi.SourceRequest{Session: "out", Key: testKey, Streams: want, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return e, reply.Streams
}

// awaitBytes samples until every stream of a session has carried something: how
// long that takes is the machine's business, not the engine's.
func awaitBytes(t *testing.T, e *Engine, session string, n int) agentapi.Sample {
	t.Helper()
	for since := 1; ; since++ {
		reply, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: session, Since: since})
		if err != nil {
			t.Fatal(err)
		}
		last := reply.Samples[len(reply.Samples)-1]
		if !slices.Contains(last.Bytes, 0) && len(last.Bytes) == n {
			return last
		}
		if last.At > 30*time.Second {
			t.Fatalf("after %v the streams carried %v bytes", last.At, last.Bytes)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestStreamsCarryBytes(t *testing.T) {
	for _, addr := range []netip.Addr{loopback, netip.IPv6Loopback()} {
		t.Run(addr.String(), func(t *testing.T) {
			if l, err := net.Listen("tcp", netip.AddrPortFrom(addr, 0).String()); err != nil && addr.Is6() {
				t.Skipf("no IPv6 on this machine: %v", err)
			} else if err != nil {
				t.Fatal(err)
			} else {
				l.Close()
			}
			const n = 4
			e, streams := pair(t, addr, n)
			before, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: "in"})
			if err != nil {
				t.Fatal(err)
			}
			for i, b := range before.Samples[0].Bytes {
				if b != 0 {
					t.Errorf("stream %d carried %d bytes before the start", i, b)
				}
			}
			if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out"}); err != nil {
				t.Fatal(err)
			}
			received := awaitBytes(t, e, "in", n)
			out, err := e.Finish(t.Context(), agentapi.SessionRequest{Session: "out"})
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				got, sent := received.Bytes[i], out.Samples[0].Bytes[i]
				if got == 0 || got > sent+payload.SendLength { // a call is counted when it is through
					t.Errorf("stream %d: received %d, sent %d", i, got, sent)
				}
				if streams[i].Sport == 0 || streams[i].Src != addr {
					t.Errorf("stream %d: reported as %+v", i, streams[i])
				}
			}
			if Kind == "raw" {
				// Not the busy time: over loopback it can stay below one tick.
				if c := out.Samples[0].TCP[0]; !c.Present || c.Last.SndMSS == 0 || c.SegmentsOut == 0 {
					t.Errorf("TCP_INFO of the sender: %+v", c)
				}
			}
		})
	}
}

func TestStrangersAreRefused(t *testing.T) {
	e := New(Config{})
	t.Cleanup(e.Close)
	open := func(session string, peers []netip.Addr) int {
		r, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: session, Key: testKey, Bind: []netip.Addr{loopback}, Peers: peers, Streams: 1, Lifetime: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return r.Port
	}
	named := open("named", []netip.Addr{loopback})
	others := open("others", []netip.Addr{netip.MustParseAddr("192.0.2.1")})
	wrong := testKey
	wrong[15]++
	for _, c := range []struct {
		what string
		port int
		key  agentapi.Key
	}{{"wrong key", named, wrong}, {"unnamed peer", others, testKey}} {
		_, err := e.OpenSource(t.Context(), agentapi.SourceRequest{
			Session: "try " + c.what, Key: c.key, Lifetime: time.Minute,
			Streams: []agentapi.Stream{{Lane: flow.Lane{Src: loopback, Dst: loopback}, Dport: uint16(c.port)}},
		})
		if err == nil {
			t.Errorf("%s was served", c.what)
		}
		if _, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: "try " + c.what}); !errors.Is(err, socket.ErrSession) {
			t.Errorf("%s left a session: %v", c.what, err)
		}
	}
}

func TestSessionEnds(t *testing.T) {
	e, _ := pair(t, loopback, 2)
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"in", "out"} {
		if _, err := e.Finish(t.Context(), agentapi.SessionRequest{Session: id}); err != nil {
			t.Error(err)
		}
		if _, err := e.Finish(t.Context(), agentapi.SessionRequest{Session: id}); !errors.Is(err, socket.ErrSession) {
			t.Errorf("second Finish of %s: %v, want ErrSession", id, err)
		}
	}
	if _, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: "x", Streams: 1 << 20}); !errors.Is(err, ErrTooMany) {
		t.Errorf("a million streams: %v, want ErrTooMany", err)
	}
}

func TestLifetimeEndsASession(t *testing.T) {
	e := New(Config{})
	t.Cleanup(e.Close)
	r, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: "short", Key: testKey, Bind: []netip.Addr{loopback}, Peers: []netip.Addr{loopback}, Streams: 1, Lifetime: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		_, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: "short"})
		if errors.Is(err, socket.ErrSession) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("session outlived its lifetime")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", r.Port), time.Second); err == nil {
		c.Close()
		t.Error("data port still open")
	}
}

func TestBrokenStreamIsReported(t *testing.T) {
	e, _ := pair(t, loopback, 2)
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Finish(t.Context(), agentapi.SessionRequest{Session: "in"}); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		r, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: "out"})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Errors) == 2 && strings.HasPrefix(r.Errors[0], "stream 0: ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("streams whose peer went away are not reported")
}

// TestClosedEngineOpensNothing (code 4.7): a request that is on its way while the
// conversation ends leaves no port open.
func TestClosedEngineOpensNothing(t *testing.T) {
	e := New(Config{})
	e.Close()
	if _, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: "late", Streams: 1}); !errors.Is(err, socket.ErrClosed) {
		t.Errorf("a sink: %v", err)
	}
	if _, err := e.OpenSource(t.Context(), agentapi.SourceRequest{Session: "late", Streams: make([]agentapi.Stream, 1)}); !errors.Is(err, socket.ErrClosed) {
		t.Errorf("a source: %v", err)
	}
	for _, udp := range []*agentapi.Datagrams{{}} {
		if _, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: "late", Streams: 1, UDP: udp}); !errors.Is(err, socket.ErrClosed) {
			t.Errorf("a sink of UDP: %v", err)
		}
	}
	if len(e.sessions.All()) > 0 {
		t.Errorf("%d sessions", len(e.sessions.All()))
	}
}
