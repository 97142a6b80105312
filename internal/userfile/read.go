// Package userfile reads and writes the files that a user names on a command
// line: plain files, and on purpose also pipes, devices and descriptors
// (`<(...)`, /dev/stdin, /dev/stdout).
package userfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrTooLarge: a file is larger than anything of its kind.
var ErrTooLarge = errors.New("too large")

// TooLargeError says which file and how much is read at most.
type TooLargeError struct {
	Path string
	Most int64 // bytes
}

func (e *TooLargeError) Error() string {
	if e.Most < 1<<20 {
		return fmt.Sprintf("%s: it has more than %d bytes, which is more than is read", e.Path, e.Most)
	}
	return fmt.Sprintf("%s: it has more than %d MiB, which is more than is read", e.Path, e.Most>>20)
}

// Is makes it an ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// Read reads the file that a user named: at most that many bytes, or a
// TooLargeError. What is not Plain is waited for until ctx ends; then its error is the
// answer. Errors are otherwise those of os.ReadFile.
func Read(ctx context.Context, path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case Plain(info):
		if info.Size() > most {
			return nil, &TooLargeError{path, most}
		}
		return readPlain(ctx, path, most)
	}
	return readWaiting(ctx, path, func() (io.ReadCloser, error) { return os.Open(path) }, most)
}

// Plain reports a plain file that says it has content. Any other may keep its reader
// waiting for ever: a pipe, a device, and files of /proc, which say that they are empty.
func Plain(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Size() > 0 }

// OpenIn opens what is below a root for reading, without waiting for whoever
// writes a pipe: the caller looks at what it has got.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// ReadStream is Read of a stream that is open already; name is what to call it.
// The stream may go on being read after ctx has ended.
func ReadStream(ctx context.Context, name string, from io.Reader, most int64) ([]byte, error) {
	return readWaiting(ctx, name, func() (io.ReadCloser, error) { return io.NopCloser(from), nil }, most)
}

// readPlain opens without waiting: between the look and the opening the file
// may have become a pipe.
func readPlain(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is another file now")}
	}
	return bounded(path, interruptible{ctx, f}, most)
}

// readWaiting opens and reads beside: neither can be broken off. What is left
// over goes with the process.
func readWaiting(ctx context.Context, path string, open func() (io.ReadCloser, error), most int64) ([]byte, error) {
	type answer struct {
		text []byte
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		f, err := open()
		if err != nil {
			read <- answer{nil, err}
			return
		}
		defer f.Close()
		text, err := bounded(path, f, most)
		read <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-read:
		return a.text, a.err
	}
}

func bounded(path string, from io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(text)) > most {
		err = &TooLargeError{path, most}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// interruptible ends with its context.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (r interruptible) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(b)
}
