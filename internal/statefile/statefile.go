// Package statefile opens the files in which the program keeps state: journals,
// locks, credentials, a server's keys. What is in them is done or believed, as
// root most of the time, so such a file is a plain file of root's or of who runs
// this, and of nobody else's making.
package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrUntrusted is a file or directory that somebody else may have made or may
// write.
var ErrUntrusted = errors.New("not believed: others than root and its owner may write it")

// UntrustedError says which one, what is wrong with it, and what to do.
type UntrustedError struct {
	Path string
	Why  string // "it is a symbolic link"
	Do   string // "remove it"
}

func (e *UntrustedError) Error() string {
	return e.Path + ": not believed: " + e.Why + "; " + e.Do
}

// Is makes a UntrustedError an ErrUntrusted.
func (e *UntrustedError) Is(target error) bool { return target == ErrUntrusted }

// Open is os.OpenFile of a state file. The last part of the path is never
// followed as a link, and what was opened is looked at before anything is read,
// written or truncated: what is no plain file, has a second name, is not root's
// or the running user's, or may be written by others is a UntrustedError.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return open(path, flag, perm, Check)
}

// OpenPlain opens a file of anybody's for reading: a plain file under its own
// name, without following a link or waiting for a pipe. Anything else is a
// UntrustedError.
func OpenPlain(path string) (*os.File, error) {
	return open(path, os.O_RDONLY, 0, func(path string, info fs.FileInfo) error {
		if !info.Mode().IsRegular() {
			return errNotPlain(path)
		}
		return nil
	})
}

func open(path string, flag int, perm fs.FileMode, check func(path string, info fs.FileInfo) error) (*os.File, error) {
	f, err := os.OpenFile(path, flag&^os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, perm)
	if err != nil {
		if isLink(path, err) {
			return nil, errLink(path)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(path, info)
	}
	if err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func errNotPlain(path string) error {
	return &UntrustedError{path, "it is no plain file", "find out who made it, then remove it: rm " + path}
}

func errLink(path string) error {
	return &UntrustedError{path, "it is a symbolic link", "find out who made it, then remove it: rm " + path}
}

// isLink reports the error of O_NOFOLLOW: ELOOP, on FreeBSD EMLINK (open(2)).
func isLink(path string, err error) bool {
	if !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.EMLINK) {
		return false
	}
	info, lookErr := os.Lstat(path)
	return lookErr == nil && info.Mode()&fs.ModeSymlink != 0
}

// Check is nil for the state of an opened file, or of one that was looked at
// without following (os.Lstat), that Open would believe.
func Check(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errLink(path)
	case !info.Mode().IsRegular():
		return errNotPlain(path)
	case Names(info) > 1:
		return &UntrustedError{path, fmt.Sprintf("it has %d names (hard links)", Names(info)), "find out who made the others (find / -samefile " + path + "), then remove it"}
	}
	return owned(path, info)
}

// CheckDir is nil for a directory of root's or of the running user's that nobody
// else may write: who may write there may put a file in another's place. A link
// to such a directory is one.
func CheckDir(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return owned(path, info)
}

func owned(path string, info fs.FileInfo) error {
	if uid, _ := Owner(info); uid != 0 && uid != os.Geteuid() {
		return &UntrustedError{path, fmt.Sprintf("it belongs to user %d", uid), fmt.Sprintf("when that is as it should be: chown %d %s", os.Geteuid(), path)}
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return &UntrustedError{path, fmt.Sprintf("others may write it (mode %04o)", mode), "see who wrote there, then: chmod go-w " + path}
	}
	return nil
}

// Read is os.ReadFile of a state file, of that many bytes at most.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("read %s: more than %d bytes", path, most)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Replace writes a state file whole, or not at all, and on the disk: another
// file takes the name. A link of that name is replaced, not followed.
func Replace(path string, b []byte, perm fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600, by its documentation
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(b); err == nil && perm != 0o600 {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
