package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agentapi"
)

// transports are the ways to an agent that this machine has: all must behave
// alike.
func transports() map[string]func(t *testing.T) Transport {
	return map[string]func(t *testing.T) Transport{
		"local": func(t *testing.T) Transport {
			via, err := transport(t.Context(), "here", "local:", Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true})
			if err != nil {
				t.Fatal(err)
			}
			return via
		},
		"stream": func(t *testing.T) Transport {
			requests, ours := io.Pipe()
			theirs, replies := io.Pipe()
			a := agent.New(agent.Config{Name: "here", Version: "test", JournalDir: t.TempDir()})
			done := make(chan error, 1)
			go func() {
				done <- a.Serve(context.Background(), requests, replies)
				replies.Close()
			}()
			return newStream(theirs, ours, func() error { return <-done }, nil)
		},
	}
}

// TestConformance holds every transport to the same behaviour.
func TestConformance(t *testing.T) {
	for name, open := range transports() {
		t.Run(name, func(t *testing.T) { conformance(t, open) })
	}
}

func conformance(t *testing.T, open func(t *testing.T) Transport) {
	via := open(t)
	h := &Host{Name: "here", via: via}
	t.Run("hello", func(t *testing.T) { testHello(t, h) })
	t.Run("errors", func(t *testing.T) { testErrors(t, h) })
	t.Run("traffic", func(t *testing.T) { testTraffic(t, h) })
	t.Run("sockets", func(t *testing.T) { testSockets(t, h) })
	t.Run("routes", func(t *testing.T) { testRoutes(t, h) })
	t.Run("cancel", func(t *testing.T) { testCancel(t, h) })
	if err := h.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func testHello(t *testing.T, h *Host) {
	reply, err := call[agentapi.HelloReply](t.Context(), h, agentapi.MethodHello, agentapi.HelloRequest{Version: agentapi.Version})
	if err != nil || reply.Linerate != "test" || reply.Version != agentapi.Version {
		t.Errorf("hello: %+v, %v", reply, err)
	}
	if !slices.Contains(reply.Capabilities, string(agentapi.MethodObserve)) || !slices.IsSorted(reply.Capabilities) {
		t.Errorf("it can %v", reply.Capabilities)
	}
	if _, err := call[agentapi.HelloReply](t.Context(), h, agentapi.MethodHello, agentapi.HelloRequest{Version: 99}); err == nil {
		t.Error("another protocol version was accepted")
	}
}

func testErrors(t *testing.T, h *Host) {
	if _, err := h.via.Call(t.Context(), "no-such-method", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("unknown method: %v, want ErrUnsupported", err)
	}
	if _, err := h.via.Call(t.Context(), agentapi.MethodPing, json.RawMessage(`{"no_such_field":1}`)); err == nil {
		t.Error("a field that the agent does not know was ignored")
	}
	if _, err := h.Sample(t.Context(), agentapi.SampleRequest{Session: "none"}); err == nil {
		t.Error("a session that does not exist was sampled")
	}
}

func testTraffic(t *testing.T, h *Host) {
	lo := netip.MustParseAddr("127.0.0.1")
	key := agentapi.Key{7}
	sink, err := h.OpenSink(t.Context(), agentapi.SinkRequest{Session: "in", Key: key, Bind: []netip.Addr{lo}, Peers: []netip.Addr{lo}, Streams: 2, Links: []string{"lo"}, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	stream := agentapi.Stream{Lane: flow.Lane{Src: lo, Dst: lo}, Dport: uint16(sink.Port)}
	if _, err := h.OpenSource(t.Context(), agentapi.SourceRequest{Session: "out", Key: key, Streams: []agentapi.Stream{stream, stream}, Lifetime: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Start(t.Context(), agentapi.StartRequest{Session: "out"}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	reply, err := h.Sample(t.Context(), agentapi.SampleRequest{Session: "in"})
	if err != nil || len(reply.Samples) != 1 || len(reply.Samples[0].Links) != 1 || reply.Samples[0].Bytes[0] == 0 || reply.Samples[0].Bytes[1] == 0 {
		t.Fatalf("sample: %+v, %v", reply, err)
	}
	for _, id := range []string{"out", "in"} {
		if _, err := h.Finish(t.Context(), agentapi.FinishRequest{Session: id}); err != nil {
			t.Error(err)
		}
	}
}

func testCancel(t *testing.T, h *Host) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := h.Ping(ctx, agentapi.PingRequest{Dst: netip.MustParseAddr("127.0.0.1"), Count: 1000, Interval: 20 * time.Millisecond})
	if err == nil || time.Since(begin) > 5*time.Second {
		t.Errorf("a call went on after its context: %v after %v", err, time.Since(begin))
	}
}

func TestStreamDies(t *testing.T) {
	requests, ours := io.Pipe()
	theirs, replies := io.Pipe()
	s := newStream(theirs, ours, nil, func() string { return "Permission denied" })
	go func() {
		_, _ = io.CopyN(io.Discard, requests, 1)
		replies.Close() // ssh ended
		_, _ = io.Copy(io.Discard, requests)
	}()
	_, err := s.Call(t.Context(), agentapi.MethodHello, nil)
	if !errors.Is(err, ErrUnreachable) || err.Error() != "host is unreachable: Permission denied" {
		t.Errorf("a dead transport: %v", err)
	}
	if _, err := s.Call(t.Context(), agentapi.MethodHello, nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("the next call: %v", err)
	}
}

func TestSSHArguments(t *testing.T) {
	for _, c := range []struct {
		reach string
		want  []string
	}{
		{"ssh://root@192.0.2.11", []string{"-l", "root", "--", "192.0.2.11", "linerate", "agent", "--stdio"}},
		{"ssh://h", []string{"-T", "--", "h", "linerate", "agent", "--stdio"}},
		{"ssh://h:2222", []string{"-p", "2222", "--", "h", "linerate", "agent", "--stdio"}},
		{"ssh://-oProxyCommand=x", nil}, {"ssh://", nil}, {"ssh://h/rm", nil}, {"http://h", nil},
	} {
		got, err := sshArguments(c.reach, false)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v, %v", c.reach, got, err)
			continue
		}
		if c.want != nil && !slices.Equal(got[len(got)-len(c.want):], c.want) {
			t.Errorf("%s: %v, want it to end %v", c.reach, got, c.want)
		}
	}
}

// A confirmation over a connection that was there before shows nothing.
func TestSSHArgumentsOfAFreshConnection(t *testing.T) {
	got, err := sshArguments("ssh://h", true)
	if err != nil || !slices.Contains(got, "ControlPath=none") || !slices.Contains(got, "ControlMaster=no") {
		t.Errorf("%v, %v: it would share a connection", got, err)
	}
	if got, _ := sshArguments("ssh://h", false); slices.Contains(got, "ControlPath=none") {
		t.Errorf("%v: the user's own settings count otherwise", got)
	}
}

func TestDialRefuses(t *testing.T) {
	for reach, want := range map[string]error{"": ErrUnreachable, "telnet://h": ErrReach, "netns:": ErrReach, "netns:linerate-test-absent": ErrUnreachable} {
		if _, err := Dial(t.Context(), "h", reach, Config{}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", reach, err, want)
		}
	}
}
