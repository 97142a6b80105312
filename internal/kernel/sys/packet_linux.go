package sys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// PacketSocket is a packet(7) socket of whole Ethernet frames on one link.
// It stays in the network namespace it was opened in.
type PacketSocket struct {
	fd, ifindex int
	protocol    uint16
}

// OpenPacketSocket opens a socket on the link with that index which receives
// frames of the EtherType; zero receives none, for sending only. Needs
// CAP_NET_RAW, else fs.ErrPermission.
func OpenPacketSocket(ifindex int, etherType uint16) (*PacketSocket, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("open packet socket: %w (needs CAP_NET_RAW)", fs.ErrPermission)
	}
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	s := &PacketSocket{fd: fd, ifindex: ifindex, protocol: etherType}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bigEndian16(etherType), Ifindex: ifindex}); err != nil {
		s.Close()
		return nil, fmt.Errorf("bind packet socket to link %d: %w", ifindex, err)
	}
	return s, nil
}

// bigEndian16 is v as the kernel wants it in memory: network byte order.
func bigEndian16(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

// Close closes the socket.
func (s *PacketSocket) Close() error { return unix.Close(s.fd) }

// JoinMulticast has the link receive frames for a multicast address as long as
// the socket is open (PACKET_ADD_MEMBERSHIP).
func (s *PacketSocket) JoinMulticast(mac [6]byte) error {
	m := unix.PacketMreq{Ifindex: int32(s.ifindex), Type: unix.PACKET_MR_MULTICAST, Alen: 6}
	copy(m.Address[:], mac[:])
	if err := unix.SetsockoptPacketMreq(s.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m); err != nil {
		return fmt.Errorf("join multicast group %x: %w", mac, err)
	}
	return nil
}

// Receive takes one frame that came in, its Ethernet header included, into
// buf. It returns 0 and no error when none comes within the time.
func (s *PacketSocket) Receive(buf []byte, within time.Duration) (int, error) {
	deadline := time.Now().Add(within)
	for {
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("wait for a frame: %w", err)
		case n == 0:
			return 0, nil
		}
		n, from, err := unix.Recvfrom(s.fd, buf, unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("receive frame: %w", err)
		}
		if ll, ok := from.(*unix.SockaddrLinklayer); ok && ll.Pkttype == unix.PACKET_OUTGOING {
			continue // what this host sends itself is no news
		}
		return n, nil
	}
}

// Send sends a whole frame on the link. The EtherType is the one that the
// kernel is told; the frame's own is what goes out.
func (s *PacketSocket) Send(frame []byte, etherType uint16) error {
	if len(frame) < 14 {
		return fmt.Errorf("send frame of %d bytes: %w", len(frame), unix.EINVAL)
	}
	to := &unix.SockaddrLinklayer{Protocol: bigEndian16(etherType), Ifindex: s.ifindex, Halen: 6}
	copy(to.Addr[:], frame[:6])
	for {
		err := unix.Sendto(s.fd, frame, 0, to)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("send frame: %w", err)
		}
		return nil
	}
}
