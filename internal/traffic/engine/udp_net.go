//go:build !linux || portable

package engine

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/socket"
	"github.com/linerate/linerate/record"
)

// netDatagrams is a connected UDP socket of package net: a call a datagram.
type netDatagrams struct {
	*net.UDPConn
	netEnds
}

func (c netDatagrams) method() string        { return "write" }
func (c netDatagrams) pause(d time.Duration) { time.Sleep(d) }
func (c netDatagrams) shut()                 { _ = c.SetDeadline(time.Unix(1, 0)) }
func (c netDatagrams) close()                { _ = c.Close() }

// portableMTU is taken where package net cannot tell: what every Ethernet and
// every IPv6 path of today lets through, tunnels included.
const portableMTU = 1280

func (c netDatagrams) pathMTU() (int, error) { return portableMTU, nil }

func dialDatagrams(want agentapi.Stream, req agentapi.SourceRequest) (datagramConn, error) {
	c, err := socket.Dial(context.Background(), "udp", netip.AddrPortFrom(want.Src, want.Sport), netip.AddrPortFrom(want.Dst, want.Dport), 0, want.Socket)
	if err != nil {
		return nil, err
	}
	return netDatagrams{c.(*net.UDPConn), netEnds{c}}, nil
}

func (c netDatagrams) exchange(hello, answer []byte, wait time.Duration) (int, error) {
	if len(hello) > 0 {
		if _, err := c.Write(hello); err != nil {
			return 0, err
		}
	}
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return 0, err
	}
	n, err := c.Read(answer)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return 0, nil
	}
	return max(n, 0), err
}

func (c netDatagrams) prepare(payload int, _ bool) (*volley, error) {
	return newVolley(payload, 1, 8), nil
}

func (c netDatagrams) flush(v *volley, n, last int) (sent, calls int, err error) {
	for ; sent < n; sent++ {
		calls++
		b := v.message(sent, sent+1, v.payload)
		if sent == n-1 {
			b = v.message(sent, n, last)
		}
		if _, err := c.Write(b); err != nil {
			return sent, calls, err
		}
	}
	return sent, calls, nil
}

// netDatagramPort receives all streams of an address on one socket.
type netDatagramPort struct {
	sockets []*net.UDPConn
}

func listenDatagrams(ns netns.Namespace, s *session, req agentapi.SinkRequest, _ *slog.Logger) (datagramPort, error) {
	if len(req.Bind) == 0 {
		return nil, errors.New("listen: no address to bind")
	}
	if err := socket.Refuse(ns, record.Socket{}); err != nil {
		return nil, err
	}
	p, err := onPort(req, func(port int) (*netDatagramPort, error) {
		p := &netDatagramPort{}
		err := p.bind(req, port)
		if err != nil {
			p.close()
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range p.sockets {
		go receivePort(c, s, req)
	}
	return p, nil
}

func (p *netDatagramPort) bind(req agentapi.SinkRequest, port int) error {
	for _, a := range req.Bind {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, uint16(port))))
		if err != nil {
			return err
		}
		p.sockets = append(p.sockets, c)
		port = p.port()
		if req.Socket.RcvBuf > 0 {
			err = c.SetReadBuffer(int(req.Socket.RcvBuf))
		} else {
			_ = c.SetReadBuffer(receiveBuffer(req.Streams)) // as much of it as there is to be had
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *netDatagramPort) port() int      { return int(socket.AddrPort(p.sockets[0].LocalAddr()).Port()) }
func (p *netDatagramPort) method() string { return "recvfrom" }

func (p *netDatagramPort) close() {
	for _, c := range p.sockets {
		_ = c.Close()
	}
}

// receivePort serves openings and takes in what streams that opened send,
// until the socket is closed.
func receivePort(c *net.UDPConn, s *session, req agentapi.SinkRequest) {
	tag, opened := dataTag(req.Key), make(map[netip.AddrPort]*arrivals)
	buf := make([]byte, largestDatagram+1)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) || s.stopped() {
			return
		}
		if err != nil {
			continue
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if a := opened[from]; a != nil && a.take(buf[:n], uint64(time.Since(s.opened))) {
			a.count.Calls++
			s.udp[a.stream].publish(a.count, a.bytes)
			continue
		}
		o, ok := readOpeningPacket(buf[:n], req.Key)
		if !ok || !namedPeer(from.Addr(), req.Peers) || o.stream < 0 || o.stream >= len(s.udp) {
			continue
		}
		if opened[from] == nil {
			if !s.udp[o.stream].claim() {
				continue
			}
			opened[from] = &arrivals{tag: tag, stream: o.stream}
		}
		if opened[from].stream == o.stream {
			_, _ = c.WriteToUDPAddrPort(putAnswer(req.Key, o.stream), from)
		}
	}
}
