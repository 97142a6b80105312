//go:build !linux

package iperf3client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/socket"
	"github.com/linerate/linerate/record"
)

// lockThread does nothing here: package net schedules its own threads.
func lockThread(*atomic.Int64) func() { return func() {} }

// dataSocket is a connection of package net. Its port is known before it
// connects only where it was chosen.
type dataSocket struct {
	conn      net.Conn
	near, far netip.AddrPort
	hello     func(context.Context, *dataSocket) error
	kind      transport
	asked     record.Socket
	room      []byte // for a datagram
}

func openSocket(ns netns.Namespace, near, far netip.AddrPort, kind transport, want record.Socket) (*dataSocket, error) {
	if kind == overMPTCP {
		return nil, fmt.Errorf("make MPTCP connection: only on Linux: %w", errors.ErrUnsupported)
	}
	want.Pacing = 0 // the stream's own pace holds
	if err := socket.Refuse(ns, want); err != nil {
		return nil, err
	}
	return &dataSocket{near: near, far: far, kind: kind, asked: want}, nil
}

func (s *dataSocket) connect(ctx context.Context, timeout time.Duration) error {
	network := "tcp"
	if s.kind == overUDP {
		network = "udp"
	}
	c, err := socket.Dial(ctx, network, s.near, s.far, timeout, s.asked)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", s.far, err)
	}
	s.conn, s.near = c, socket.AddrPort(c.LocalAddr())
	s.near = netip.AddrPortFrom(s.near.Addr().WithZone(""), s.near.Port())
	if err = c.SetDeadline(time.Now().Add(timeout)); err == nil {
		err = s.hello(ctx, s)
	}
	if err != nil {
		c.Close()
		return fmt.Errorf("open stream to %s: %w", s.far, err)
	}
	return c.SetDeadline(time.Time{})
}

func (s *dataSocket) writer(from *payload.Source) (payload.Writer, error) {
	return payload.OverNet(s.conn, agentapi.ModeCopy, from.Bytes, socket.Patience)
}

func (s *dataSocket) reader(buffer int) (payload.Reader, error) {
	return payload.OverNet(s.conn, agentapi.ModeCopy, make([]byte, buffer), socket.Patience)
}

// shut does nothing: calls look after patience whether they are to go on.
func (s *dataSocket) shut() {}

func (s *dataSocket) send(buf []byte) (int, error) {
	if err := s.conn.SetWriteDeadline(time.Now().Add(socket.Patience)); err != nil {
		return 0, err
	}
	n, err := s.conn.Write(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, nil
	}
	return n, err
}

func (s *dataSocket) receive(buf []byte) (int, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(socket.Patience)); err != nil {
		return 0, err
	}
	n, err := s.conn.Read(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, nil
	}
	if n == 0 && errors.Is(err, io.EOF) {
		return 0, io.EOF
	}
	return n, err
}

func (s *dataSocket) count() (agentapi.TCPCount, uint64) { return agentapi.TCPCount{}, 0 }

func (s *dataSocket) granted() agentapi.Stream {
	return agentapi.Stream{Lane: flow.Lane{Src: s.near.Addr(), Dst: s.far.Addr()}, Sport: s.near.Port(), Dport: s.far.Port()}
}

func (s *dataSocket) close() {
	if s.conn == nil {
		return
	}
	if t, ok := s.conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = s.conn.Close()
}

// sendMany and receiveMany move datagrams one by one.
func (s *dataSocket) sendMany(bufs [][]byte) (sent, calls int, err error) {
	for _, b := range bufs {
		n, err := s.send(b)
		calls++
		if err != nil || n == 0 {
			return sent, calls, err
		}
		sent++
	}
	return sent, calls, nil
}

func (s *dataSocket) receiveMany(each func([]byte)) (calls int, err error) {
	if s.room == nil {
		s.room = make([]byte, 64<<10)
	}
	n, err := s.receive(s.room)
	if n > 0 {
		each(s.room[:n])
	}
	return 1, err
}

// onDevice chooses no link here: openSocket refuses it.
func onDevice(string) func(context.Context, string, string, syscall.RawConn) error { return nil }

// numbered leaves zones to package net.
func numbered(a netip.AddrPort) (netip.AddrPort, error) { return a, nil }
