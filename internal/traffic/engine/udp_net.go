//go:build !linux || portable

package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/record"
)

// netDatagrams is a connected UDP socket of package net: a call a datagram.
type netDatagrams struct{ *net.UDPConn }

func udpAddrPort(a net.Addr) netip.AddrPort {
	u, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := u.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

func (c netDatagrams) local() netip.AddrPort  { return udpAddrPort(c.LocalAddr()) }
func (c netDatagrams) remote() netip.AddrPort { return udpAddrPort(c.RemoteAddr()) }
func (c netDatagrams) method() string         { return "write" }
func (c netDatagrams) granted() record.Socket { return record.Socket{} }
func (c netDatagrams) pause(d time.Duration)  { time.Sleep(d) }
func (c netDatagrams) shut()                  { _ = c.SetDeadline(time.Unix(1, 0)) }
func (c netDatagrams) close()                 { _ = c.Close() }

// portableMTU is taken where package net cannot tell: what every Ethernet and
// every IPv6 path of today lets through, tunnels included.
const portableMTU = 1280

func (c netDatagrams) pathMTU() (int, error) { return portableMTU, nil }

func dialDatagrams(want agentapi.Stream, req agentapi.SourceRequest) (datagramConn, error) {
	d := net.Dialer{}
	if want.Src.IsValid() {
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(want.Src, want.Sport))
	}
	c, err := d.Dial("udp", netip.AddrPortFrom(want.Dst, want.Dport).String())
	if err != nil {
		return nil, dialTaken(err)
	}
	if req.SocketBuffer > 0 {
		if err := c.(*net.UDPConn).SetWriteBuffer(int(req.SocketBuffer)); err != nil {
			c.Close()
			return nil, fmt.Errorf("set socket buffer: %w", err)
		}
	}
	return netDatagrams{c.(*net.UDPConn)}, nil
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
	if err := refuseOptions(ns, socketOptions{}); err != nil {
		return nil, err
	}
	var err error
	for _, port := range portsWanted(req) {
		p := &netDatagramPort{}
		if err = p.bind(req, port); err == nil {
			for _, c := range p.sockets {
				go receivePort(c, s, req)
			}
			return p, nil
		}
		p.close()
	}
	return nil, bindTaken(err)
}

func (p *netDatagramPort) bind(req agentapi.SinkRequest, port int) error {
	for _, a := range req.Bind {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, uint16(port))))
		if err != nil {
			return err
		}
		p.sockets = append(p.sockets, c)
		port = p.port()
		if req.SocketBuffer > 0 {
			err = c.SetReadBuffer(int(req.SocketBuffer))
		} else {
			_ = c.SetReadBuffer(receiveBuffer(req.Streams)) // as much of it as there is to be had
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *netDatagramPort) port() int      { return int(udpAddrPort(p.sockets[0].LocalAddr()).Port()) }
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
