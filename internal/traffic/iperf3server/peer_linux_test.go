package iperf3server

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// peer is a client of the protocol that does what a test tells it, good or
// bad.
type peer struct {
	t      *testing.T
	r      *running
	c      *net.TCPConn
	cookie iperf3.Cookie
}

// connect opens a TCP connection to the listener, from an address of loopback.
func connect(t *testing.T, r *running, from string) *net.TCPConn {
	t.Helper()
	d := net.Dialer{Timeout: 30 * time.Second, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0))}
	c, err := d.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return c.(*net.TCPConn)
}

func newPeer(t *testing.T, r *running) *peer {
	t.Helper()
	p := &peer{t: t, r: r, c: connect(t, r, "127.0.0.1")}
	var random [iperf3.CookieLength - 1]byte
	_, _ = rand.Read(random[:])
	p.cookie = iperf3.NewCookie(random)
	return p
}

func (p *peer) write(b []byte) {
	p.t.Helper()
	if _, err := p.c.Write(b); err != nil {
		p.t.Fatalf("write: %v", err)
	}
}

// want reads states that must come.
func (p *peer) want(states ...iperf3.State) {
	p.t.Helper()
	for _, want := range states {
		var b [1]byte
		if _, err := io.ReadFull(p.c, b[:]); err != nil {
			p.t.Fatalf("want %s: %v", want, err)
		}
		if got, err := iperf3.ParseState(b[0]); err != nil || got != want {
			p.t.Fatalf("listener says %s, %v; want %s", got, err, want)
		}
	}
}

// fault reads why the listener ends the test.
func (p *peer) fault(want iperf3.Reason) {
	p.t.Helper()
	p.want(iperf3.ServerError)
	var b [iperf3.FaultLength]byte
	if _, err := io.ReadFull(p.c, b[:]); err != nil {
		p.t.Fatal(err)
	}
	if got, err := iperf3.ParseFault(b[:]); err != nil || got.Reason != want {
		p.t.Fatalf("fault %v, %v; want reason %d", got, err, want)
	}
	p.gone()
}

// gone waits for the listener to end the connection.
func (p *peer) gone() {
	p.t.Helper()
	if n, err := p.c.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		p.t.Fatalf("read %d bytes, %v; want the end", n, err)
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// ask goes as far as the parameters.
func (p *peer) ask(params iperf3.Parameters) {
	p.t.Helper()
	p.write(p.cookie[:])
	p.want(iperf3.ParamExchange)
	p.send(params)
}

func (p *peer) send(document any) {
	p.t.Helper()
	frame, err := iperf3.AppendFrame(nil, document)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(frame)
}

// open connects TCP streams, which the listener must have asked for.
func (p *peer) open(n int) []*net.TCPConn {
	p.t.Helper()
	p.want(iperf3.CreateStreams)
	var out []*net.TCPConn
	for range n {
		c := connect(p.t, p.r, "127.0.0.1")
		if _, err := c.Write(p.cookie[:]); err != nil {
			p.t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// finish exchanges results after streams sent so many bytes each.
func (p *peer) finish(bytes ...int) iperf3.Results {
	p.t.Helper()
	p.write([]byte{iperf3.TestEnd.Byte()})
	p.want(iperf3.ExchangeResults)
	mine := iperf3.Results{HasRetransmits: 1}
	for i, n := range bytes {
		mine.Streams = append(mine.Streams, iperf3.StreamResult{ID: iperf3.StreamID(i), Bytes: iperf3.Whole(n)})
	}
	p.send(mine)
	text, err := iperf3.ReadFrame(p.c, iperf3.MaxResults)
	if err != nil {
		p.t.Fatal(err)
	}
	theirs, err := iperf3.ParseResults(text)
	if err != nil {
		p.t.Fatal(err)
	}
	p.want(iperf3.DisplayResults)
	p.write([]byte{iperf3.IperfDone.Byte()})
	return theirs
}

// small are parameters of a test that is over at once.
func small(title string) iperf3.Parameters {
	return iperf3.Parameters{TCP: true, Parallel: 1, Bytes: 100000, Block: 10000, Title: title}
}

// good runs a whole test as a client does that means well, which must work
// whatever others are up to.
func good(t *testing.T, r *running, params iperf3.Parameters) Test {
	t.Helper()
	p := newPeer(t, r)
	p.ask(params)
	var sent []int
	for _, c := range p.open(int(params.Parallel)) {
		if _, err := c.Write(make([]byte, params.Bytes)); err != nil {
			t.Fatal(err)
		}
		sent = append(sent, int(params.Bytes))
	}
	p.want(iperf3.TestStart, iperf3.TestRunning)
	theirs := p.finish(sent...)
	if len(theirs.Streams) != len(sent) {
		t.Fatalf("results of %d streams, want %d", len(theirs.Streams), len(sent))
	}
	for i, s := range theirs.Streams {
		if s.ID != iperf3.StreamID(i) || int(s.Bytes) != sent[i] {
			text, _ := json.Marshal(theirs)
			t.Fatalf("stream %d carried %d bytes, results %s", i, sent[i], text)
		}
	}
	return r.done(t, params.Title)
}
