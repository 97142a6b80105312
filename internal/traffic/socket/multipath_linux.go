package socket

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/unit"
)

// OpenMultipath makes an MPTCP socket for an address. Its errors say what a person can
// do; those of a kernel that has none are errors.ErrUnsupported.
func OpenMultipath(a netip.Addr) (int, error) {
	fd, err := syscall.Socket(sys.Family(a), syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, mptcp.Protocol)
	switch {
	case errors.Is(err, syscall.ENOPROTOOPT): // mptcp_init_sock
		return -1, fmt.Errorf("make MPTCP socket: net.mptcp.enabled is 0: %w: %w", errors.ErrUnsupported, err)
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EPROTONOSUPPORT):
		return -1, fmt.Errorf("make MPTCP socket: %w: %w", mptcp.ErrNoMPTCP, err)
	case err != nil:
		return -1, fmt.Errorf("make MPTCP socket: %w", err)
	}
	// A kernel that cannot say what became of a connection would let plain
	// TCP pass for MPTCP.
	if _, err := sys.MPTCPInfo(fd, make([]byte, mptcp.MaxInfo)); err != nil {
		syscall.Close(fd)
		return -1, fmt.Errorf("make MPTCP socket: this kernel does not say whether a connection fell back to TCP (Linux does since 5.16): %w: %w", errors.ErrUnsupported, err)
	}
	return fd, nil
}

// Multipath is what the kernel says of an MPTCP connection; ok is false when it is
// plain TCP now.
func Multipath(fd int) (i mptcp.Info, ok bool) {
	raw, err := sys.MPTCPInfo(fd, make([]byte, mptcp.MaxInfo))
	if err != nil {
		return i, false
	}
	i, err = mptcp.ParseInfo(raw)
	return i, err == nil && !i.Fallback
}

// CountMultipath is an MPTCP socket's buffers and subflows. TCP_INFO of it is the first
// subflow's and is not read.
func CountMultipath(fd int) agentapi.TCPCount {
	rcv, snd := Buffers(fd)
	count := agentapi.TCPCount{RcvBuf: rcv, SndBuf: snd, Unread: unit.Bytes(sys.Unread(fd)), MPTCP: &agentapi.MPTCPCount{}}
	buf := make([]byte, mptcp.MaxSubflows)
	copy(buf, mptcp.SubflowHeader())
	if raw, err := sys.MPTCPSubflows(fd, buf); err == nil {
		count.MPTCP.Subflows, _ = mptcp.ParseSubflows(raw)
	}
	return count
}
