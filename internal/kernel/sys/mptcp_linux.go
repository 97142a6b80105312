package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Options of level SOL_MPTCP (include/uapi/linux/mptcp.h, since Linux 5.16).
const (
	solMPTCP          = 284
	mptcpInfo         = 1
	mptcpSubflowAddrs = 3
)

// MPTCPInfo returns struct mptcp_info of a socket: as many bytes as this
// kernel knows, at most len(buf). A plain TCP socket, a connection that fell
// back to TCP, and a kernel before 5.16 give EOPNOTSUPP or ENOPROTOOPT.
func MPTCPInfo(fd int, buf []byte) ([]byte, error) { return mptcpOption(fd, mptcpInfo, buf) }

// MPTCPSubflows returns the addresses of an MPTCP socket's subflows, behind
// the header that buf begins with.
func MPTCPSubflows(fd int, buf []byte) ([]byte, error) {
	return mptcpOption(fd, mptcpSubflowAddrs, buf)
}

func mptcpOption(fd, option int, buf []byte) ([]byte, error) {
	n := uint32(len(buf))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), solMPTCP, uintptr(option),
		uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(unsafe.Pointer(&n)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("read MPTCP option %d: %w", option, errno)
	}
	return buf[:min(int(n), len(buf))], nil
}
