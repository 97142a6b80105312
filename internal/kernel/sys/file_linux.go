package sys

import (
	"errors"
	"fmt"
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

// Writable reports whether the process may write to a file or a directory, by
// its effective user and capabilities.
func Writable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
