package iperf3client

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// badServer answers each control connection with what serve does; data
// connections are accepted and drained.
func badServer(t *testing.T, serve func(c net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		seen := make(map[string]bool) // a test's streams say its cookie again
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			cookie := make([]byte, iperf3.CookieLength)
			_, _ = io.ReadFull(c, cookie)
			if seen[string(cookie)] {
				go func() { _, _ = io.Copy(io.Discard, c) }()
				continue
			}
			seen[string(cookie)] = true
			go func() {
				serve(c)
				c.Close()
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func say(c net.Conn, states ...iperf3.State) {
	for _, s := range states {
		_, _ = c.Write([]byte{s.Byte()})
	}
}

func request(at netip.AddrPort) agentapi.IPerf3OpenRequest {
	return agentapi.IPerf3OpenRequest{Session: "bad", Server: at, Streams: 1, Direction: flow.Forward, Longest: time.Minute, Rate: 1e6}
}

// What a server says instead of opening a test becomes the error that it means.
func TestBadOpening(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(net.Conn)
		want  error
		words string
	}{
		"busy":     {func(c net.Conn) { say(c, iperf3.AccessDenied) }, ErrBusy, "busy"},
		"garbage":  {func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n")) }, ErrProtocol, "not an iperf3 server"},
		"vanishes": {func(net.Conn) {}, ErrEnded, "closed the connection"},
		"wrong state": {func(c net.Conn) {
			say(c, iperf3.DisplayResults)
		}, ErrProtocol, "is due"},
		"fault": {func(c net.Conn) {
			_, _ = c.Write(iperf3.Fault{Reason: iperf3.ReasonTotalRate}.Append(nil))
		}, nil, "the server says"},
		"denied": {func(c net.Conn) {
			say(c, iperf3.ParamExchange)
			_, _ = iperf3.ReadFrame(c, iperf3.MaxParameters)
			_, _ = c.Write(iperf3.Fault{Reason: iperf3.ReasonAuth}.Append(nil))
		}, ErrDenied, "token"},
		// Peers 12c: as iperf3 3.12 with --authorized-users-path, and with
		// --server-max-duration.
		"users alone": {func(c net.Conn) {
			say(c, iperf3.ParamExchange)
			_, _ = iperf3.ReadFrame(c, iperf3.MaxParameters)
			_, _ = c.Write(iperf3.Fault{Reason: iperf3.ReasonStreamRead, Errno: 9}.Append(nil))
		}, ErrCredentials, "wants a user and a password"},
		"too long": {func(c net.Conn) {
			say(c, iperf3.ParamExchange)
			_, _ = iperf3.ReadFrame(c, iperf3.MaxParameters)
			_, _ = c.Write(iperf3.Fault{Reason: 37}.Append(nil))
		}, nil, "--server-max-duration"},
		"half a fault": {func(c net.Conn) {
			say(c, iperf3.ParamExchange)
			_, _ = iperf3.ReadFrame(c, iperf3.MaxParameters)
			say(c, iperf3.ServerError)
			_, _ = c.Write([]byte{0, 0})
		}, ErrEnded, "does not name"},
	} {
		t.Run(name, func(t *testing.T) {
			client := New(Config{})
			defer client.Close()
			_, err := client.Open(t.Context(), request(badServer(t, c.serve)))
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.words)
			}
		})
	}
}

// A server that accepts and then says nothing does not hold the client longer
// than its context.
func TestSilentServer(t *testing.T) {
	at := badServer(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	client := New(Config{})
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := client.Open(ctx, request(at))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// opening goes through the conversation up to the running test.
func opening(c net.Conn) {
	say(c, iperf3.ParamExchange)
	_, _ = iperf3.ReadFrame(c, iperf3.MaxParameters)
	say(c, iperf3.CreateStreams, iperf3.TestStart, iperf3.TestRunning)
}

// started opens and starts a test against a bad server.
func started(t *testing.T, serve func(net.Conn)) *Client {
	t.Helper()
	client := New(Config{})
	t.Cleanup(client.Close)
	if _, err := client.Open(t.Context(), request(badServer(t, serve))); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Start(t.Context(), agentapi.SessionRequest{Session: "bad"}); err != nil {
		t.Fatal(err)
	}
	return client
}

// What goes wrong at the end leaves a reason, and the client's own count.
func TestBadEnding(t *testing.T) {
	exchange := func(c net.Conn) {
		opening(c)
		var b [1]byte
		_, _ = io.ReadFull(c, b[:]) // TestEnd
		say(c, iperf3.ExchangeResults)
		_, _ = iperf3.ReadFrame(c, iperf3.MaxResults)
	}
	frame := func(c net.Conn, text string) {
		_, _ = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	}
	for name, x := range map[string]struct {
		serve func(net.Conn)
		words string
	}{
		"huge results": {func(c net.Conn) {
			exchange(c)
			_, _ = c.Write([]byte{0x7f, 0xff, 0xff, 0xff})
		}, "not an iperf3 server"},
		"no JSON":        {func(c net.Conn) { exchange(c); frame(c, "<html>") }, "not an iperf3 server"},
		"no streams":     {func(c net.Conn) { exchange(c); frame(c, `{"streams":[]}`); say(c, iperf3.DisplayResults) }, "leave out stream"},
		"negative bytes": {func(c net.Conn) { exchange(c); frame(c, `{"streams":[{"id":1,"bytes":-5}]}`) }, "cannot be"},
		"backward time": {func(c net.Conn) {
			exchange(c)
			frame(c, `{"streams":[{"id":1,"bytes":5,"start_time":9,"end_time":1}]}`)
		}, "cannot be"},
		"vanishes": {func(c net.Conn) { exchange(c) }, "closed the connection"},
		"other state": {func(c net.Conn) {
			opening(c)
			var b [1]byte
			_, _ = io.ReadFull(c, b[:])
			say(c, iperf3.ParamExchange)
		}, "is due"},
	} {
		t.Run(name, func(t *testing.T) {
			client := started(t, x.serve)
			time.Sleep(20 * time.Millisecond) // some bytes, as many as there are
			reply, err := client.End(t.Context(), agentapi.SessionRequest{Session: "bad"})
			if err != nil || !strings.Contains(reply.Why, x.words) || len(reply.Streams) != 1 {
				t.Errorf("%v, why %q, want %q", err, reply.Why, x.words)
			}
		})
	}
}

// A server that goes away in the middle is told with the next sample, and one
// that takes no byte holds nobody.
func TestVanishes(t *testing.T) {
	client := started(t, func(c net.Conn) {
		opening(c)
		say(c, iperf3.ServerTerminate)
	})
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		reply, err := client.Sample(t.Context(), agentapi.SampleRequest{Session: "bad"})
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Errors) > 0 {
			if !strings.Contains(reply.Errors[0], "ended the test") {
				t.Error(reply.Errors)
			}
			return
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatal("nobody noticed")
		}
	}
}

func TestRefusedAndChecked(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	l.Close()
	client := New(Config{})
	defer client.Close()
	if _, err := client.Open(t.Context(), request(at)); !errors.Is(err, ErrRefused) {
		t.Errorf("nobody listens: %v", err)
	}
	for name, spoil := range map[string]func(*agentapi.IPerf3OpenRequest){
		"streams":   func(r *agentapi.IPerf3OpenRequest) { r.Streams = 0 },
		"direction": func(r *agentapi.IPerf3OpenRequest) { r.Direction = "sideways" },
		"family":    func(r *agentapi.IPerf3OpenRequest) { r.Src = netip.IPv6Loopback() },
		"ports":     func(r *agentapi.IPerf3OpenRequest) { r.Sports = make([]uint16, 2) },
		"omit":      func(r *agentapi.IPerf3OpenRequest) { r.Omit = time.Millisecond },
		"length":    func(r *agentapi.IPerf3OpenRequest) { r.Longest = 0 },
		"MSS":       func(r *agentapi.IPerf3OpenRequest) { r.Socket.MSS = 1 << 20 },
	} {
		req := request(at)
		spoil(&req)
		if _, err := client.Open(t.Context(), req); !errors.Is(err, ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzServer feeds a client whatever a server may say.
func FuzzServer(f *testing.F) {
	f.Add([]byte{9, 10, 1, 2, 13})
	f.Add([]byte("\x09\x0a\x01\x02\x0d\x00\x00\x00\x02{}\x0e"))
	f.Add([]byte("\x09\xfe\x00\x00\x00\x8e\x00\x00\x00\x00"))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		near, far := net.Pipe()
		go func() {
			go func() { _, _ = io.Copy(io.Discard, far) }()
			_, _ = far.Write(text)
			far.Close()
		}()
		c := &control{conn: near, states: make(chan stateRead, 1)}
		defer c.close()
		ctx := t.Context()
		for range 4 {
			if _, err := c.next(ctx, time.Second); err != nil {
				return
			}
		}
		results, err := c.ask(ctx, iperf3.MaxResults)
		if err != nil {
			return
		}
		theirs, err := iperf3.ParseResults(results)
		if err != nil {
			return
		}
		counts := make([]agentapi.IPerf3Count, 3)
		if fill(counts, theirs) == nil {
			for _, n := range counts {
				if n.ServerSeconds < 0 || n.Jitter < 0 {
					t.Errorf("impossible count %+v", n)
				}
			}
		}
	})
}
