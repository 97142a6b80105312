package measure

import (
	"net/netip"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
)

// TestOneServerForAnAddress: clients of several addresses send to one server,
// and each finds its own streams in what that reports.
func TestOneServerForAnAddress(t *testing.T) {
	a, b, c := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.3")
	to, other := netip.MustParseAddr("192.0.2.9"), netip.MustParseAddr("192.0.2.10")
	net := Network{Endpoints: map[string]ask.Host{"x": nil}}
	tr := &trial{cfg: Config{Network: net}}
	pair := func(src, dst netip.Addr, n int) *pairing {
		return &pairing{trial: tr, way: way{to: "x"}, lane: flow.Lane{Src: src, Dst: dst}, streams: n, session: src.String()}
	}
	clients := []*pairing{pair(a, to, 2), pair(b, to, 1), pair(c, other, 1)}
	servers := tr.servers(clients)
	if len(servers) != 2 || clients[0].server != clients[1].server || clients[2].server == clients[0].server {
		t.Fatalf("%d servers", len(servers))
	}
	if s := servers[0]; s.streams != 3 || s.clients != 2 || !s.first || servers[1].first {
		t.Errorf("first server %+v, second sampled: %v", *s, servers[1].first)
	}
	stream := func(from string) agentapi.ToolStream {
		return agentapi.ToolStream{Client: netip.MustParseAddrPort(from)}
	}
	servers[0].said.Streams = []agentapi.ToolStream{stream("192.0.2.2:40000"), stream("192.0.2.1:40001"), stream("[::ffff:192.0.2.1]:40002")}
	for i, want := range []int{2, 1} {
		if err := clients[i].take(); err != nil || len(clients[i].received) != want {
			t.Errorf("client %d: %v, %d streams", i, err, len(clients[i].received))
		}
	}
	// An only client may have got another address on the way.
	servers[1].said.Streams = []agentapi.ToolStream{stream("198.51.100.7:40000")}
	if err := clients[2].take(); err != nil || len(clients[2].received) != 1 {
		t.Errorf("behind a translation: %v", err)
	}
	servers[0].said.Streams = servers[0].said.Streams[:2]
	if err := clients[0].take(); err == nil {
		t.Error("a stream that the server did not report is not missed")
	}
}
