package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/linerate/linerate/internal/userfile"
)

// rootFS is what os.Root.FS returns, by its documentation.
type rootFS interface {
	fs.StatFS
	fs.ReadDirFS
	fs.ReadLinkFS
}

// plainTree is a directory of somebody else's making. Of what is in it only plain
// files and directories are opened, without waiting for a pipe or waking a
// device; links lead to what is below it alone (os.Root). Nothing is opened once
// ctx has ended.
type plainTree struct {
	rootFS
	ctx  context.Context
	root *os.Root
}

var errNotPlain = errors.New("it is no plain file")

// Open opens a plain file of at most mostFileBytes, or a directory.
func (t plainTree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err := t.ctx.Err(); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := userfile.OpenIn(t.root, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotPlain}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &boundedFile{File: f, name: name, left: mostFileBytes}, nil
}

// ReadFile is here so that the root's own, which waits for pipes, is not used.
func (t plainTree) ReadFile(name string) ([]byte, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// boundedFile gives an error in the place of bytes beyond its bound.
type boundedFile struct {
	*os.File
	name string
	left int64
}

func (f *boundedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	if f.left -= int64(n); f.left < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fmt.Errorf("it has more than %d MiB", mostFileBytes>>20)}
	}
	return n, err
}
