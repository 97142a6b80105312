package guest

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxParcel bounds what a guest may send home: the host holds it in memory.
const maxParcel = 256 << 20

// errParcel means a file that nobody asked for.
var errParcel = errors.New("file outside the writable directories")

// fileState tells whether a file was changed.
type fileState struct {
	size int64
	when time.Time
}

// fileStates are the regular files in the directories.
func fileStates(dirs []string) (map[string]fileState, error) {
	states := make(map[string]fileState)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				states[path] = fileState{info.Size(), info.ModTime()}
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look for files: %w", err)
		}
	}
	return states, nil
}

// packParcel writes the files in the directories that are not as they were,
// with their absolute paths.
func packParcel(w io.Writer, dirs []string, before map[string]fileState) error {
	now, err := fileStates(dirs)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	for path, state := range now {
		if before[path] == state {
			continue
		}
		if err := packFile(archive, path); err != nil {
			return err
		}
	}
	return archive.Close()
}

func packFile(archive *tar.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(&tar.Header{Name: path, Mode: int64(info.Mode().Perm()), Size: info.Size()}); err != nil {
		return fmt.Errorf("pack %s: %w", path, err)
	}
	if _, err := io.CopyN(archive, f, info.Size()); err != nil {
		return fmt.Errorf("pack %s: %w", path, err)
	}
	return nil
}

// unpackParcel writes a parcel's files where they belong, and none that is
// not in the directories.
func unpackParcel(r io.Reader, dirs []string) error {
	archive := tar.NewReader(r)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack files: %w", err)
		}
		if err := unpackFile(head, archive, dirs); err != nil {
			return fmt.Errorf("unpack %s: %w", head.Name, err)
		}
	}
}

func unpackFile(head *tar.Header, content io.Reader, dirs []string) error {
	for _, dir := range dirs {
		name, err := filepath.Rel(dir, head.Name)
		if err != nil || !filepath.IsLocal(name) {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		if strings.Contains(name, string(filepath.Separator)) {
			if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fs.FileMode(head.Mode).Perm())
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	}
	return errParcel
}
