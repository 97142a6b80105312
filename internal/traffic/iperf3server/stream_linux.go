package iperf3server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// stream is one data connection, with a thread of its own between start and
// close. The thread alone writes bytes; the padding keeps another stream's
// off its cache line.
type stream struct {
	bytes atomic.Uint64 // what its thread has moved
	_     [56]byte

	fd        int
	here, far netip.AddrPort
	udp       bool
	sends     bool
	buffer    int // bytes of one call, receiving

	thread  atomic.Int64 // the kernel's id, zero when there is none
	spent   atomic.Int64 // processor time of a thread that has ended, ns
	halt    chan struct{}
	halted  sync.Once
	done    chan struct{} // closed when the thread has ended; nil before start
	mu      sync.Mutex
	arrived iperf3.Reception
}

// takeOver makes a stream of a connection: its socket, out of the runtime's
// poller, so that calls block their own thread.
func takeOver(c *net.TCPConn) (*stream, error) {
	defer c.Close()
	_ = c.SetDeadline(time.Time{})
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("take over connection: %w", err)
	}
	fd := -1
	cerr := raw.Control(func(old uintptr) {
		fd, err = fcntlDup(int(old))
	})
	if err = errors.Join(err, cerr); err != nil {
		return nil, fmt.Errorf("take over connection: %w", err)
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("make socket block: %w", err)
	}
	return newStream(fd, socket.AddrPort(c.LocalAddr()), socket.AddrPort(c.RemoteAddr()), false), nil
}

