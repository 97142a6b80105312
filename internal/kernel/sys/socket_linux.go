package sys

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TCPInfo returns struct tcp_info of a TCP socket as the kernel wrote it: as
// many bytes as this kernel knows, at most len(buf).
func TCPInfo(fd int, buf []byte) ([]byte, error) {
	n := uint32(len(buf))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(unsafe.Pointer(&n)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("read TCP_INFO: %w", errno)
	}
	return buf[:min(int(n), len(buf))], nil
}

// SetCongestion chooses a socket's congestion control by name.
func SetCongestion(fd int, name string) error {
	if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
		return fmt.Errorf("set congestion control %s: %w", name, err)
	}
	return nil
}

// Congestion is the name of a socket's congestion control.
func Congestion(fd int) (string, error) {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return "", fmt.Errorf("read congestion control: %w", err)
	}
	return name, nil
}

// ThreadCPU is the processor time that a thread of this process has used
// (the thread's clock of clock_gettime(2)).
func ThreadCPU(tid int) (time.Duration, error) {
	const perThread, scheduled = 4, 2 // CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^tid<<3|perThread|scheduled), &ts); err != nil {
		return 0, fmt.Errorf("read processor time of thread %d: %w", tid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// Unread is how many bytes wait in a socket's receive buffer (SIOCINQ); zero
// when the kernel does not say.
func Unread(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// Incoming says which core last processed a socket's packets
// (SO_INCOMING_CPU), and whether a card handed them over (SO_INCOMING_NAPI_ID,
// Linux 4.12): if not, the sender's own thread did, as over loopback and veth.
// Ok is false where the kernel does not say.
func Incoming(fd int) (core int, card, ok bool) {
	napi, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_INCOMING_NAPI_ID)
	if err != nil {
		return 0, false, false
	}
	core, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_INCOMING_CPU)
	return core, napi != 0, err == nil && core >= 0
}

// SocketMemory is a socket's memory in bytes (SO_MEMINFO, Linux 4.12).
type SocketMemory struct {
	// RcvBuf and SndBuf are its bounds, as the kernel counts them.
	RcvBuf, SndBuf uint32
	// Below is what it handed to the queues and drivers of this host and they
	// hold still (sk_wmem_alloc).
	Below uint32
	// Drops are packets that the socket had no room for (sk_drops).
	Drops uint32
}

// Memory reads a socket's memory.
func Memory(fd int) (SocketMemory, error) {
	// SK_MEMINFO_*, include/uapi/linux/sock_diag.h.
	const rcvBuf, below, sndBuf, drops, vars = 1, 2, 3, 8, 9
	var v [vars]uint32
	n := uint32(unsafe.Sizeof(v))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&n)), 0)
	if errno != 0 {
		return SocketMemory{}, fmt.Errorf("read SO_MEMINFO: %w", errno)
	}
	return SocketMemory{RcvBuf: v[rcvBuf], SndBuf: v[sndBuf], Below: v[below], Drops: v[drops]}, nil
}
