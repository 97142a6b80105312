//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// datagramListener hears openings, on one socket per address, all of one
// port. A stream that opens gets a socket of its own, bound to the same
// address and connected to its sender: the kernel prefers it for what that
// sender sends (compute_score in net/ipv4/udp.c), so that streams do not share
// a queue or a thread.
type datagramListener struct {
	socket.Listener
	session *session
	req     agentapi.SinkRequest
	log     *slog.Logger
	refused refusals
	gro     bool
}

// listenDatagrams opens the port on every address, in the namespace.
func listenDatagrams(ns netns.Namespace, s *session, req agentapi.SinkRequest, log *slog.Logger) (datagramPort, error) {
	l := &datagramListener{session: s, req: req, log: log, refused: refusals{log: log}}
	err := ns.Do(func() (err error) {
		l.Listener, err = onPort(req, func(port int) (socket.Listener, error) { return socket.ListenAll(req.Bind, port, boundDatagrams) })
		return err
	})
	if err != nil {
		return nil, err
	}
	l.gro = req.UDP != nil && !req.UDP.Single && sys.SetGRO(l.FDs[0], true) == nil
	if l.gro {
		_ = sys.SetGRO(l.FDs[0], false) // asked only to know; openings come alone
	}
	for _, fd := range l.FDs {
		go l.hear(ns, fd)
	}
	return l, nil
}

// boundDatagrams is a socket bound to an address, whose port others may share.
func boundDatagrams(at netip.AddrPort) (int, error) {
	fd, err := socket.Open(at.Addr(), syscall.SOCK_DGRAM)
	if err != nil {
		return -1, err
	}
	if err = socket.Bind(fd, at); err == nil {
		// Only now: a socket that holds the port already must have been noticed.
		if err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
			return fd, nil
		}
		err = fmt.Errorf("set SO_REUSEADDR: %w", err)
	}
	syscall.Close(fd)
	return -1, err
}

func (l *datagramListener) port() int { return l.Port }
func (l *datagramListener) close()    { l.Shut() }

func (l *datagramListener) method() string {
	if l.gro {
		return "UDP_GRO"
	}
	return "recvmmsg"
}

// wakeEvery is how often a thread that hears nothing looks whether its session
// has ended.
const wakeEvery = 500 * time.Millisecond

// hear serves openings until the session ends.
func (l *datagramListener) hear(ns netns.Namespace, fd int) {
	runtime.LockOSThread() // never unlocked: streams' sockets are made here, in the namespace
	defer func() {
		<-l.Closed
		syscall.Close(fd)
	}()
	if err := ns.Enter(); err != nil {
		l.log.Warn("data port not served", "reason", err)
		return
	}
	_ = socket.Timeout(fd, syscall.SO_RCVTIMEO, wakeEvery)
	here, err := socket.Near(fd)
	if err != nil {
		return
	}
	buf := make([]byte, openingPacket+1)
	for !l.session.stopped() {
		n, from, err := syscall.Recvfrom(fd, buf, 0)
		if err == nil && from != nil {
			l.opening(here, buf[:n], sys.AddrPort(from))
		}
	}
}

// opening serves one packet that came to an address of the port: a stream of a named peer
// that knows the key gets its socket and an answer, everybody else silence.
func (l *datagramListener) opening(here netip.AddrPort, packet []byte, from netip.AddrPort) {
	if !namedPeer(from.Addr(), l.req.Peers) {
		l.refused.warn(from, "not a peer of this session")
		return
	}
	o, ok := readOpeningPacket(packet, l.req.Key)
	if !ok {
		l.refused.warn(from, "not an opening with this session's key")
		return
	}
	if o.stream < 0 || o.stream >= len(l.session.streams) {
		l.refused.warn(from, "no such stream")
		return
	}
	if err := l.admit(here, from, o); err != nil {
		l.refused.warn(from, err.Error())
	}
}

// admit gives a stream its socket and thread, and answers.
func (l *datagramListener) admit(here, from netip.AddrPort, o opening) error {
	st, counted := l.session.streams[o.stream], l.session.udp[o.stream]
	if !counted.claim() {
		return fmt.Errorf("%w: stream is open already", errOpening)
	}
	c, err := l.streamSocket(here, from)
	if err != nil {
		counted.release()
		return err
	}
	counted.watch(func() uint64 {
		m, _ := sys.Memory(c.FD) // zero where the kernel does not say
		return uint64(m.Drops)
	})
	l.session.onStop(c.shut)
	go st.takeDatagrams(c, l.req, o, counted, l.gro)
	_, err = syscall.Write(c.FD, putAnswer(l.req.Key, o.stream))
	return err
}

func (l *datagramListener) streamSocket(here, from netip.AddrPort) (*datagramSocket, error) {
	fd, err := socket.DatagramsFrom(here, from, func(fd int) error {
		err := socket.Configure(fd, here.Addr(), false, l.req.Socket)
		if err == nil && l.req.Socket.RcvBuf == 0 {
			err = sys.SetReceiveBuffer(fd, receiveBuffer(l.req.Streams))
		}
		if err == nil && l.gro {
			err = sys.SetGRO(fd, true)
		}
		if err == nil {
			err = socket.Timeout(fd, syscall.SO_RCVTIMEO, wakeEvery)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// Openings of other streams.
	socket.Strays(fd, l.req.Streams, openingPacket+1, func(packet []byte, from netip.AddrPort) { l.opening(here, packet, from) })
	return namedDatagrams(fd)
}

// How much one call takes in.
const (
	joinedSlots = 16
	singleSlots = 64
)

// takeDatagrams receives a stream on a thread of its own until the session
// ends.
func (st *stream) takeDatagrams(c *datagramSocket, req agentapi.SinkRequest, o opening, counted *datagrams, gro bool) {
	defer lockThread(&st.thread)()
	st.settle()
	defer c.close()
	defer counted.watch(nil)
	slots, size := singleSlots, o.payload
	if gro {
		slots, size = joinedSlots, 1<<16
	}
	if len(st.session.streams) > 64 { // memory counts more
		slots /= 4
	}
	// Lengths that are multiples of a page would put all headers into the
	// same lines of the cache.
	r := sys.NewDatagramReceiver(slots, max(size, openingPacket)+64|64)
	a := arrivals{tag: dataTag(req.Key), stream: o.stream}
	for !st.session.stopped() {
		n, err := r.Receive(c.FD)
		if err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
			st.fail(err)
			return
		}
		at := uint64(time.Since(st.session.opened))
		for i := range n {
			buf, segment := r.Message(i)
			for len(buf) > 0 && segment > 0 {
				one := buf[:min(segment, len(buf))]
				buf = buf[len(one):]
				if !a.take(one, at) {
					answerAgain(c, req.Key, one, o)
				}
			}
		}
		if n > 0 {
			a.count.Calls++
			counted.publish(a.count, a.bytes)
		}
	}
}

// answerAgain answers an opening said again: the first answer was lost.
func answerAgain(c *datagramSocket, key agentapi.Key, packet []byte, o opening) {
	if again, ok := readOpeningPacket(packet, key); ok && again.stream == o.stream {
		_, _ = syscall.Write(c.FD, putAnswer(key, o.stream))
	}
}
