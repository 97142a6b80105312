package sockdiag

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
)

const (
	// bufferLen is more than the kernel puts into one answer of a dump (32 KiB,
	// netlink_dump in net/netlink/af_netlink.c).
	bufferLen = 64 << 10
	// patience is how long the kernel may take for an answer.
	patience = 10 // seconds
)

// walk asks for a dump and visits its messages as they come, in one buffer that is
// used again: a list of 10,000 connections is 4 MB, which is not worth 10 MB of memory
// for each time. A message holds until visit returns. An error of the kernel's is its
// syscall.Errno.
func walk(kind uint16, request []byte, visit func(Message) error) error {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer syscall.Close(fd)
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: patience}); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	question := make([]byte, syscall.NLMSG_HDRLEN, syscall.NLMSG_HDRLEN+len(request))
	binary.NativeEndian.PutUint32(question, uint32(syscall.NLMSG_HDRLEN+len(request)))
	binary.NativeEndian.PutUint16(question[4:], kind)
	binary.NativeEndian.PutUint16(question[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	if err := syscall.Sendto(fd, append(question, request...), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	buf := make([]byte, bufferLen)
	for {
		n, _, err := syscall.Recvfrom(fd, buf, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return os.NewSyscallError("recvfrom", err)
		}
		done, err := visitAll(buf[:n], visit)
		if done || err != nil {
			return err
		}
	}
}

// visitAll visits the messages of one answer; done at the dump's end.
func visitAll(b []byte, visit func(Message) error) (done bool, err error) {
	for len(b) >= syscall.NLMSG_HDRLEN {
		size := int(binary.NativeEndian.Uint32(b))
		if size < syscall.NLMSG_HDRLEN || size > len(b) {
			return false, fmt.Errorf("answer of %d bytes, of which %d came: %w", size, len(b), ErrUnreadable)
		}
		body := b[syscall.NLMSG_HDRLEN:size:size]
		switch binary.NativeEndian.Uint16(b[4:]) {
		case syscall.NLMSG_DONE, syscall.NLMSG_ERROR:
			if len(body) >= 4 {
				if code := int32(binary.NativeEndian.Uint32(body)); code < 0 {
					return true, syscall.Errno(-code)
				}
			}
			return true, nil
		case syscall.NLMSG_NOOP:
		default:
			if len(body) < messageLen {
				return false, fmt.Errorf("message of %d bytes: %w", len(body), ErrUnreadable)
			}
			if err := visit(body); err != nil {
				return false, err
			}
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return false, nil
}
