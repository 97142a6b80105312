//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// datagramSocket is a UDP socket that is connected to one peer: it hears
// nobody else. Closing waits for nobody; shut ends what blocks on it.
type datagramSocket struct {
	socket.Raw
	sender *sys.DatagramSender
	how    string
	hello  []byte // the opening that was sent

	mu     sync.Mutex
	closed bool
}

func (c *datagramSocket) method() string { return c.how }

func (c *datagramSocket) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		_ = syscall.Shutdown(c.FD, syscall.SHUT_RDWR)
	}
}

func (c *datagramSocket) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		_ = syscall.Close(c.FD)
	}
}

func (c *datagramSocket) pathMTU() (int, error) { return sys.PathMTU(c.FD, c.Remote().Addr().Is6()) }

func (c *datagramSocket) pause(d time.Duration) { sys.Sleep(int64(d)) }

// dialDatagrams makes a stream's socket in the network namespace of the
// calling thread.
func dialDatagrams(want agentapi.Stream, req agentapi.SourceRequest) (datagramConn, error) {
	far := netip.AddrPortFrom(want.Dst, want.Dport)
	fd, err := socket.Open(want.Dst, syscall.SOCK_DGRAM)
	if err != nil {
		return nil, err
	}
	// Datagrams that were not told a size are made to fit; others may be cut.
	if err = socket.Configure(fd, want.Dst, false, want.Socket); err == nil {
		err = sys.SetDontFragment(fd, want.Dst.Is6(), req.UDP.Payload == 0)
	}
	if err == nil {
		err = socket.Bind(fd, netip.AddrPortFrom(want.Src, want.Sport))
	}
	if err == nil {
		err = sys.Connect(fd, far)
	}
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("connect to %s: %w", far, err)
	}
	sys.SetTimerSlack(1)
	return namedDatagrams(fd)
}

func namedDatagrams(fd int) (*datagramSocket, error) {
	raw, err := socket.Named(fd)
	if err != nil {
		return nil, err
	}
	return &datagramSocket{Raw: raw}, nil
}

func (c *datagramSocket) exchange(hello, answer []byte, wait time.Duration) (int, error) {
	if len(hello) > 0 {
		c.hello = hello
		if _, err := syscall.Write(c.FD, hello); err != nil {
			return 0, err
		}
	}
	if err := socket.Timeout(c.FD, syscall.SO_RCVTIMEO, max(wait, time.Millisecond)); err != nil {
		return 0, err
	}
	n, _, err := syscall.Recvfrom(c.FD, answer, 0)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
		return 0, nil
	}
	return max(n, 0), err
}

// How much one call hands over. The kernel cuts at most 64 datagrams from one
// message (UDP_MAX_SEGMENTS; 128 since Linux 6.9), of at most what one IP
// packet holds.
const (
	singlesPerCall = 64
	mostSegments   = 64
	joinedPerCall  = 4
)

func (c *datagramSocket) prepare(payload int, single bool) (*volley, error) {
	each, messages := 1, singlesPerCall
	c.how = "sendmmsg"
	if n := min(mostSegments, (largestDatagram-20)/payload); !single && n > 1 && c.segments(payload) {
		each, messages, c.how = n, joinedPerCall, "UDP_SEGMENT"
	}
	v := newVolley(payload, each, messages)
	c.sender = sys.NewDatagramSender(messages)
	for k := range messages {
		c.sender.Set(k, v.message(k, v.most, payload))
	}
	return v, nil
}

// segments has the kernel cut messages, if it can on this path. It says
// whether only of a message that needs it (udp_send_skb: no checksums by the
// device, IPsec), so the opening is sent once more, twice in one message.
func (c *datagramSocket) segments(payload int) bool {
	mtu, err := c.pathMTU()
	if err != nil || payload+ipHeaders(c.Remote().Addr()) > mtu || len(c.hello) == 0 {
		return false
	}
	if err := sys.SetSegment(c.FD, len(c.hello)); err != nil {
		return false
	}
	if _, err := syscall.Write(c.FD, append(slices.Clone(c.hello), c.hello...)); err == nil {
		err = sys.SetSegment(c.FD, payload)
		if err == nil {
			return true
		}
	}
	_ = sys.SetSegment(c.FD, 0)
	return false
}

func (c *datagramSocket) flush(v *volley, n, last int) (sent, calls int, err error) {
	messages := v.messages(n)
	cut := n%v.each != 0 || last != v.payload // the last message is shorter
	if cut {
		c.sender.Set(messages-1, v.message(messages-1, n, last))
	}
	done := 0
	for done < messages && err == nil {
		var took int
		took, err = c.sender.Send(c.FD, done, messages)
		done += took
		calls++
	}
	if cut {
		c.sender.Set(messages-1, v.message(messages-1, v.most, v.payload))
	}
	return min(done*v.each, n), calls, err
}
