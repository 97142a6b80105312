package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Journal is a directory with one JSON file per change. Every write is a
// whole new file that replaces the old one, on the disk before the writer
// goes on.
type Journal struct {
	dir string
	// moment, when set, is called between any two things that a write does to
	// the disk: a test ends the process there.
	moment func()
}

// Problem is a journal file that cannot be used.
type Problem struct {
	File string
	Err  error
}

func (p Problem) Error() string { return fmt.Sprintf("journal file %s: %v", p.File, p.Err) }

// OpenJournal names the journal in a directory, which need not exist yet.
func OpenJournal(dir string) *Journal {
	if dir == "" {
		dir = DefaultDir
	}
	return &Journal{dir: dir}
}

const (
	entrySuffix = ".json"
	armedSuffix = ".armed"
	tempPrefix  = ".tmp-"
	// maxEntry bounds what is read: a plan of some hundred steps has some
	// tens of kilobytes.
	maxEntry = 16 << 20
)

func (j *Journal) path(id string) string { return filepath.Join(j.dir, id+entrySuffix) }

func (j *Journal) makeDir() error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return fmt.Errorf("make journal directory: %w", err)
	}
	return nil
}

func (j *Journal) write(e *Entry) error {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("encode entry: %w", err)
	}
	return j.replace(e.ID+entrySuffix, append(b, '\n'))
}

// replace puts data under name, all or nothing, and on the disk: the file is
// synced before it takes the name, the directory after.
func (j *Journal) replace(name string, data []byte) (err error) {
	moment := j.moment
	if moment == nil {
		moment = func() {}
	}
	if err := j.makeDir(); err != nil {
		return err
	}
	moment()
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
	moment()
	if err = os.Rename(f.Name(), filepath.Join(j.dir, name)); err != nil {
		return err
	}
	moment()
	return syncDir(j.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Read returns one entry. An unknown id is fs.ErrNotExist, a damaged file a
// Problem.
func (j *Journal) Read(id string) (Entry, error) {
	if !validID(id) {
		return Entry{}, fmt.Errorf("journal entry %.80q: %w", id, fs.ErrNotExist)
	}
	info, err := os.Stat(j.path(id))
	if err != nil {
		return Entry{}, fmt.Errorf("journal entry %s: %w", id, err)
	}
	if info.Size() > maxEntry {
		return Entry{}, Problem{info.Name(), fmt.Errorf("%d bytes", info.Size())}
	}
	b, err := os.ReadFile(j.path(id))
	if err != nil {
		return Entry{}, fmt.Errorf("journal entry %s: %w", id, err)
	}
	return parseEntry(id, b)
}

func parseEntry(id string, b []byte) (Entry, error) {
	var e Entry
	err := json.Unmarshal(b, &e)
	if err == nil {
		err = e.check(id)
	}
	if err != nil {
		return Entry{}, Problem{id + entrySuffix, err}
	}
	return e, nil
}

// List returns the readable entries, oldest first, and the files that are
// none. No directory yet is an empty journal.
func (j *Journal) List() ([]Entry, []Problem, error) {
	files, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read journal: %w", err)
	}
	var entries []Entry
	var problems []Problem
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), entrySuffix)
		if !ok || strings.HasPrefix(f.Name(), tempPrefix) {
			continue
		}
		e, err := j.Read(id)
		switch {
		case errors.Is(err, fs.ErrNotExist) && validID(id): // removed since ReadDir
		case err != nil:
			problems = append(problems, Problem{f.Name(), err})
		default:
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return entries, problems, nil
}
