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

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/record"
)

// hostPort is an end of a connection.
type hostPort = netip.AddrPort

// lockThread does nothing here: package net schedules its own threads.
func lockThread(*atomic.Int64) func() { return func() {} }

// socket is a connection of package net. Its port is known before it connects
// only where it was chosen.
type socket struct {
	conn      net.Conn
	near, far netip.AddrPort
	hello     func(context.Context, *socket) error
	udp       bool
	asked     record.Socket
}

func openSocket(ns netns.Namespace, near, far netip.AddrPort, udp bool, want record.Socket) (*socket, error) {
	if ns.Name != "" || want.Congestion != "" || want.MSS != 0 || want.DSCP != 0 || want.Device != "" {
		return nil, fmt.Errorf("choose namespace, congestion control, MSS, DSCP or device: %w", errors.ErrUnsupported)
	}
	return &socket{near: near, far: far, udp: udp, asked: want}, nil
}

func (s *socket) connect(ctx context.Context, timeout time.Duration) error {
	d := net.Dialer{Timeout: timeout}
	network := "tcp"
	if s.udp {
		network = "udp"
	}
	if s.near.Addr().IsValid() {
		d.LocalAddr = net.Addr(net.TCPAddrFromAddrPort(s.near))
		if s.udp {
			d.LocalAddr = net.UDPAddrFromAddrPort(s.near)
		}
	}
	d.SetMultipathTCP(false)
	c, err := d.DialContext(ctx, network, s.far.String())
	if err != nil {
		return fmt.Errorf("connect to %s: %w", s.far, dialError(err))
	}
	s.conn = c
	if a, err := netip.ParseAddrPort(c.LocalAddr().String()); err == nil {
		s.near = netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
	}
	if t, ok := c.(*net.TCPConn); ok {
		err = t.SetNoDelay(s.asked.NoDelay)
	}
	if b, ok := c.(interface {
		SetReadBuffer(int) error
		SetWriteBuffer(int) error
	}); ok && s.asked.SndBuf > 0 {
		err = errors.Join(err, b.SetReadBuffer(int(s.asked.RcvBuf)), b.SetWriteBuffer(int(s.asked.SndBuf)))
	}
	err = errors.Join(err, c.SetDeadline(time.Now().Add(timeout)))
	if err == nil {
		err = s.hello(ctx, s)
	}
	if err != nil {
		c.Close()
		return fmt.Errorf("open stream to %s: %w", s.far, err)
	}
	return c.SetDeadline(time.Time{})
}

func (s *socket) send(buf []byte) (int, error) {
	if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	n, err := s.conn.Write(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, nil
	}
	return n, err
}

func (s *socket) receive(buf []byte) (int, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
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

func (s *socket) count() (agentapi.TCPCount, uint64) { return agentapi.TCPCount{}, 0 }

func (s *socket) granted() agentapi.Stream {
	out := agentapi.Stream{Sport: s.near.Port(), Dport: s.far.Port()}
	out.Src, out.Dst = s.near.Addr(), s.far.Addr()
	return out
}

func (s *socket) close() {
	if s.conn == nil {
		return
	}
	if t, ok := s.conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = s.conn.Close()
}

// udpSocket sends and receives datagrams one by one.
type udpSocket struct {
	*socket
	room []byte
}

func (s *udpSocket) sendMany(bufs [][]byte) (sent, calls int, err error) {
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

func (s *udpSocket) receiveMany(each func([]byte)) (calls int, err error) {
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
