package states

import (
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// A stream sends a little all the time, and says for how long nothing came.
const (
	streamPort  = 5077
	streamChunk = 8 << 10
	streamPause = 4 * time.Millisecond
)

// stream is one TCP connection from the host over its bond to the switch.
type stream struct {
	fds  []int
	stop atomic.Bool
	last atomic.Int64 // when bytes last came
	gap  atomic.Int64 // the longest time between two arrivals
	done chan struct{}
}

// startStream connects and waits for the first bytes; false where no connection
// comes about, as on a bond whose far side is not up.
func (s *stand) startStream(t *testing.T, from, to netip.Addr) (*stream, bool) {
	t.Helper()
	c := &stream{done: make(chan struct{}, 2)}
	var listener, sender int
	floor.Must(t, s.far.NS.Do(func() (err error) {
		if listener, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		_ = syscall.SetsockoptInt(listener, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
		if err = syscall.Bind(listener, &syscall.SockaddrInet4{Port: streamPort, Addr: to.As4()}); err != nil {
			return err
		}
		return syscall.Listen(listener, 1)
	}))
	defer syscall.Close(listener)
	floor.Must(t, s.near.NS.Do(func() (err error) {
		sender, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		return err
	}))
	patience := syscall.Timeval{Sec: 5}
	_ = syscall.SetsockoptTimeval(sender, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &patience)
	floor.Must(t, syscall.Bind(sender, &syscall.SockaddrInet4{Addr: from.As4()}))
	if err := syscall.Connect(sender, &syscall.SockaddrInet4{Port: streamPort, Addr: to.As4()}); err != nil {
		syscall.Close(sender)
		return nil, false
	}
	receiver, _, err := syscall.Accept4(listener, syscall.SOCK_CLOEXEC)
	floor.Must(t, err)
	c.fds = []int{sender, receiver}
	go c.send(sender)
	go c.receive(receiver)
	for c.last.Load() == 0 {
		floor.Pause()
	}
	c.gap.Store(0)
	return c, true
}

func (c *stream) send(fd int) {
	defer func() { c.done <- struct{}{} }()
	chunk := make([]byte, streamChunk)
	for !c.stop.Load() {
		if _, err := syscall.Write(fd, chunk); err != nil && err != syscall.EINTR && err != syscall.EAGAIN {
			return
		}
		time.Sleep(streamPause)
	}
}

func (c *stream) receive(fd int) {
	defer func() { c.done <- struct{}{} }()
	buffer := make([]byte, 256<<10)
	for {
		n, err := syscall.Read(fd, buffer)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		now := time.Now().UnixNano()
		if last := c.last.Swap(now); last != 0 && now-last > c.gap.Load() {
			c.gap.Store(now - last)
		}
	}
}

// end waits for one more arrival, so that a gap that lasts is counted, and
// returns the longest time without bytes.
func (c *stream) end() time.Duration {
	const most = 10 * time.Second
	from := time.Now()
	for c.last.Load() < from.UnixNano() && time.Since(from) < most {
		time.Sleep(streamPause)
	}
	gap := time.Duration(c.gap.Load())
	if c.last.Load() < from.UnixNano() {
		gap = max(gap, time.Since(time.Unix(0, c.last.Load())))
	}
	c.stop.Store(true)
	_ = syscall.Shutdown(c.fds[0], syscall.SHUT_RDWR)
	_ = syscall.Shutdown(c.fds[1], syscall.SHUT_RDWR)
	<-c.done
	<-c.done
	for _, fd := range c.fds {
		syscall.Close(fd)
	}
	return gap
}
