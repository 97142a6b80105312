package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// largestDatagram is the payload that one IPv4 datagram may carry.
const largestDatagram = 65535 - 28

// ipHeaders is what IP and UDP put before a datagram's payload.
func ipHeaders(a netip.Addr) int {
	if a.Unmap().Is4() {
		return 20 + 8
	}
	return 40 + 8
}

// datagramPort is a receiving end: it serves openings, and has each stream
// that opened received, until it is closed.
type datagramPort interface {
	port() int
	method() string
	close()
}

// datagramConn is a stream's sending socket, tied to one peer.
type datagramConn interface {
	end
	// exchange sends one packet and waits for one to come back.
	exchange(hello, answer []byte, wait time.Duration) (int, error)
	// prepare readies the socket to send volleys of such datagrams.
	prepare(payload int, single bool) (*volley, error)
	// flush sends the first n datagrams of the volley, the last one of length
	// last, and returns how many went and in how many calls.
	flush(v *volley, n, last int) (sent, calls int, err error)
	method() string
	pathMTU() (int, error)
	pause(time.Duration)
	shut()
	close()
}

// namedPeer reports whether a session serves an address.
func namedPeer(from netip.Addr, peers []netip.Addr) bool {
	return slices.ContainsFunc(peers, func(p netip.Addr) bool { return p.Unmap() == from.Unmap() })
}

// receiveBuffer is asked for where the caller asks for nothing: a receiver
// must not lose what the path delivered.
func receiveBuffer(streams int) int { return min(16<<20, max(256<<20/streams, 1<<20)) }

func checkDatagrams(d agentapi.Datagrams) error {
	if d.Payload != 0 && (d.Payload < dataHeader || d.Payload > largestDatagram) {
		return fmt.Errorf("datagrams of %d bytes: want %d to %d: %w", d.Payload, dataHeader, largestDatagram, errors.ErrUnsupported)
	}
	return nil
}

// connectDatagrams is what a stream's thread does before the start: a socket,
// the opening, the answer.
func (st *stream) connectDatagrams(ns netns.Namespace, req agentapi.SourceRequest, index int, want agentapi.Stream, got *agentapi.Stream) (sender, error) {
	if s := want.Socket; s.MSS > 0 || s.NoDelay || s.Congestion != "" {
		return sender{}, fmt.Errorf("segment size, no-delay and congestion control are TCP's, not UDP's: %w", errors.ErrUnsupported)
	}
	if err := ns.Enter(); err != nil {
		return sender{}, err
	}
	c, err := dialDatagrams(want, req)
	if err != nil {
		return sender{}, err
	}
	v, err := st.openDatagrams(c, req, index)
	if err != nil {
		c.close()
		return sender{}, fmt.Errorf("stream %s: %w", want.Lane, err)
	}
	*got = opened(want, c)
	st.method = c.method()
	st.session.onStop(c.shut)
	return sender{
		func() error { return st.volleys(c, v, newPacer(req.Rate, v.payload), index) },
		func(err error) { st.fail(err); c.close() },
	}, nil
}

func (st *stream) openDatagrams(c datagramConn, req agentapi.SourceRequest, index int) (*volley, error) {
	payload := req.UDP.Payload
	if payload == 0 {
		mtu, err := c.pathMTU()
		if err != nil {
			return nil, err
		}
		payload = min(mtu-ipHeaders(c.Remote().Addr()), largestDatagram)
		if payload < dataHeader {
			return nil, fmt.Errorf("path MTU of %d bytes: no room for a datagram of %d", mtu, dataHeader)
		}
	}
	if err := knock(c, req.Key, opening{stream: index, payload: payload}); err != nil {
		return nil, err
	}
	v, err := c.prepare(payload, req.UDP.Single)
	if err != nil {
		return nil, err
	}
	v.address(dataTag(req.Key), index)
	return v, nil
}

// The waits for an answer, one after each opening.
var knocks = [...]time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond,
}

// knock says a stream's opening until it is answered, a few times at most.
// Nothing else is sent before.
func knock(c datagramConn, key agentapi.Key, o opening) error {
	hello, answer := putOpening(key, o), make([]byte, openingPacket)
	var hindered error
	for _, wait := range knocks {
		begin, say := time.Now(), hello
		for left := wait; left > 0; left = wait - time.Since(begin) {
			n, err := c.exchange(say, answer, left)
			if err != nil && !passing(err) {
				return fmt.Errorf("open stream at %s: %w", c.Remote(), socket.Barred(err))
			}
			if isAnswer(answer[:n], key, o.stream) {
				return nil
			}
			hindered = err
			if n == 0 && err == nil {
				break // nothing came in time
			}
			if err != nil {
				c.pause(left)
			}
			say = nil // what came was no answer: go on listening
		}
	}
	if hindered != nil {
		return fmt.Errorf("open stream at %s: %w", c.Remote(), socket.Barred(hindered))
	}
	return fmt.Errorf("open stream at %s: no answer to %d openings: %w", c.Remote(), len(knocks), agentapi.ErrSilent)
}

// fail notes why a stream ended by itself; nil is no reason.
func (st *stream) fail(err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err != nil && !st.session.stopped() {
		st.fault, st.ended = err, true
	}
}

// passing reports errors that a datagram's way may have for a while, such as
// when a link fails or a queue is full.
func passing(err error) bool {
	return errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH) ||
		errors.Is(err, syscall.ENETDOWN) || errors.Is(err, syscall.EHOSTDOWN)
}

// volleys sends until the session ends, or its limit is reached.
func (st *stream) volleys(c datagramConn, v *volley, pace pacer, index int) error {
	count, counted := agentapi.UDPCount{}, st.session.udp[index]
	begin, limit := time.Now(), st.session.limit
	var bytes uint64
	for !st.session.stopped() {
		now := time.Since(begin)
		n, wait := pace.due(now, v.most)
		if n == 0 {
			c.pause(min(wait, longestPause))
			continue
		}
		last := v.payload
		if limit > 0 {
			n, last = v.within(n, limit-bytes)
		}
		v.stamp(n, uint64(now), count.Datagrams)
		sent, calls, err := c.flush(v, n, last)
		count.Datagrams += uint64(sent)
		count.Calls += uint64(calls)
		bytes += uint64(sent) * uint64(v.payload)
		if sent == n {
			bytes -= uint64(v.payload - last)
		}
		counted.publish(count, bytes)
		switch {
		case err != nil && passing(err):
			c.pause(passingPause)
		case err != nil:
			return err
		}
		if limit > 0 && bytes >= limit {
			return nil
		}
	}
	return nil
}

const (
	// longestPause is how long a thread sleeps without looking whether its
	// session has ended.
	longestPause = 50 * time.Millisecond
	// passingPause is the time given to what hinders for a while.
	passingPause = 200 * time.Microsecond
)

// countDatagrams has the session count datagrams too.
func (s *session) countDatagrams() {
	for range s.streams {
		s.udp = append(s.udp, &datagrams{})
	}
}

// readDatagrams is each stream's counts and payload bytes.
func (s *session) readDatagrams() (counts []agentapi.UDPCount, bytes []uint64) {
	for _, d := range s.udp {
		c, b := d.read()
		counts, bytes = append(counts, c), append(bytes, b)
	}
	return counts, bytes
}
