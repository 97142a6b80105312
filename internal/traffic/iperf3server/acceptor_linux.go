package iperf3server

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// greeter answers the first datagram of UDP streams. Such a datagram does not
// say which test it is of, so of each address one test at a time may open its
// streams; others wait their turn, which takes a round trip a stream. Each
// stream then gets a socket of its own, bound to the same port and connected
// to its sender, which the kernel prefers for what that sender sends
// (compute_score, net/ipv4/udp.c). What comes from an address that nobody
// waits for is dropped.
type acceptor struct {
	listener *Listener
	sockets  []*net.UDPConn

	mu   sync.Mutex
	turn map[netip.Addr]*turn
}

// turn is whose streams an address may open, and who waits to be next.
type turn struct {
	holder *session
	place  chan struct{} // holds one item while somebody has the turn
	users  int
}

// open binds the port on one address.
func (g *acceptor) open(network, at string) error {
	share := func(_, _ string, c syscall.RawConn) (err error) {
		cerr := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_PKTINFO, 1)
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IPV6, syscall.IPV6_RECVPKTINFO, 1)
		})
		return errors.Join(err, cerr)
	}
	lc := net.ListenConfig{Control: share}
	c, err := lc.ListenPacket(context.Background(), network, at)
	if err != nil {
		return err
	}
	g.sockets = append(g.sockets, c.(*net.UDPConn))
	return nil
}

func (g *acceptor) close() {
	for _, c := range g.sockets {
		_ = c.Close()
	}
}

// turnTime is how long a test waits for the turn of its address: a client
// that dawdles holds it for answerTime at most.
const turnTime = time.Minute

// expect waits for the turn and takes it. done must follow.
func (g *acceptor) expect(s *session) error {
	at := s.from.Addr()
	g.mu.Lock()
	if g.turn == nil {
		g.turn = make(map[netip.Addr]*turn)
	}
	t := g.turn[at]
	if t == nil {
		t = &turn{place: make(chan struct{}, 1)}
		g.turn[at] = t
	}
	t.users++
	g.mu.Unlock()
	timer := time.NewTimer(turnTime)
	defer timer.Stop()
	select {
	case t.place <- struct{}{}:
		g.mu.Lock()
		t.holder = s
		g.mu.Unlock()
		return nil
	case got := <-s.states:
		return unexpected(got)
	case reason := <-s.asked:
		return reason
	case <-timer.C:
		return faulty(iperf3.ReasonAcceptStream, errNoStreams)
	}
}

// done gives up the turn, or the wait for it.
func (g *acceptor) done(s *session) {
	at := s.from.Addr()
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.turn[at]
	if t.holder == s {
		t.holder = nil
		<-t.place
	}
	if t.users--; t.users == 0 {
		delete(g.turn, at)
	}
}

func (g *acceptor) holder(at netip.Addr) *session {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.turn[at]; t != nil {
		return t.holder
	}
	return nil
}

// listen greets until the sockets close.
func (g *acceptor) listen() {
	var working sync.WaitGroup
	for _, c := range g.sockets {
		working.Go(func() { g.read(c) })
	}
	working.Wait()
}

// greeting is a datagram that came to the port and the address it came to.
type greeting struct {
	text     []byte
	from, to netip.AddrPort
}

func (g *acceptor) read(c *net.UDPConn) {
	port := socket.AddrPort(c.LocalAddr())
	buf, control := make([]byte, iperf3.HelloLength+1), make([]byte, 128)
	for {
		n, cn, _, from, err := c.ReadMsgUDPAddrPort(buf, control)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an ICMP error of an earlier answer
		}
		to := port
		if a := arrivedAt(control[:cn]); a.IsValid() {
			to = netip.AddrPortFrom(a, port.Port())
		}
		waiting := []greeting{{buf[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), to}}
		for len(waiting) > 0 {
			strays := g.greet(waiting[0])
			waiting = append(waiting[1:], strays...)
		}
	}
}

// arrivedAt is the local address of IP_PKTINFO or IPV6_PKTINFO: on a host with
// several, the answer must come from where the client sent to. Of a broadcast
// it is the link's own (ipi_spec_dst, ip(7)); of an IPv6 multicast none, which
// leaves the source to the kernel.
func arrivedAt(control []byte) netip.Addr {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return netip.Addr{}
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == syscall.IPPROTO_IP && m.Header.Type == syscall.IP_PKTINFO && len(m.Data) >= int(unsafe.Sizeof(syscall.Inet4Pktinfo{})):
			return netip.AddrFrom4([4]byte(m.Data[4:8]))
		case m.Header.Level == syscall.IPPROTO_IPV6 && m.Header.Type == syscall.IPV6_PKTINFO && len(m.Data) >= 16:
			if a := netip.AddrFrom16([16]byte(m.Data[:16])).Unmap(); !a.IsMulticast() {
				return a
			}
		}
	}
	return netip.Addr{}
}

// greet opens a stream if the datagram asks for one that is awaited. It
// returns what reached the stream's socket before it was connected: greetings
// of others.
func (g *acceptor) greet(m greeting) []greeting {
	answer, ok := iperf3.Answer(m.text)
	if !ok {
		return nil
	}
	s := g.holder(m.from.Addr().WithZone(""))
	if s == nil {
		s = g.holder(m.from.Addr())
	}
	if s == nil {
		return nil
	}
	fd, err := connectedUDP(m.to, m.from)
	if err != nil {
		g.listener.log.Warn("cannot open a UDP stream", "peer", m.from, "reason", err)
		return nil
	}
	var others []greeting
	socket.Strays(fd, straysMost, iperf3.HelloLength+1, func(text []byte, from netip.AddrPort) {
		others = append(others, greeting{bytes.Clone(text), from, m.to})
	})
	st := newStream(fd, m.to, m.from, true)
	// Answered before the test knows of it: the last stream lets all of them
	// send, and the client wants the answer first.
	if !s.awaits() {
		st.close()
		return others
	}
	if _, err := syscall.Write(fd, answer[:]); err != nil {
		g.listener.log.Debug("cannot answer a UDP stream", "peer", m.from, "reason", err)
	}
	if !s.take(st, g.listener.accepted.Add(1)) {
		st.close()
	}
	return others
}

// straysMost bounds what is read off a new socket.
const straysMost = 1024

// connectedUDP is a socket of its own for one sender, at the shared port.
func connectedUDP(here, far netip.AddrPort) (int, error) {
	if z := far.Addr().Zone(); z != "" {
		here = netip.AddrPortFrom(here.Addr().WithZone(z), here.Port())
	}
	if far.Addr().Is4() && !here.Addr().Is4() {
		here = netip.AddrPortFrom(netip.IPv4Unspecified(), here.Port())
	}
	return socket.DatagramsFrom(here, far, func(fd int) error {
		// Ends a wait now and then, to see whether the test is over.
		const wake = 250 * time.Millisecond
		return errors.Join(socket.Timeout(fd, syscall.SO_RCVTIMEO, wake), socket.Timeout(fd, syscall.SO_SNDTIMEO, wake))
	})
}
