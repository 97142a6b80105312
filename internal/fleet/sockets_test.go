package fleet

import (
	"net"
	"net/netip"
	"runtime"
	"slices"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agentapi"
)

// testSockets finds a connection of its own in the host's list.
func testSockets(t *testing.T, h *Host) {
	if runtime.GOOS != "linux" {
		t.Skip("sockets are listed on Linux only")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	near, far := netip.MustParseAddrPort(c.LocalAddr().String()), netip.MustParseAddrPort(l.Addr().String())
	reply, err := h.Sockets(t.Context(), agentapi.SocketsRequest{Proto: flow.TCP, Dport: far.Port()})
	want := flow.Tuple{Proto: flow.TCP, Src: near.Addr(), Dst: far.Addr(), Sport: near.Port(), Dport: far.Port()}
	if err != nil || len(reply.Sockets) != 1 || reply.Sockets[0].Tuple != want || reply.Sockets[0].State != "established" {
		t.Errorf("connections to port %d: %+v, %v", far.Port(), reply.Sockets, err)
	}
	if reply.Ephemeral.Count() == 0 {
		t.Error("the range of ephemeral ports is not given")
	}
	reply, err = h.Sockets(t.Context(), agentapi.SocketsRequest{Proto: flow.TCP, Listening: true})
	if ports := reply.Ports(); err != nil || !slices.Contains(ports, near.Port()) || !slices.Contains(ports, far.Port()) {
		t.Errorf("ports in use are %v, %v; want %d and %d among them", ports, err, near.Port(), far.Port())
	}
	if _, err := h.Sockets(t.Context(), agentapi.SocketsRequest{Proto: flow.ICMP}); err == nil {
		t.Error("sockets of ICMP were listed")
	}
}
