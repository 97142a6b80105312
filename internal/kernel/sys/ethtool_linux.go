package sys

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EthtoolIoctl asks the kernel an ethtool question about the named link
// (SIOCETHTOOL, netdevice(7)): command is one of the structures of
// include/uapi/linux/ethtool.h, and holds the answer afterwards. The socket
// says in which network namespace.
func EthtoolIoctl(socket int, link string, command []byte) error {
	if len(link) >= unix.IFNAMSIZ || len(command) < 4 {
		return unix.EINVAL
	}
	// struct ifreq; the kernel copies no more than its own size of it.
	var request struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [24]byte
	}
	copy(request.name[:], link)
	// The kernel writes through a pointer inside a structure, which keeps
	// nothing alive or in place by itself.
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&command[0])
	request.data = unsafe.Pointer(&command[0])
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	if errno != 0 {
		return errno
	}
	return nil
}
