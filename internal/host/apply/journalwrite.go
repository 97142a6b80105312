package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/statefile"
)

// write puts the entry on the disk. While something has to happen to it, it has
// two files of one length, the entry and a spare, both padded with blanks: the
// spare is written, then the two exchange their names. So all the room that a
// change needs is taken before its first step, and a disk that is full later
// does not matter. The last write of an entry gives the room back.
func (j *Journal) write(e *Entry) error {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("encode entry: %w", err)
	}
	b = append(b, '\n')
	path, spare := j.path(e.ID), j.sparePath(e.ID)
	there, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return j.first(path, spare, pad(b, len(b)+e.growth()))
	case err != nil:
		return err
	case e.State.Pending():
		least := len(b) + e.growth()
		if there.Mode().IsRegular() && there.Size() <= maxEntry {
			least = int(there.Size())
		}
		return j.swap(path, spare, pad(b, least))
	}
	if err := j.swap(path, spare, b); err != nil {
		return err
	}
	return ignoreGone(os.Remove(spare))
}

// padTo is the size that a padded entry is a multiple of.
const padTo = 4096

func pad(b []byte, least int) []byte {
	size := (max(least, len(b)) + padTo - 1) / padTo * padTo
	return append(b, bytes.Repeat([]byte{' '}, size-len(b))...)
}

// growth is by how much an entry may grow from its first state to its last:
// notes, reasons and the states of files, in bytes as JSON has them.
func (e *Entry) growth() int {
	n := 2 * maxNote
	for range e.Steps {
		n += maxNote + 40
	}
	for _, f := range e.Plan.Files {
		n += maxNote + 3*encodedLen(f.Path) + encodedLen(e.Root) + 400
	}
	return n
}

// maxNote bounds the bytes of a note in an entry's JSON, so that the room set
// aside for it lasts.
const maxNote = 400

// note is a text that fits an entry's padding: cut between two characters, the
// escapes of JSON counted. What is no UTF-8 is dropped.
func note(text string) string {
	text = strings.ToValidUTF8(text, "")
	if encodedLen(text) <= maxNote {
		return text
	}
	const dots = "..."
	kept, room := 0, maxNote-len(dots)
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		if room -= encodedLen(text[i:end]); room < 0 {
			break
		}
		kept = end
	}
	return text[:kept] + dots
}

// encodedLen is how many bytes a text has in JSON, without its quotes.
func encodedLen(text string) int {
	b, _ := json.Marshal(text) // never an error of a string
	return len(b) - len(`""`)
}

// first makes an entry's two files. An error leaves none.
func (j *Journal) first(path, spare string, b []byte) error {
	if err := j.makeDir(); err != nil {
		return err
	}
	j.pass()
	err := overwriteOwn(spare, b)
	if err == nil {
		j.pass()
		err = os.Rename(spare, path)
	}
	if err == nil {
		j.pass()
		err = overwriteOwn(spare, bytes.Repeat([]byte{' '}, len(b)))
	}
	if err == nil {
		j.pass()
		err = syncDir(j.dir)
	}
	if err != nil {
		_ = os.Remove(path)
		_ = os.Remove(spare)
	}
	return err
}

// swap writes the spare and lets it take the entry's name. Where no two names
// can be exchanged the old file goes, and the next write wants new room.
func (j *Journal) swap(path, spare string, b []byte) error {
	j.pass()
	if err := overwriteOwn(spare, b); err != nil {
		return err
	}
	j.pass()
	err := exchange(spare, path)
	if errors.Is(err, errors.ErrUnsupported) {
		err = os.Rename(spare, path)
	}
	if err != nil {
		return err
	}
	j.pass()
	return syncDir(j.dir)
}

// overwriteOwn is overwrite of an entry's spare. What the entry became meanwhile,
// such as a link to somebody else's file, a pipe or a directory, has the spare's
// name after an exchange: that name is removed, and what it leads to stays as it
// is.
func overwriteOwn(path string, b []byte) error {
	err := overwrite(path, b)
	if err == nil {
		return nil
	}
	if info, lookErr := os.Lstat(path); lookErr != nil || info.Mode().IsRegular() && !errors.Is(err, statefile.ErrUntrusted) {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return overwrite(path, b)
}

// overwrite makes b the whole of a file of our own, in the room that it has
// already. A link is never followed (statefile.ErrUntrusted).
func overwrite(path string, b []byte) error {
	f, err := statefile.Open(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Truncate(int64(len(b)))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// replace puts data under name, all or nothing, and on the disk: the file is
// synced before it takes the name, the directory after.
func (j *Journal) replace(name string, data []byte) (err error) {
	if err := j.makeDir(); err != nil {
		return err
	}
	j.pass()
	f, err := os.CreateTemp(j.dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	j.pass()
	if err = os.Rename(f.Name(), filepath.Join(j.dir, name)); err != nil {
		return err
	}
	j.pass()
	return syncDir(j.dir)
}

func (j *Journal) pass() {
	if j.moment != nil {
		j.moment()
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
