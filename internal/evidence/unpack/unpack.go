// Package unpack reads the members of archives and directories that tell of hosts: tar
// in any usual compression, zip, a directory, and an archive within one of them. What a
// member is, internal/evidence/paste/archive says; the others are passed over unread.
// Nothing is written, no link is followed, and every size has a bound.
package unpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Contents are what an archive has that is read.
type Contents struct {
	Texts []piece.Text
	// Notes are what was left out or is cut, for people.
	Notes []string
	// Capture is an archive of `inspect --capture`, or a copy of /proc and /sys alone.
	Capture bool
	// Single is the one file of a compressed text, which is no archive.
	Single bool
}

// FormError is an archive in a form that is not read.
type FormError struct {
	Name, Form string // Form is "a 7z archive"
	Hint       string
}

func (e *FormError) Error() string { return e.Name + ": it is " + e.Form }

// bounds are the most that is read of one archive.
type bounds struct {
	members        int   // looked at
	texts          int   // kept
	member, log    int64 // bytes of one kept; of a log its end
	single         int64 // bytes of a compressed text, which is no archive
	kept, unpacked int64 // bytes kept, and unpacked, in all
	nested         int64 // bytes of zips within archives that are read at once
	listed         int64 // bytes of a zip's list of its members, which is read whole
	depth          int   // of archives within archives
	name           int   // bytes of a path
}

// usual bounds: a sosreport has some 20,000 members and 2 GB unpacked, of which some
// 10 MB are read.
var usual = bounds{members: 1 << 20, texts: 50_000, member: 8 << 20, log: 4 << 20, single: 64 << 20, kept: 24 << 20, unpacked: 16 << 30, nested: 64 << 20, listed: 16 << 20, depth: 1, name: 4096}

// Open reads the archive or directory that a user named. Its name is what its texts'
// sources begin with. Errors are those of opening it, of ctx, and a FormError; one that
// is cut or damaged is read as far as it goes, with a note.
func Open(ctx context.Context, name string) (Contents, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Contents{}, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return Contents{}, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is neither a file nor a directory")}
	}
	w := newWalk(ctx, name, usual)
	if info.IsDir() {
		return w.contents(w.directory(name))
	}
	f, err := os.Open(name)
	if err != nil {
		return Contents{}, err
	}
	defer f.Close()
	return w.contents(w.file(f, info.Size()))
}

// Stream is Open of what comes over a pipe.
func Stream(ctx context.Context, name string, from io.Reader) (Contents, error) {
	w := newWalk(ctx, name, usual)
	return w.contents(w.packed("", from, 0))
}

// file reads an archive that can be read anywhere, as a zip wants.
func (w *walk) file(f *os.File, size int64) error {
	head := make([]byte, headBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if formOf(head[:n]) == zipForm {
		return w.zip("", f, size, 0)
	}
	return w.packed("", f, 0)
}

// directory reads what is below a directory.
func (w *walk) directory(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	if abs, err := filepath.Abs(name); err == nil {
		w.name = abs // "." has a name
	}
	refused := 0
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case w.ctx.Err() != nil:
			return w.ctx.Err()
		case err != nil:
			refused++
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return w.enter(path)
		case !d.Type().IsRegular():
			return nil
		}
		if err = w.below(root, path); err != nil && !w.ended(err) {
			refused++ // not permitted, gone, or a file of /sys that has no value
			return nil
		}
		return err
	})
	if refused > 0 {
		w.note(fmt.Sprintf("%d of its files and directories could not be read: check who may read them", refused))
	}
	return err
}
