package userfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	securejoin "github.com/cyphar/filepath-securejoin"
)

// Tree is the files below root, such as a mounted image of a host: its links, absolute
// ones too, lead to where they lead on that host, and never out of it.
func Tree(root string) fs.FS { return tree(root) }

type tree string

func (t tree) resolve(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return securejoin.SecureJoin(string(t), name)
}

// Open opens a plain file or a directory of the tree for reading: also where it has
// become another thing since it was looked at, nothing out of the tree is opened, and
// no pipe is waited for.
func (t tree) Open(name string) (fs.File, error) {
	path, err := t.resolve("open", name)
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(string(t), path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(string(t))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := OpenIn(root, below)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotPlain}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

var errNotPlain = errors.New("it is no plain file")

// Stat says what a file of the tree is without opening it, which waits for the writer of
// a pipe.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	path, err := t.resolve("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}
