//go:build !aix

package fleet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
)

// A data port says nothing to whoever has no key, or is not a named peer, and
// the session it is of goes on.
func TestNATSSecurityDataPort(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	d := dialer(b.testServer.As(t, "eve", agentapi.RoleMeasure))
	defer d.Close()
	h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	own, stranger := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.66")
	key := agentapi.Key{1, 2, 3}
	sink, err := ask.Call(t.Context(), h, agentapi.OpenSink, agentapi.SinkRequest{Session: "in", Key: key, Bind: []netip.Addr{own}, Peers: []netip.Addr{own}, Streams: 1, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	scan := func(name string, from netip.Addr, text []byte) {
		t.Helper()
		c, err := (&net.Dialer{Timeout: time.Second, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))}).Dial("tcp", netip.AddrPortFrom(own, uint16(sink.Port)).String())
		if errors.Is(err, syscall.ECONNRESET) {
			return // it came, and was turned away
		}
		if err != nil {
			t.Errorf("%s never came to the port: %v", name, err)
			return
		}
		defer c.Close()
		if _, err := c.Write(text); err != nil && len(text) > 0 {
			t.Logf("%s was cut off while it spoke: %v", name, err)
		}
		_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		if said, _ := io.ReadAll(c); len(said) > 0 {
			t.Errorf("%s was told %q", name, said)
		}
	}
	for range 20 {
		scan("a stranger", stranger, bytes.Repeat([]byte{1}, 64))
	}
	scan("a stranger with the key", stranger, key[:])
	scan("the peer without the key", own, bytes.Repeat([]byte{9}, 64))
	scan("the peer with half a key", own, key[:8])
	scan("a web browser", own, []byte("GET / HTTP/1.1\r\n\r\n"))
	scan("nobody", own, nil)
	source := agentapi.SourceRequest{Session: "out", Key: key, Streams: []agentapi.Stream{{Lane: flow.Lane{Src: own, Dst: own}, Dport: uint16(sink.Port)}}, Lifetime: time.Minute}
	if _, err := ask.Call(t.Context(), h, agentapi.OpenSource, source); err != nil {
		t.Fatal(err)
	}
	if _, err := ask.Call(t.Context(), h, agentapi.Start, agentapi.StartRequest{Session: "out"}); err != nil {
		t.Fatal(err)
	}
	scan("a stranger in the middle", stranger, bytes.Repeat([]byte{1}, 64))
	time.Sleep(100 * time.Millisecond)
	reply, err := ask.Call(t.Context(), h, agentapi.Finish, agentapi.SessionRequest{Session: "in"})
	if err != nil || len(reply.Samples) == 0 || reply.Samples[len(reply.Samples)-1].Bytes[0] == 0 {
		t.Errorf("the session did not go on: %+v, %v", reply, err)
	}
	if c, err := dialTCP(own, sink.Port); err == nil {
		c.Close()
		t.Error("the port is open after its test")
	}
	b.untouched(t, b.log.String, "a controller came")
}
