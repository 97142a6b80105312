package engine

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

// openUDP opens a sink and a source of n streams of datagrams over an address
// of this host, and returns the source's reply.
func openUDP(t *testing.T, e *Engine, addr netip.Addr, n int, d agentapi.Datagrams, rate unit.BitRate) (agentapi.SourceReply, error) {
	t.Helper()
	sink, err := e.OpenSink(t.Context(), agentapi.SinkRequest{
		Session: "in", Key: testKey, Bind: []netip.Addr{addr}, Peers: []netip.Addr{addr}, Streams: n, UDP: &d, Lifetime: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]agentapi.Stream, n)
	for i := range want {
		want[i] = agentapi.Stream{Lane: flow.Lane{Src: addr, Dst: addr}, Dport: uint16(sink.Port)}
	}
	return e.OpenSource(t.Context(), agentapi.SourceRequest{Session: "out", Key: testKey, Streams: want, UDP: &d, Rate: rate, Lifetime: time.Minute})
}

func sampleOf(t *testing.T, e *Engine, session string) agentapi.Sample {
	t.Helper()
	r, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: session, Since: -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Errors) > 0 {
		t.Fatalf("session %s: %v", session, r.Errors)
	}
	return r.Samples[0]
}

// TestDatagramsAreCounted: with a limit and a rate that loopback keeps, both
// ends count every datagram and byte.
func TestDatagramsAreCounted(t *testing.T) {
	for _, addr := range []netip.Addr{loopback, netip.IPv6Loopback()} {
		for name, d := range map[string]agentapi.Datagrams{"fitting": {}, "single": {Single: true}, "small": {Payload: 100}} {
			t.Run(addr.String()+" "+name, func(t *testing.T) {
				if c, err := net.ListenPacket("udp", netip.AddrPortFrom(addr, 0).String()); err != nil && addr.Is6() {
					t.Skipf("no IPv6 on this machine: %v", err)
				} else if err != nil {
					t.Fatal(err)
				} else {
					c.Close()
				}
				n, limit := 3, uint64(200_050) // no multiple of a length
				if d.Payload > 0 {
					limit = 30_050
				}
				e := New(Config{})
				t.Cleanup(e.Close)
				reply, err := openUDP(t, e, addr, n, d, 8*unit.Mbps)
				if err != nil {
					t.Fatal(err)
				}
				if s := sampleOf(t, e, "in"); s.Bytes[0] != 0 {
					t.Errorf("%d bytes before the start", s.Bytes[0])
				}
				if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: unit.Bytes(limit)}); err != nil {
					t.Fatal(err)
				}
				// A source counts what it has handed over after the call, by when it may have arrived.
				awaitTotal(t, e, "in", uint64(n)*limit)
				awaitTotal(t, e, "out", uint64(n)*limit)
				in, out := sampleOf(t, e, "in"), sampleOf(t, e, "out")
				for i := range n {
					got, sent := in.UDP[i], out.UDP[i]
					if in.Bytes[i] != limit || out.Bytes[i] != limit {
						t.Errorf("stream %d: %d bytes of %d sent, want %d", i, in.Bytes[i], out.Bytes[i], limit)
					}
					if got.Datagrams != sent.Datagrams || got.Highest != sent.Datagrams || got.Reordered+got.Twice > 0 {
						t.Errorf("stream %d: received %+v, sent %+v", i, got, sent)
					}
					if reply.Streams[i].Sport == 0 || reply.Streams[i].Src != addr || reply.Method.Send == "" {
						t.Errorf("stream %d: reported as %+v by %+v", i, reply.Streams[i], reply.Method)
					}
				}
			})
		}
	}
}

// TestDatagramRate: a stream offers its rate, no more and not much less.
func TestDatagramRate(t *testing.T) {
	e := New(Config{})
	t.Cleanup(e.Close)
	const rate = 8 * unit.Mbps
	if _, err := openUDP(t, e, loopback, 2, agentapi.Datagrams{Payload: 1000}, rate); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out"}); err != nil {
		t.Fatal(err)
	}
	sampleOf(t, e, "out")
	first := awaitBytes(t, e, "out", 2)
	time.Sleep(500 * time.Millisecond)
	last := sampleOf(t, e, "out")
	for i := range 2 {
		got := unit.FromBytes(float64(last.Bytes[i]-first.Bytes[i]), (last.At - first.At).Seconds())
		if got < rate*5/10 || got > rate*125/100 {
			t.Errorf("stream %d offers %v, want %v", i, got, unit.BitRate(rate))
		}
	}
}

