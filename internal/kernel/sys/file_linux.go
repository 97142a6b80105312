package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Exchange lets two files of one file system take each other's name, at once
// (renameat2(2) with RENAME_EXCHANGE). A file system that cannot is
// errors.ErrUnsupported.
func Exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return fmt.Errorf("exchange %s and %s: %w", a, b, err)
	}
	return nil
}

// CopyAttributes gives the file to the extended attributes of another (xattr(7):
// access lists, SELinux's label). What cannot be read or set is in the error;
// a file system without any is none.
func CopyAttributes(from, to string) error {
	size, err := unix.Listxattr(from, nil)
	if errors.Is(err, unix.ENOTSUP) || err == nil && size == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list attributes of %s: %w", from, err)
	}
	names := make([]byte, size)
	if size, err = unix.Listxattr(from, names); err != nil {
		return fmt.Errorf("list attributes of %s: %w", from, err)
	}
	var problems []error
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		if err := copyAttribute(from, to, name); err != nil {
			problems = append(problems, fmt.Errorf("copy attribute %s of %s: %w", name, from, err))
		}
	}
	return errors.Join(problems...)
}

func copyAttribute(from, to, name string) error {
	value := make([]byte, 64<<10) // XATTR_SIZE_MAX
	n, err := unix.Getxattr(from, name, value)
	if err != nil {
		return err
	}
	return unix.Setxattr(to, name, value[:n], 0)
}

// Lock waits for a file's lock (flock(2)), which goes with its last descriptor.
func Lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		return nil
	}
}

// TryLock takes a file's lock (flock(2)), which goes with its last descriptor;
// false when somebody has it.
func TryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return true, nil
}

// ReadAtOnce reads a file that the kernel makes up and hands out whole in one
// read(2), such as a sysctl, into buf: an open, a read and a close, where
// os.ReadFile makes twice as many calls. A text that fills buf may go on:
// ErrFilled. Other errors are the system's, fs.ErrNotExist and
// fs.ErrPermission among them.
func ReadAtOnce(path string, buf []byte) (int, error) {
	var fd, n int
	err := again(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	err = again(func() (err error) {
		n, err = unix.Read(fd, buf)
		return err
	})
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: path, Err: err}
	case n == len(buf):
		return n, ErrFilled
	}
	return n, nil
}

// ErrFilled is a buffer that was filled, so that there may be more.
var ErrFilled = errors.New("the buffer is full")

// ReadLinkAt reads what a link in an open directory leads to into buf, and returns
// how long it is; what does not fit is cut off.
func ReadLinkAt(dir *os.File, name string, buf []byte) (n int, err error) {
	err = again(func() (err error) {
		n, err = unix.Readlinkat(int(dir.Fd()), name, buf)
		return err
	})
	return n, err
}

// again calls until it is not a signal that came between.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Writable reports whether the process may write to a file or a directory, by
// its effective user and capabilities.
func Writable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
