package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/statefile"
)

// Journal is a directory with one JSON file per change. Every write is a
// whole file that replaces the old one, on the disk before the writer goes on.
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

// Unwrap is why it cannot be used.
func (p Problem) Unwrap() error { return p.Err }

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
	spareSuffix = ".spare"
	tempPrefix  = ".tmp-"
	// maxEntry bounds what is read: a plan of some hundred steps has some
	// tens of kilobytes, and its files are bounded by maxFiles and maxText.
	maxEntry = 64 << 20
)

func (j *Journal) path(id string) string { return filepath.Join(j.dir, id+entrySuffix) }

func (j *Journal) sparePath(id string) string { return filepath.Join(j.dir, id+spareSuffix) }

// makeDir makes the directory, or refuses one that others may write: a guard
// would not believe what is in it.
func (j *Journal) makeDir() error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return fmt.Errorf("make journal directory: %w", err)
	}
	return j.believedIn()
}

// readTries is how often a file is read that is being replaced meanwhile.
const readTries = 20

// Read returns one entry. An unknown id is fs.ErrNotExist, a damaged file a
// Problem.
func (j *Journal) Read(id string) (Entry, error) {
	if !validID(id) {
		return Entry{}, fmt.Errorf("journal entry %.80q: %w", id, fs.ErrNotExist)
	}
	if err := j.believedIn(); err != nil {
		return Entry{}, fmt.Errorf("journal entry %s: %w", id, err)
	}
	var e Entry
	var err error
	for range readTries {
		b, whole, readErr := readAll(j.path(id))
		if readErr != nil {
			return Entry{}, fmt.Errorf("journal entry %s: %w", id, readErr)
		}
		if e, err = parseEntry(id, b); whole {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return e, err
}

// readAll reads a file and says whether it stayed as it was meanwhile: the
// file that an exchange puts aside is written next.
func readAll(path string) (b []byte, whole bool, err error) {
	f, err := statefile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, statefile.ErrUntrusted) {
		return nil, false, Problem{filepath.Base(path), err}
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if before.Size() > maxEntry {
		return nil, false, Problem{filepath.Base(path), fmt.Errorf("%d bytes", before.Size())}
	}
	if b, err = io.ReadAll(io.LimitReader(f, maxEntry)); err != nil {
		return nil, false, err
	}
	after, err := os.Lstat(path)
	whole = err == nil && os.SameFile(before, after) && before.ModTime().Equal(after.ModTime())
	return b, whole, nil
}

// stamp is an entry's file as it is now; nil where there is none.
func (j *Journal) stamp(id string) fs.FileInfo {
	info, err := os.Lstat(j.path(id))
	if err != nil {
		return nil
	}
	return info
}

// rewritten reports whether an entry was written since it had that stamp: its two
// files take turns.
func (j *Journal) rewritten(id string, since fs.FileInfo) bool {
	now := j.stamp(id)
	if now == nil || since == nil {
		return now != since
	}
	return !os.SameFile(since, now) || !since.ModTime().Equal(now.ModTime())
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
