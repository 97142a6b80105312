//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sys"
)

// datagramListener hears openings, on one socket per address, all of one
// port. A stream that opens gets a socket of its own, bound to the same
// address and connected to its sender: the kernel prefers it for what that
// sender sends (compute_score in net/ipv4/udp.c), so that streams do not share
// a queue or a thread.
type datagramListener struct {
	session *session
	req     agentapi.SinkRequest
	log     *slog.Logger
	gro     bool
	fds     []int
	at      int
	closed  chan struct{}
	once    sync.Once

	mu      sync.Mutex
	refused int
}

// listenDatagrams opens the port on every address, in the namespace.
func listenDatagrams(ns netns.Namespace, s *session, req agentapi.SinkRequest, log *slog.Logger) (datagramPort, error) {
	if len(req.Bind) == 0 {
		return nil, errors.New("listen: no address to bind")
	}
	l := &datagramListener{session: s, req: req, log: log, closed: make(chan struct{})}
	if err := ns.Do(func() error { return l.bind(portsWanted(req)) }); err != nil {
		return nil, err
	}
	for _, fd := range l.fds {
		go l.hear(ns, fd)
	}
	return l, nil
}

func (l *datagramListener) bind(ports []int) error {
	var err error
	for _, port := range ports {
		l.at = port
		if err = l.bindAll(); !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
	return bindTaken(err)
}

func (l *datagramListener) bindAll() error {
	l.fds = l.fds[:0]
	for _, a := range l.req.Bind {
		fd, at, err := boundDatagrams(netip.AddrPortFrom(a, uint16(l.at)), false)
		if err != nil {
			for _, open := range l.fds {
				syscall.Close(open)
			}
			return err
		}
		l.fds = append(l.fds, fd)
		l.at = int(at.Port())
		// Only now others may share the port: a socket that holds it already
		// must have been noticed.
		if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
			for _, open := range l.fds {
				syscall.Close(open)
			}
			return fmt.Errorf("set SO_REUSEADDR: %w", err)
		}
	}
	l.gro = l.req.UDP != nil && !l.req.UDP.Single && sys.SetGRO(l.fds[0], true) == nil
	if l.gro {
		_ = sys.SetGRO(l.fds[0], false) // asked only to know; openings come alone
	}
	return nil
}

// boundDatagrams is a socket bound to an address, shared with other sockets of
// this port or not.
func boundDatagrams(at netip.AddrPort, shared bool) (int, netip.AddrPort, error) {
	fd, err := syscall.Socket(sys.Family(at.Addr()), syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, at, fmt.Errorf("make socket: %w", err)
	}
	if shared {
		err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	}
	if err == nil {
		err = sys.Bind(fd, at)
	}
	if err != nil {
		syscall.Close(fd)
		return -1, at, fmt.Errorf("bind UDP %s: %w", at, err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		syscall.Close(fd)
		return -1, at, fmt.Errorf("read own address: %w", err)
	}
	return fd, sys.AddrPort(name), nil
}

func (l *datagramListener) port() int { return l.at }

func (l *datagramListener) method() string {
	if l.gro {
		return "UDP_GRO"
	}
	return "recvmmsg"
}

// close wakes the listening threads first and tells them why after: each
// closes its own socket, whose number must not be used any more then.
func (l *datagramListener) close() {
	l.once.Do(func() {
		for _, fd := range l.fds {
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
		}
		close(l.closed)
	})
}

// wakeEvery is how often a thread that hears nothing looks whether its session
// has ended.
const wakeEvery = 500 * time.Millisecond

// hear serves openings until the session ends.
func (l *datagramListener) hear(ns netns.Namespace, fd int) {
	runtime.LockOSThread() // never unlocked: streams' sockets are made here, in the namespace
	defer func() {
		<-l.closed
		syscall.Close(fd)
	}()
	if err := ns.Enter(); err != nil {
		l.log.Warn("data port not served", "reason", err)
		return
	}
	_ = timeout(fd, syscall.SO_RCVTIMEO, wakeEvery)
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return
	}
	here, buf := sys.AddrPort(name), make([]byte, openingPacket+1)
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
		l.refuse(from, "not a peer of this session")
		return
	}
	o, ok := readOpeningPacket(packet, l.req.Key)
	if !ok {
		l.refuse(from, "not an opening with this session's key")
		return
	}
	if o.stream < 0 || o.stream >= len(l.session.streams) {
		l.refuse(from, "no such stream")
		return
	}
	if err := l.admit(here, from, o); err != nil {
		l.refuse(from, err.Error())
	}
}

// refusalsTold bounds what strangers can write into a log.
const refusalsTold = 10

func (l *datagramListener) refuse(from netip.AddrPort, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused++; l.refused <= refusalsTold {
		l.log.Warn("refused a datagram at the data port", "peer", from, "reason", reason)
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
	counted.watch(func() uint64 { return uint64(sys.SocketDrops(c.fd)) })
	l.session.onStop(c.shut)
	go st.takeDatagrams(c, l.req, o, counted, l.gro)
	_, err = syscall.Write(c.fd, putAnswer(l.req.Key, o.stream))
	return err
}

func (l *datagramListener) streamSocket(here, from netip.AddrPort) (*datagramSocket, error) {
	fd, _, err := boundDatagrams(here, true)
	if err != nil {
		return nil, err
	}
	asked := askedOf(l.req.Socket, l.req.SocketBuffer, "")
	if err = configureDatagrams(fd, here.Addr(), asked); err == nil && asked.RcvBuf == 0 {
		err = sys.SetReceiveBuffer(fd, receiveBuffer(l.req.Streams))
	}
	if err == nil && l.gro {
		err = sys.SetGRO(fd, true)
	}
	if err == nil {
		err = sys.Connect(fd, from)
	}
	if err == nil {
		err = timeout(fd, syscall.SO_RCVTIMEO, wakeEvery)
	}
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("make socket of stream from %s: %w", from, err)
	}
	l.strays(fd, here)
	return namedDatagrams(fd)
}

// strays hands on what reached a new socket before it was connected: openings
// of other streams.
func (l *datagramListener) strays(fd int, here netip.AddrPort) {
	buf := make([]byte, openingPacket+1)
	for range l.req.Streams {
		n, from, err := syscall.Recvfrom(fd, buf, syscall.MSG_DONTWAIT)
		if err != nil || from == nil {
			return
		}
		l.opening(here, buf[:n], sys.AddrPort(from))
	}
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
		n, err := r.Receive(c.fd)
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
		_, _ = syscall.Write(c.fd, putAnswer(key, o.stream))
	}
}
