package iperf3server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// Listener is an open port. Serve must be called once.
type Listener struct {
	cfg        Config
	log        *slog.Logger
	addrs      []netip.AddrPort
	tcp        []*net.TCPListener
	acceptor   *acceptor
	accessList *accessList
	gate       *socket.Gate
	slots      *slots
	limitedLog *limitedLog
	source     *payload.Source

	accepted atomic.Uint64 // connections, in the order of the kernel's queue
	served   chan struct{} // closed after the first test, with OneOff
	once     sync.Once
	working  sync.WaitGroup

	mu       sync.Mutex
	ended    bool
	sessions map[iperf3.Cookie]*session
}

// Listen opens the port, TCP and UDP, on every address named. An address or
// port in use is syscall.EADDRINUSE.
func Listen(cfg Config) (*Listener, error) {
	if cfg.MaxClients == 0 {
		cfg.MaxClients = DefaultClients
	}
	if cfg.Idle == 0 {
		cfg.Idle = DefaultIdle
	}
	if cfg.cookie == 0 {
		cfg.cookie = cookieTime
	}
	if cfg.answer == 0 {
		cfg.answer = answerTime
	}
	strangers, streams := openFiles(sys.OpenFiles())
	l := &Listener{
		cfg: cfg, log: cfg.Log,
		accessList: &accessList{allow: cfg.Allow, token: len(cfg.Token) > 0, networks: ownNetworks},
		gate:       socket.NewGate(strangers, min(strangersOfOne, strangers/2)), slots: newSlots(cfg.MaxClients, streams),
		limitedLog: &limitedLog{tell: cfg.Refused}, source: payload.NewSource(), served: make(chan struct{}), sessions: make(map[iperf3.Cookie]*session),
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if err := l.open(); err != nil {
		l.close()
		l.source.Release()
		return nil, err
	}
	return l, nil
}

// openFiles is how many strangers and streams fit a limit of open files; zero is not
// known. A test's control connection is one more, and the program itself needs some.
func openFiles(files uint64) (strangers, streams int) {
	const own = 64
	if files >= maxStrangers+MaxClients+maxStreamsInAll+own {
		return maxStrangers, maxStreamsInAll
	}
	room := int(max(cmp.Or(files, 1024), 4*own)) - own
	return room / 4, room / 2
}

// ownNetworks are those of the interfaces of the calling thread's namespace.
func ownNetworks() ([]netip.Prefix, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	var out []netip.Prefix
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p)
		}
	}
	return out, nil
}

// open binds TCP and UDP alike. A port of the kernel's choice may be free for
// one and not for the other, so it is tried again.
func (l *Listener) open() error {
	const tries = 10
	var err error
	for range tries {
		if err = l.bind(); err == nil || l.cfg.Port != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
		l.close()
	}
	return err
}

func (l *Listener) bind() error {
	bind := l.cfg.Bind
	if len(bind) == 0 {
		bind = []netip.Addr{{}}
	}
	port := l.cfg.Port
	l.tcp, l.addrs, l.acceptor = nil, nil, &acceptor{listener: l}
	for _, a := range bind {
		host, version := "", "" // every address
		if a.IsValid() {
			host = a.String()
		}
		if a.Is4() {
			version = "4" // or 0.0.0.0 would be IPv6's, too
		}
		at := net.JoinHostPort(host, strconv.Itoa(port))
		tcp, err := new(net.ListenConfig).Listen(context.Background(), "tcp"+version, at)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		l.tcp = append(l.tcp, tcp.(*net.TCPListener))
		name := socket.AddrPort(tcp.Addr())
		port = int(name.Port())
		l.addrs = append(l.addrs, name)
		if err := l.acceptor.open("udp"+version, net.JoinHostPort(host, strconv.Itoa(port))); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
	}
	return nil
}

// Addrs is where it listens; an unspecified address is all of them.
func (l *Listener) Addrs() []netip.AddrPort { return l.addrs }

func (l *Listener) close() {
	for _, t := range l.tcp {
		_ = t.Close()
	}
	if l.acceptor != nil {
		l.acceptor.close()
	}
}

