package sys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

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
