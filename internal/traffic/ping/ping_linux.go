package ping

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// echoSocket is an ICMP socket in the calling thread's namespace.
type echoSocket struct {
	fd  int
	v4  bool
	raw bool // IPv4 answers come with their IP header, and everybody's come
	id  uint16
}

// Run sends the series and returns the round trips that came back in time. It
// works in the calling thread's namespace. Echoes need CAP_NET_RAW, or the
// group in net.ipv4.ping_group_range (for IPv6 too), else fs.ErrPermission;
// TCP needs nothing. Lost replies are no error.
func Run(ctx context.Context, r agentapi.PingRequest) (agentapi.PingReply, error) {
	r, err := fill(r)
	if err != nil {
		return agentapi.PingReply{}, err
	}
	if r.TCP != 0 {
		return connects(ctx, r)
	}
	s, err := openSocket(r)
	if err != nil {
		return agentapi.PingReply{}, err
	}
	defer syscall.Close(s.fd)
	return s.series(ctx, r)
}

func openSocket(r agentapi.PingRequest) (*echoSocket, error) {
	s := &echoSocket{v4: r.Dst.Is4(), raw: true, id: uint16(rand.Uint32())}
	domain, protocol := sys.Family(r.Dst), syscall.IPPROTO_ICMPV6
	if s.v4 {
		protocol = syscall.IPPROTO_ICMP
	}
	var err error
	s.fd, err = syscall.Socket(domain, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, protocol)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		s.raw = false
		s.fd, err = syscall.Socket(domain, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, protocol)
	}
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return nil, fmt.Errorf("open ICMP socket: %w (it takes CAP_NET_RAW, or a group in net.ipv4.ping_group_range)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open ICMP socket: %w", err)
	}
	if err := s.prepare(r); err != nil {
		syscall.Close(s.fd)
		return nil, err
	}
	return s, nil
}

// Path MTU discovery by probe: don't-fragment set, the cached path MTU
// ignored (ip(7), IP_PMTUDISC_PROBE and its IPv6 twin).
const (
	ipMTUDiscover   = 10
	ipv6MTUDiscover = 23
	discoverProbe   = 3
)

func (s *echoSocket) prepare(r agentapi.PingRequest) error {
	// The kernel's own time of arrival: this thread may be woken late.
	if err := syscall.SetsockoptInt(s.fd, syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1); err != nil {
		return fmt.Errorf("ask for time stamps: %w", err)
	}
	if r.Src.IsValid() {
		if err := sys.Bind(s.fd, netip.AddrPortFrom(r.Src, 0)); err != nil {
			return fmt.Errorf("bind %s: %w", r.Src, err)
		}
	}
	if err := sys.Connect(s.fd, netip.AddrPortFrom(r.Dst, 0)); err != nil {
		return fmt.Errorf("reach %s: %w", r.Dst, err)
	}
	if !r.DontFragment {
		return nil
	}
	level, option := syscall.IPPROTO_IPV6, ipv6MTUDiscover
	if s.v4 {
		level, option = syscall.IPPROTO_IP, ipMTUDiscover
	}
	if err := syscall.SetsockoptInt(s.fd, level, option, discoverProbe); err != nil {
		return fmt.Errorf("set don't-fragment: %w", err)
	}
	return nil
}

func (s *echoSocket) series(ctx context.Context, r agentapi.PingRequest) (agentapi.PingReply, error) {
	var reply agentapi.PingReply
	sent := make([]time.Time, r.Count)
	size := r.Packet - headers(s.v4) + echoHeader
	for seq := range r.Count {
		if err := ctx.Err(); err != nil {
			return reply, err
		}
		sent[seq] = time.Now()
		_, err := syscall.Write(s.fd, echo(s.v4, s.id, uint16(seq), size))
		if errors.Is(err, syscall.EMSGSIZE) {
			reply.TooBig, _ = sys.PathMTU(s.fd, !s.v4)
			return reply, nil
		}
		if err != nil && !transient(err) {
			return reply, fmt.Errorf("send echo to %s: %w", r.Dst, err)
		}
		reply.Sent++
		wait := r.Interval
		if seq == r.Count-1 {
			wait = r.Timeout
		}
		if err := s.collect(ctx, sent[seq].Add(wait), sent, &reply); err != nil {
			return reply, err
		}
	}
	return reply, nil
}

// transient errors are a path's trouble, not ours: the echo counts as lost.
func transient(err error) bool {
	for _, e := range [...]error{syscall.ENOBUFS, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNREFUSED, syscall.EAGAIN, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// collect takes replies in until the deadline; after the last echo it stops
// as soon as every one is answered.
func (s *echoSocket) collect(ctx context.Context, until time.Time, sent []time.Time, reply *agentapi.PingReply) error {
	buf := make([]byte, maxPacket)
	var stamp [128]byte
	last := reply.Sent == len(sent)
	for {
		left := time.Until(until)
		if left <= 0 || ctx.Err() != nil || (last && len(reply.RTTs) == reply.Sent) {
			return nil
		}
		// In slices, so that an interrupted run ends soon.
		if err := socket.Timeout(s.fd, syscall.SO_RCVTIMEO, max(min(left, 200*time.Millisecond), time.Millisecond)); err != nil {
			return err
		}
		n, control, _, _, err := syscall.Recvmsg(s.fd, buf, stamp[:], 0)
		if err != nil {
			if transient(err) || errors.Is(err, syscall.EMSGSIZE) {
				continue
			}
			return fmt.Errorf("receive echo: %w", err)
		}
		now := time.Now()
		id, seq, ok := parseReply(buf[:n], s.v4, s.raw)
		if !ok || (s.raw && id != s.id) || int(seq) >= len(sent) || sent[seq].IsZero() {
			continue
		}
		reply.RTTs = append(reply.RTTs, roundTrip(sent[seq], now, arrival(stamp[:control])))
		sent[seq] = time.Time{} // a duplicate counts once
	}
}
