package userfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/statefile"
)

// Write makes content the whole of the file that a user named.
//
// A file that is not there is made with the mode that the umask leaves of 0666;
// its directory must be there. A plain file is replaced in one step and keeps
// its mode and owner; where it has several names, or its owner cannot be kept,
// or its directory takes no other file, it is written in place: then a full disk
// may leave a part. A symbolic link
// is followed, also to a file that is not there yet. A pipe or a device is
// written to: a pipe that nobody reads is waited for until ctx ends.
func Write(ctx context.Context, path string, content []byte) error {
	return WriteMode(ctx, path, content, 0o666)
}

// WriteMode is Write with another mode for a file that is not there yet, of
// which the umask takes its part.
func WriteMode(ctx context.Context, path string, content []byte, mode fs.FileMode) error {
	if err := write(ctx, path, content, mode.Perm()); err != nil {
		return &WriteError{Path: path, Err: err}
	}
	return nil
}

// WriteError is a file or directory that a user named and that could not be written.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string { return "write " + e.Path + ": " + e.Err.Error() }

// Unwrap is the reason.
func (e *WriteError) Unwrap() error { return e.Err }

func write(ctx context.Context, path string, content []byte, mode fs.FileMode) error {
	real, err := follow(path)
	if err != nil {
		return err
	}
	if n, ok := descriptor(real); ok {
		return toDescriptor(n, content)
	}
	info, err := os.Lstat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fresh(real, content, mode)
	case err != nil:
		return err
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		return toStream(ctx, real, content)
	}
	if statefile.Names(info) > 1 {
		return inPlace(real, content)
	}
	err = replace(real, content, info)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) {
		return inPlace(real, content)
	}
	return err
}

// mostLinks is MAXSYMLINKS of the kernel's include/linux/namei.h.
const mostLinks = 40

// follow is the file that a chain of symbolic links ends at. It stops at an own
// descriptor, whose link may be no path.
func follow(path string) (string, error) {
	for range mostLinks {
		if _, ok := descriptor(path); ok {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil { // no link, or nothing there
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", syscall.ELOOP
}

var descriptorPath = regexp.MustCompile(`^/(?:dev|proc/self|proc/thread-self)/fd/(\d+)$`)

// descriptor is the own descriptor that a path names.
func descriptor(path string) (int, bool) {
	m := descriptorPath.FindStringSubmatch(path)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// toDescriptor writes where the descriptor stands: opened anew, a plain file
// would be written from its beginning.
func toDescriptor(n int, content []byte) error {
	own, err := syscall.Dup(n)
	if err != nil {
		return err
	}
	syscall.CloseOnExec(own)
	f := os.NewFile(uintptr(own), "descriptor "+strconv.Itoa(n))
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// fresh makes a file that is not there: all of it, or none.
func fresh(path string, content []byte, mode fs.FileMode) error {
	temp, err := beside(path, mode)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// beside makes a file of a name of its own in a file's directory. The kernel
// takes the umask from the mode.
func beside(path string, mode fs.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".linerate-%d-%d", os.Getpid(), time.Now().UnixNano()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // nobody named that name
		}
		return f, err
	}
}

// replace gives another file the old one's name, mode and owner.
func replace(path string, content []byte, old fs.FileInfo) error {
	if err := writable(path); err != nil {
		return err
	}
	temp, err := beside(path, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	now, err := temp.Stat()
	if err != nil {
		return errors.Join(err, temp.Close())
	}
	uid, gid := statefile.Owner(old)
	if u, g := statefile.Owner(now); u != uid || g != gid {
		err = temp.Chown(uid, gid)
	}
	if err == nil {
		err = temp.Chmod(old.Mode().Perm()) // after the owner: chown(2) takes bits away
	}
	if err == nil {
		_, err = temp.Write(content)
	}
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// writable asks whether the file itself may be written: a right to its
// directory is none to overwrite what its owner protects from writing.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// inPlace writes the file itself.
func inPlace(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// pipePause is between two looks whether somebody reads a pipe.
const pipePause = 20 * time.Millisecond

// toStream writes to a pipe or a device. A pipe can be opened when somebody
// reads it (fifo(7)). Once ctx has ended nobody is waited for.
func toStream(ctx context.Context, path string, content []byte) error {
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			stop := context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Now()) })
			defer stop()
			_, err = f.Write(content)
			if err != nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			return errors.Join(err, f.Close())
		}
		if !errors.Is(err, syscall.ENXIO) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pipePause):
		}
	}
}