func TestDatagramStrangersAreIgnored(t *testing.T) {
	e := New(Config{})
	t.Cleanup(e.Close)
	open := func(session string, peers []netip.Addr) int {
		r, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: session, Key: testKey, Bind: []netip.Addr{loopback}, Peers: peers, Streams: 1, UDP: &agentapi.Datagrams{}, Lifetime: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return r.Port
	}
	named, others := open("named", []netip.Addr{loopback}), open("others", []netip.Addr{netip.MustParseAddr("192.0.2.1")})
	wrong := testKey
	wrong[15]++
	patience := 100 * time.Millisecond
	say := func(port int, packet []byte) int {
		c, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: loopback.AsSlice(), Port: port})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write(packet); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		n, _ := c.Read(make([]byte, 100))
		return n
	}
	good := opening{stream: 0, payload: 1000}
	for what, n := range map[string]int{
		"wrong key":    say(named, putOpening(wrong, good)),
		"no stream":    say(named, putOpening(testKey, opening{stream: 1, payload: 1000})),
		"cut opening":  say(named, putOpening(testKey, good)[:31]),
		"garbage":      say(named, []byte("hello")),
		"data first":   say(named, make([]byte, 1000)),
		"unnamed peer": say(others, putOpening(testKey, good)),
	} {
		if n > 0 {
			t.Errorf("%s was answered with %d bytes", what, n)
		}
	}
	patience = 10 * time.Second // what is answered ends it
	if n := say(named, putOpening(testKey, good)); n != answerPacket {
		t.Errorf("a good opening was answered with %d bytes", n)
	}
	patience = 100 * time.Millisecond
	// The stream is taken now: from elsewhere the same words are worth nothing.
	if n := say(named, putOpening(testKey, good)); n > 0 {
		t.Error("a second sender was given an open stream")
	}
	if s := sampleOf(t, e, "named"); s.Bytes[0] != 0 || s.UDP[0].Datagrams != 0 {
		t.Errorf("strangers were counted: %+v", s)
	}
}

func TestDatagramPortAnswersNobody(t *testing.T) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	begin := time.Now()
	var packets [][]byte
	go func() {
		buf := make([]byte, 2000)
		for {
			n, _, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			packets = append(packets, buf[:n:n])
		}
	}()
	e := New(Config{})
	t.Cleanup(e.Close)
	port := c.LocalAddr().(*net.UDPAddr).Port
	_, err = e.OpenSource(t.Context(), agentapi.SourceRequest{
		Session: "out", Key: testKey, UDP: &agentapi.Datagrams{}, Lifetime: time.Minute,
		Streams: []agentapi.Stream{{Lane: flow.Lane{Src: loopback, Dst: loopback}, Dport: uint16(port)}},
	})
	if !errors.Is(err, agentapi.ErrSilent) {
		t.Errorf("no answer: %v after %v", err, time.Since(begin))
	}
	c.Close()
	if len(packets) != len(knocks) {
		t.Errorf("%d packets were sent to somebody who did not answer, want %d openings", len(packets), len(knocks))
	}
}

func TestDatagramsRefused(t *testing.T) {
	e := New(Config{})
	t.Cleanup(e.Close)
	for _, payload := range []int{-1, 1, dataHeader - 1, largestDatagram + 1} {
		_, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: "in", Bind: []netip.Addr{loopback}, Streams: 1, UDP: &agentapi.Datagrams{Payload: payload}})
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("datagrams of %d bytes: %v", payload, err)
		}
	}
}

// TestManyDatagramStreams: a thousand streams open at once, at two addresses,
// and none is taken for another.
func TestManyDatagramStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	if runtime.GOOS != "linux" {
		t.Skip("every 127.0.0.0/8 address is this host's on Linux")
	}
	const n = 1000
	e := New(Config{})
	t.Cleanup(e.Close)
	d := &agentapi.Datagrams{Payload: 200}
	at := []netip.Addr{loopback, loopback.Next()}
	sink, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: "in", Key: testKey, Bind: at, Peers: at, Streams: n, UDP: d, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]agentapi.Stream, n)
	for i := range want {
		want[i] = agentapi.Stream{Lane: flow.Lane{Src: at[i%2], Dst: at[i%2]}, Dport: uint16(sink.Port)}
	}
	if _, err := e.OpenSource(t.Context(), agentapi.SourceRequest{Session: "out", Key: testKey, Streams: want, UDP: d, Rate: 16 * unit.Kbps, Lifetime: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: 600}); err != nil {
		t.Fatal(err)
	}
	for i, got := range awaitTotal(t, e, "in", n*600) {
		if got != 600 {
			t.Errorf("stream %d: %d bytes, want 600", i, got)
		}
	}
}
