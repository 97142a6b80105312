package userfile

import (
	"io/fs"
	"os"

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

// Open opens a file of the tree for reading.
func (t tree) Open(name string) (fs.File, error) {
	path, err := t.resolve("open", name)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Stat says what a file of the tree is without opening it, which waits for the writer of
// a pipe.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	path, err := t.resolve("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}
