package sys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SetSegmentSize bounds a TCP socket's segments (TCP_MAXSEG), before it is
// connected or listens.
func SetSegmentSize(fd, bytes int) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, bytes); err != nil {
		return fmt.Errorf("set maximum segment size %d: %w", bytes, err)
	}
	return nil
}

// SegmentSize is a TCP socket's segment size: of a connected one what a
// segment carries, options taken off.
func SegmentSize(fd int) (int, error) {
	return unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG)
}

// SetNoDelay switches Nagle's algorithm off.
func SetNoDelay(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("set TCP_NODELAY: %w", err)
	}
	return nil
}

// NoDelay reports whether Nagle's algorithm is off.
func NoDelay(fd int) bool {
	v, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY)
	return err == nil && v != 0
}

// SetPacing bounds a socket's rate in bytes a second (SO_MAX_PACING_RATE);
// above 4 GB/s since Linux 4.20.
func SetPacing(fd int, bytes uint64) error {
	var err error
	if bytes < math.MaxUint32 {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, int(bytes))
	} else {
		var v [8]byte
		binary.NativeEndian.PutUint64(v[:], bytes)
		err = unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, string(v[:]))
	}
	if err != nil {
		return fmt.Errorf("set pacing rate: %w", err)
	}
	return nil
}

// Pacing is a socket's largest rate in bytes a second; zero is no bound.
func Pacing(fd int) uint64 {
	var v uint64
	n := uint32(8)
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE,
		uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&n)), 0)
	if errno != 0 {
		return 0
	}
	if n == 4 { // Linux before 4.20
		var b [8]byte
		binary.NativeEndian.PutUint64(b[:], v)
		short := binary.NativeEndian.Uint32(b[:4])
		if short == math.MaxUint32 {
			return 0
		}
		return uint64(short)
	}
	if v == math.MaxUint64 {
		return 0
	}
	return v
}

// SetDSCP marks a socket's packets with a code point (IP_TOS, IPV6_TCLASS).
func SetDSCP(fd int, v6 bool, codePoint int) error {
	level, option := trafficClass(v6)
	if err := unix.SetsockoptInt(fd, level, option, codePoint<<2); err != nil {
		return fmt.Errorf("set DSCP %d: %w", codePoint, err)
	}
	return nil
}

// DSCP is the code point of a socket's packets.
func DSCP(fd int, v6 bool) int {
	level, option := trafficClass(v6)
	v, err := unix.GetsockoptInt(fd, level, option)
	if err != nil {
		return 0
	}
	return v >> 2
}

func trafficClass(v6 bool) (level, option int) {
	if v6 {
		return unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	}
	return unix.IPPROTO_IP, unix.IP_TOS
}

// SetDevice ties a socket to a link (SO_BINDTODEVICE). Before Linux 5.7 it
// needs CAP_NET_RAW.
func SetDevice(fd int, link string) error {
	err := unix.BindToDevice(fd, link)
	if errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("bind to device %s: no such link: %w", link, err)
	}
	if err != nil {
		return fmt.Errorf("bind to device %s: %w", link, err)
	}
	return nil
}

// Device is the link that a socket is tied to; "" is none.
func Device(fd int) string {
	name, err := unix.GetsockoptString(fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE)
	if err != nil {
		return ""
	}
	return name
}

// SetReceiveLowWater has a TCP socket wake its reader only when so many bytes
// wait (SO_RCVLOWAT).
func SetReceiveLowWater(fd, bytes int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes); err != nil {
		return fmt.Errorf("set SO_RCVLOWAT: %w", err)
	}
	return nil
}
