package iperf3client

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/iperf3server"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// ownServer serves as `linerate listen` does while the test runs, and says where.
func ownServer(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := iperf3server.Listen(iperf3server.Config{Bind: []netip.Addr{loopback}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addrs()[0]
}

// Peers 9: what is asked for with --pacing goes through the session to every
// socket that sends: this end's forward, and the server's in reverse, where the
// rate tells.
func TestPacingOfSession(t *testing.T) {
	at := ownServer(t)
	const pace = 20 * unit.Mbps
	for _, direction := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
		t.Run(string(direction), func(t *testing.T) {
			c := New(Config{})
			defer c.Close()
			req := agentapi.IPerf3OpenRequest{
				Session: "s", Server: at, Longest: time.Minute, Direction: direction, Streams: 2, Socket: record.Socket{Pacing: pace},
			}
			if _, err := c.Open(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			sending := 0
			s, err := c.sessions.Get("s")
			if err != nil {
				t.Fatal(err)
			}
			for _, st := range s.streams {
				if !st.sending {
					continue
				}
				sending++
				if got := sys.Pacing(st.conn.FD); got != uint64(pace/8) {
					t.Errorf("a socket that sends paces at %d bytes/s, want %d", got, uint64(pace/8))
				}
			}
			if want := map[flow.Direction]int{flow.Forward: 2, flow.Both: 2}[direction]; sending != want {
				t.Errorf("%d streams send, want %d", sending, want)
			}
			if _, err := c.Start(t.Context(), agentapi.SessionRequest{Session: "s"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1500 * time.Millisecond)
			reply, err := c.Sample(t.Context(), agentapi.SampleRequest{Session: "s"})
			if err != nil || len(reply.Errors) > 0 || len(reply.Samples) == 0 {
				t.Fatalf("%+v, %v", reply, err)
			}
			// Unpaced, loopback carries a thousand times as much.
			last := reply.Samples[len(reply.Samples)-1]
			for i, bytes := range last.Bytes {
				if rate := float64(bytes) * 8 / last.At.Seconds(); rate > 5*float64(pace) {
					t.Errorf("stream %d moves %.0f Mbit/s, paced at %v", i, rate/1e6, pace)
				}
			}
			if _, err := c.End(t.Context(), agentapi.SessionRequest{Session: "s"}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