// fcntlDup is dup(2) with close-on-exec.
func fcntlDup(fd int) (int, error) {
	n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

func newStream(fd int, here, far netip.AddrPort, udp bool) *stream {
	return &stream{fd: fd, here: here, far: far, udp: udp, halt: make(chan struct{})}
}

// prepare sets what the client asked for. The error names iperf3's reason.
func (st *stream) prepare(p iperf3.Parameters) error {
	set := func(reason iperf3.Reason, what string, level, option, value int) error {
		if err := syscall.SetsockoptInt(st.fd, level, option, value); err != nil {
			return faulty(reason, fmt.Errorf("set %s to %d: %w", what, value, err))
		}
		return nil
	}
	var errs []error
	if p.Window > 0 {
		errs = append(errs,
			set(iperf3.ReasonWindow, "send buffer", syscall.SOL_SOCKET, syscall.SO_SNDBUF, int(p.Window)),
			set(iperf3.ReasonWindow, "receive buffer", syscall.SOL_SOCKET, syscall.SO_RCVBUF, int(p.Window)))
	} else if st.udp && !st.sends {
		errs = append(errs, sys.SetReceiveBuffer(st.fd, datagramBuffer))
	}
	if p.TOS > 0 {
		if st.far.Addr().Is4() {
			errs = append(errs, set(iperf3.ReasonSetTOS, "TOS", syscall.IPPROTO_IP, syscall.IP_TOS, int(p.TOS)))
		} else {
			errs = append(errs, set(iperf3.ReasonSetTOS, "traffic class", syscall.IPPROTO_IPV6, syscall.IPV6_TCLASS, int(p.TOS)))
		}
	}
	if perSecond := int64(p.FQRate) / 8; perSecond > 0 && perSecond < 1<<32-1 {
		const maxPacingRate = 47 // SO_MAX_PACING_RATE
		errs = append(errs, set(iperf3.ReasonPacing, "pacing", syscall.SOL_SOCKET, maxPacingRate, int(perSecond)))
	}
	if st.udp {
		return errors.Join(append(errs, st.prepareUDP(p))...)
	}
	if p.NoDelay {
		errs = append(errs, set(iperf3.ReasonInitStream, "no-delay", syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1))
	}
	if p.Congestion != "" {
		if err := sys.SetCongestion(st.fd, p.Congestion); err != nil {
			errs = append(errs, faulty(iperf3.ReasonCongestion, err))
		}
	}
	return errors.Join(errs...)
}

// start gives the stream its thread.
func (st *stream) start(j *job) {
	st.done = make(chan struct{})
	go func() {
		defer close(st.done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		id := sys.Gettid()
		st.thread.Store(int64(id))
		before, _ := sys.ThreadCPU(id) // threads are used again
		st.spent.Store(-int64(before))
		defer func() {
			after, _ := sys.ThreadCPU(id)
			st.thread.Store(0)
			st.spent.Add(int64(after))
		}()
		switch {
		case st.udp && st.sends:
			st.sendDatagrams(j)
		case st.udp:
			st.receiveDatagrams(j)
		case st.sends:
			st.send(j)
		default:
			st.receive()
		}
	}()
}

// pause has a sending thread send no more.
func (st *stream) pause() { st.halted.Do(func() { close(st.halt) }) }

func (st *stream) paused() bool {
	select {
	case <-st.halt:
		return true
	default:
		return false
	}
}

// stop wakes the thread out of whatever it waits in.
func (st *stream) stop() {
	st.pause()
	_ = syscall.Shutdown(st.fd, syscall.SHUT_RDWR)
}

// close ends the thread and the connection, with a reset: what its buffers
// hold is of no use any more and would keep memory for minutes.
func (st *stream) close() {
	st.stop()
	if st.done != nil {
		<-st.done
	}
	socket.Reset(st.fd)
}

// receive takes bytes in until the connection ends.
func (st *stream) receive() {
	in := payload.NewReader(st.fd, agentapi.ModeCopy, st.buffer, 0)
	var total uint64
	for {
		n, err := in.Receive()
		if n > 0 {
			total += uint64(n)
			st.bytes.Store(total)
		}
		if err != nil {
			return
		}
	}
}

// send sends blocks until the test has enough of them or is over.
func (st *stream) send(j *job) {
	out, err := payload.NewWriter(st.fd, j.mode, j.source, 0)
	if err != nil {
		return
	}
	began := time.Now()
	var total uint64
	for {
		for range j.burst {
			if st.paused() || !j.more() {
				return
			}
			for left := j.call; left > 0; {
				n, err := out.Send(uint64(left))
				if n > 0 {
					left -= n
					total += uint64(n)
					st.bytes.Store(total)
				}
				if err != nil {
					return
				}
			}
		}
		if !st.rest(j.pace.wait(total, time.Since(began))) {
			return
		}
	}
}

// rest waits, and says whether the stream is to go on.
func (st *stream) rest(d time.Duration) bool {
	const exactBelow = 5 * time.Millisecond // the runtime's timers are coarser
	switch {
	case d <= 0:
		return true
	case d < exactBelow:
		sys.Sleep(int64(d))
		return !st.paused()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-st.halt:
		return false
	}
}

// cpu is the processor time of the stream's thread so far.
func (st *stream) cpu() time.Duration {
	spent := st.spent.Load()
	if id := st.thread.Load(); id != 0 {
		if running, err := sys.ThreadCPU(int(id)); err == nil {
			spent += int64(running)
		}
	}
	return time.Duration(max(spent, 0))
}

// count is what the stream has carried by now.
func (st *stream) count() count {
	c := count{bytes: st.bytes.Load()}
	if st.udp {
		st.mu.Lock()
		c.arrived = st.arrived
		st.mu.Unlock()
		c.moved = c.bytes
		return c
	}
	info, err := socket.Info(st.fd)
	if err != nil {
		c.moved = c.bytes
		return c
	}
	c.retransmits, c.window = uint64(info.TotalRetrans), uint64(info.SndCwnd)*uint64(info.SndMSS)
	if st.sends {
		c.moved = info.BytesAcked
		// A call that has not returned is not in the thread's own counter.
		c.bytes = max(c.bytes, info.BytesSent-min(info.BytesRetrans, info.BytesSent))
		return c
	}
	if got := socket.Received(info); got > iperf3.CookieLength {
		c.bytes = max(c.bytes, got-iperf3.CookieLength)
	}
	c.moved = c.bytes
	c.quiet = info.SinceData
	return c
}
