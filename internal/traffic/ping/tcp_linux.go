package ping

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
)

// attempts are connections under way.
type attempts struct {
	epoll int
	sent  map[int]time.Time // by socket
	reply agentapi.PingReply
}

// connects times connections to the one address and port that the request
// names. A refusal is an answer too: the peer's kernel gave it. Each connection
// is reset at once, so that neither end keeps anything of it.
func connects(ctx context.Context, r agentapi.PingRequest) (agentapi.PingReply, error) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return agentapi.PingReply{}, fmt.Errorf("watch sockets: %w", err)
	}
	a := &attempts{epoll: epoll, sent: make(map[int]time.Time)}
	defer a.close()
	for i := range r.Count {
		if err := ctx.Err(); err != nil {
			return a.reply, err
		}
		begin := time.Now()
		if err := a.begin(r); err != nil {
			return a.reply, fmt.Errorf("connect to %s: %w", netip.AddrPortFrom(r.Dst, uint16(r.TCP)), err)
		}
		wait := r.Interval
		last := i == r.Count-1
		if last {
			wait = r.Timeout
		}
		if err := a.collect(ctx, begin.Add(wait), r.Timeout, last); err != nil {
			return a.reply, err
		}
	}
	return a.reply, nil
}

// begin starts one connection. An error of the path counts as lost.
func (a *attempts) begin(r agentapi.PingRequest) error {
	fd, err := syscall.Socket(sys.Family(r.Dst), syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := a.launch(fd, r); err != nil {
		syscall.Close(fd)
		return err
	}
	return nil
}

func (a *attempts) launch(fd int, r agentapi.PingRequest) error {
	if err := syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1}); err != nil {
		return err
	}
	if r.Src.IsValid() {
		if err := sys.Bind(fd, netip.AddrPortFrom(r.Src, 0)); err != nil {
			return fmt.Errorf("bind %s: %w", r.Src, err)
		}
	}
	a.reply.Sent++
	sent := time.Now()
	err := sys.Connect(fd, netip.AddrPortFrom(r.Dst, uint16(r.TCP)))
	switch {
	case err == nil || errors.Is(err, syscall.ECONNREFUSED): // loopback answers within the call
		a.answered(sent, err)
		syscall.Close(fd)
		return nil
	case errors.Is(err, syscall.EINPROGRESS):
	case transient(err) || errors.Is(err, syscall.EADDRNOTAVAIL):
		syscall.Close(fd)
		return nil
	default:
		return err
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLOUT, Fd: int32(fd)}
	if err := syscall.EpollCtl(a.epoll, syscall.EPOLL_CTL_ADD, fd, &event); err != nil {
		return err
	}
	a.sent[fd] = sent
	return nil
}

func (a *attempts) answered(sent time.Time, err error) {
	a.reply.RTTs = append(a.reply.RTTs, time.Since(sent))
	if err != nil {
		a.reply.Refused++
	}
}

// collect takes answers in until the deadline; after the last connection it
// stops as soon as none is open.
func (a *attempts) collect(ctx context.Context, until time.Time, timeout time.Duration, last bool) error {
	var events [64]syscall.EpollEvent
	for {
		a.giveUp(timeout)
		left := time.Until(until)
		if left <= 0 || ctx.Err() != nil || (last && len(a.sent) == 0) {
			return nil
		}
		// In slices, so that an interrupted run ends soon; rounded up, since
		// epoll counts in milliseconds.
		n, err := syscall.EpollWait(a.epoll, events[:], int(min(left, 200*time.Millisecond)/time.Millisecond)+1)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait for answers: %w", err)
		}
		for _, e := range events[:n] {
			a.end(int(e.Fd))
		}
	}
}

// end takes the outcome of a connection. An error other than a refusal is the
// path's, such as a router's "unreachable": nobody answered.
func (a *attempts) end(fd int) {
	sent, open := a.sent[fd]
	if !open {
		return
	}
	code, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	switch {
	case err == nil && code == 0:
		a.answered(sent, nil)
	case err == nil && syscall.Errno(code) == syscall.ECONNREFUSED:
		a.answered(sent, syscall.ECONNREFUSED)
	}
	delete(a.sent, fd)
	syscall.Close(fd)
}

// giveUp ends what nobody answered in time.
func (a *attempts) giveUp(timeout time.Duration) {
	for fd, sent := range a.sent {
		if time.Since(sent) >= timeout {
			delete(a.sent, fd)
			syscall.Close(fd)
		}
	}
}

func (a *attempts) close() {
	for fd := range a.sent {
		syscall.Close(fd)
	}
	syscall.Close(a.epoll)
}