// Serve takes clients until the context ends, or with OneOff until one was
// served; then it tells the others that it goes away, and returns when all
// tests have ended, which takes them farewellTime at most where a client does
// not answer. It returns nil in both cases.
func (l *Listener) Serve(ctx context.Context) error {
	for _, t := range l.tcp {
		l.working.Go(func() { l.accept(t) })
	}
	l.working.Go(l.acceptor.listen)
	select {
	case <-ctx.Done():
	case <-l.served:
	}
	l.mu.Lock()
	l.ended = true
	sessions := make([]*session, 0, len(l.sessions))
	for _, s := range l.sessions {
		sessions = append(sessions, s)
	}
	l.mu.Unlock()
	l.close()
	for _, s := range sessions {
		s.end(errServerEnds)
	}
	l.gate.Shut()
	late := time.AfterFunc(farewellTime, func() {
		for _, s := range sessions {
			_ = s.conn.Close()
		}
	})
	defer late.Stop()
	l.working.Wait()
	l.limitedLog.finish()
	l.source.Release()
	return nil
}

// farewellTime is how long a client may take to hear that the server goes, or
// to end a test that is over.
const farewellTime = 2 * time.Second

// accept numbers connections in the order in which they came: iperf3 tells a
// test's streams apart by it. Out of files it waits for some.
func (l *Listener) accept(t *net.TCPListener) {
	for {
		c, err := t.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			l.log.Warn("cannot accept a connection", "reason", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		from := socket.AddrPort(c.RemoteAddr())
		number := l.accepted.Add(1)
		wait := l.gate.Enter(socket.Origin(from.Addr()), func() {
			_ = c.SetLinger(0)
			_ = c.Close()
		})
		l.working.Go(func() { l.admit(c, from, number, wait) })
	}
}

// admit hears a connection's cookie and takes it where it belongs.
func (l *Listener) admit(c *net.TCPConn, from netip.AddrPort, number uint64, wait *socket.Stranger) {
	var said [iperf3.CookieLength]byte
	_ = c.SetDeadline(time.Now().Add(l.cfg.cookie))
	err := readFull(c, said[:])
	l.gate.Leave(wait)
	if err != nil {
		_ = c.SetLinger(0)
		_ = c.Close()
		l.log.Debug("a connection said nothing", "peer", from, "reason", err)
		return
	}
	if !l.accessList.serves(from.Addr()) {
		l.turnAway(c, from, ErrNotAllowed)
		return
	}
	cookie, err := iperf3.ParseCookie(said[:])
	if err != nil {
		_ = c.SetLinger(0)
		_ = c.Close()
		l.limitedLog.refused(from.Addr(), ErrMalformed)
		return
	}
	if s := l.session(cookie); s != nil {
		s.offer(c, number)
		return
	}
	if !l.slots.take(from.Addr()) {
		l.turnAway(c, from, ErrFull)
		return
	}
	defer l.slots.give(from.Addr())
	l.serve(c, from, cookie)
}

// turnAway says so in the one word that the protocol has for it. The cookie
// has been read, or the word would be lost in a reset.
func (l *Listener) turnAway(c *net.TCPConn, from netip.AddrPort, reason error) {
	_, _ = c.Write([]byte{iperf3.AccessDenied.Byte()})
	_ = c.Close()
	l.limitedLog.refused(from.Addr(), reason)
}

func (l *Listener) session(c iperf3.Cookie) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sessions[c]
}

// serve is one test from its control connection's cookie to its end.
func (l *Listener) serve(c *net.TCPConn, from netip.AddrPort, cookie iperf3.Cookie) {
	s := newSession(l, c, from, cookie)
	l.mu.Lock()
	_, taken := l.sessions[cookie]
	if !taken && !l.ended {
		l.sessions[cookie] = s
	}
	ended := l.ended
	l.mu.Unlock()
	if taken || ended {
		_ = c.Close()
		return
	}
	began := s.run()
	l.mu.Lock()
	delete(l.sessions, cookie)
	l.mu.Unlock()
	if !began {
		if s.failed != nil && !errors.Is(s.failed, errServerEnds) {
			l.limitedLog.refused(from.Addr(), s.failed)
		}
		return
	}
	if l.cfg.Done != nil {
		l.cfg.Done(s.report())
	}
	if l.cfg.OneOff {
		l.once.Do(func() { close(l.served) })
	}
}
