package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Vector is one buffer many times over: a call on it moves far more than the
// buffer holds, and the buffer stays in the processor's cache. It goes on in
// the buffer where the last call ended.
type Vector struct {
	mem []byte
	iov []unix.Iovec
	at  int
	msg unix.Msghdr
}

// NewVector lays a buffer so often over that a call moves up to length bytes,
// and begins at the place at in it.
func NewVector(mem []byte, length, at int) *Vector {
	const most = 1024 // UIO_MAXIOV
	return &Vector{mem: mem, at: at % len(mem), iov: make([]unix.Iovec, min(max(length/len(mem), 1), most))}
}

// lay makes the call's pieces, no more than most bytes, and returns how many.
func (v *Vector) lay(most uint64) int {
	n, at := 0, v.at
	for ; n < len(v.iov) && most > 0; n++ {
		piece := min(uint64(len(v.mem)-at), most)
		v.iov[n].Base = &v.mem[at]
		v.iov[n].SetLen(int(piece))
		most -= piece
		at = 0
	}
	return n
}

func (v *Vector) moved(n uintptr) int {
	v.at = (v.at + int(n)) % len(v.mem)
	return int(n)
}

// Write is writev(2) of at most most bytes; it is taken up again after a
// signal.
func (v *Vector) Write(fd int, most uint64) (int, error) {
	pieces := v.lay(most)
	for {
		n, _, errno := unix.Syscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&v.iov[0])), uintptr(pieces))
		if errno == 0 {
			return v.moved(n), nil
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}

// What Receive and Send take as flags.
const (
	WaitAll  = unix.MSG_WAITALL
	ZeroCopy = unix.MSG_ZEROCOPY
)

// Receive is recvmsg(2) into the whole vector; zero is the end of the stream.
func (v *Vector) Receive(fd, flags int) (int, error) {
	pieces := v.lay(^uint64(0))
	v.message(pieces)
	for {
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), uintptr(flags))
		if errno == 0 {
			return v.moved(n), nil
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}

// Drop takes up to len(room) bytes off a TCP socket and has the kernel drop
// them uncopied (MSG_TRUNC, tcp(7)); zero is the end of the stream. A protocol
// that knows no such thing copies them into the room. It asks so many times
// without waiting before it sleeps.
func Drop(fd int, room []byte, tries int) (int, error) {
	for range tries {
		// It returns at once: the runtime need not know.
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(room))), uintptr(len(room)),
			unix.MSG_TRUNC|unix.MSG_DONTWAIT, 0, 0)
		if errno == 0 {
			return int(n), nil
		}
		if errno != unix.EAGAIN && errno != unix.EINTR {
			return 0, errno
		}
	}
	for {
		n, _, errno := unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(room))), uintptr(len(room)),
			unix.MSG_TRUNC, 0, 0)
		if errno == 0 {
			return int(n), nil
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}

// Send is sendmsg(2) of at most most bytes.
func (v *Vector) Send(fd int, most uint64, flags int) (int, error) {
	v.message(v.lay(most))
	for {
		n, _, errno := unix.Syscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), uintptr(flags))
		if errno == 0 {
			return v.moved(n), nil
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}

func (v *Vector) message(pieces int) {
	v.msg = unix.Msghdr{Iov: &v.iov[0]}
	v.msg.SetIovlen(pieces)
}

// PageFile is a file without a name that holds content in the kernel's page
// cache: of the first of these directories whose file system has such files
// (O_TMPFILE, open(2), Linux 3.11), else in memory (memfd_create(2), Linux
// 3.17). A disk's file system keeps its pages in larger pieces than memory's
// does, and sending them costs a tenth to a quarter less (ext4, 6.18). Close its
// descriptor after use; nothing is left.
func PageFile(name string, content []byte, dirs ...string) (int, error) {
	for _, dir := range dirs {
		fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err != nil {
			continue
		}
		if fill(fd, content) == nil {
			return fd, nil
		}
		unix.Close(fd) // such as a full disk
	}
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make file in memory: %w", err)
	}
	if err := fill(fd, content); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("fill file in memory: %w", err)
	}
	return fd, nil
}

func fill(fd int, content []byte) error {
	for at := 0; at < len(content); {
		n, err := unix.Pwrite(fd, content[at:], int64(at))
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// SendFile is sendfile(2) of length bytes of a file from the place at on.
func SendFile(to, from int, at int64, length int) (int, error) {
	for {
		n, err := unix.Sendfile(to, from, &at, length)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// SetZeroCopy has a socket take MSG_ZEROCOPY (Linux 4.14 for TCP).
func SetZeroCopy(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1); err != nil {
		return fmt.Errorf("set SO_ZEROCOPY: %w", err)
	}
	return nil
}

// Completions takes what the kernel says of sends with MSG_ZEROCOPY off a
// socket's error queue: whether there was anything, and whether it copied one
// of them after all (SO_EE_CODE_ZEROCOPY_COPIED). It does not wait.
func Completions(fd int) (some, copied bool) {
	const sockExtendedErr = 16 // struct sock_extended_err
	control := make([]byte, 128)
	for {
		_, n, _, _, err := unix.Recvmsg(fd, nil, control, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if err != nil {
			return some, copied
		}
		messages, err := unix.ParseSocketControlMessage(control[:n])
		if err != nil {
			return some, copied
		}
		for _, m := range messages {
			if len(m.Data) < sockExtendedErr {
				continue
			}
			e := (*unix.SockExtendedErr)(unsafe.Pointer(&m.Data[0]))
			if e.Origin == unix.SO_EE_ORIGIN_ZEROCOPY {
				some = true
				copied = copied || e.Code&unix.SO_EE_CODE_ZEROCOPY_COPIED != 0
			}
		}
	}
}

// AwaitError waits until a socket has something on its error queue, or was
// shut, at most the milliseconds given.
func AwaitError(fd, milliseconds int) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd)}}, milliseconds)
}
