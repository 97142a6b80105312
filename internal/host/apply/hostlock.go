package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/statefile"
)

// ErrInUse: another run holds this host's network namespace.
var ErrInUse = errors.New("the host is in use")

// InUseError says who holds it.
type InUseError struct{ Holder agentapi.Holder }

func (e *InUseError) Error() string {
	return fmt.Sprintf("%v: %s", ErrInUse, e.Holder.Text(time.Now()))
}

// Is makes a InUseError an ErrInUse.
func (e *InUseError) Is(target error) bool { return target == ErrInUse }

// HostLock is a namespace held by one run. Release, or the end of the process,
// lets go of it.
type HostLock struct {
	file *os.File // nil where nothing could be locked
	made []string // directories that were made for it, the deepest first
	// Note says what the hold does not keep off; "" is nothing.
	Note string
}

// Release lets go. The file goes with the last hold: namespaces come and go. So
// do the directories that were made for it, where nothing else is in them.
func (h *HostLock) Release() {
	if h == nil || h.file == nil {
		return
	}
	if alone, _ := tryLock(h.file); alone && stillNamed(h.file, h.file.Name()) {
		_ = os.Remove(h.file.Name())
		for _, dir := range h.made {
			if os.Remove(dir) != nil {
				break
			}
		}
	}
	h.file.Close()
	h.file = nil
}

// LockDir is where holds are. They end with their holders, and the numbers of
// namespaces with the boot, so it is not the journal's directory: that one is
// chosen by run, and two runs must meet here whatever theirs are.
const LockDir = "/var/run/linerate"

// LockHost holds the network namespace of the calling thread for a run,
// without waiting; dir is where, "" is LockDir, made with mode 0700. Another
// run's hold is ErrInUse. The same run may hold it more than once, under
// several names of one host. Where the directory cannot be written, as for an
// ordinary user, runs of the same user are kept apart, and where nothing can
// be locked none are: Note says so.
func LockHost(dir string, holder agentapi.Holder) (*HostLock, error) {
	if dir == "" {
		dir = LockDir
	}
	holder = holder.Clean()
	holder.Since = time.Now().UTC()
	name := "hold." + namespaceID()
	h, err := lockHostFile(filepath.Join(dir, name), holder)
	if err == nil || errors.Is(err, ErrInUse) {
		return h, err
	}
	why := err
	if own, ok := ownDir(); ok {
		h, err = lockHostFile(filepath.Join(own, name+"."+bootID()), holder) // a home may be that of many hosts
		if errors.Is(err, ErrInUse) {
			return nil, err
		}
		if err == nil {
			h.Note = fmt.Sprintf("runs of other users are not kept off this host (%v)", why)
			return h, nil
		}
	}
	return &HostLock{Note: fmt.Sprintf("other runs are not kept off this host (%v)", why)}, nil
}

// namespaceID is the number of the calling thread's network namespace, as
// /proc/thread-self/ns/net has it; "host" where there are none.
func namespaceID() string {
	link, err := os.Readlink("/proc/thread-self/ns/net") // net:[4026531840]
	if err != nil {
		return "host"
	}
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, link)
}

// ownDir is where a user's own runs keep their locks.
func ownDir() (string, bool) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "linerate"), true
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "linerate"), true
	}
	return "", false
}

// mostTries is how often a file is looked at that somebody has locked without
// saying who he is.
const mostTries = 20

// lockHostFile locks the file at path, writes the holder into it and then shares
// the lock, so that each hold of a run keeps others off for itself. Another may
// come in between (flock(2): a lock is not exchanged in one step), and whoever
// lets go last removes the file: so it is looked at again, and where it is not
// this run's, or not of that name, the next is tried.
func lockHostFile(path string, holder agentapi.Holder) (*HostLock, error) {
	made := missingDirs(filepath.Dir(path))
	for tries := 0; ; tries++ {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err := statefile.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) && tries < mostTries {
			continue // whoever made the directory has removed it
		}
		if err != nil {
			return nil, err
		}
		held, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !held {
			other := holderOf(f)
			if other.Run != "" && other.Run == holder.Run && shared(f, path, holder) {
				return &HostLock{file: f, made: made}, nil
			}
			f.Close()
			if (other.Run == "" || other.Run == holder.Run) && tries < mostTries { // it is just writing who it is, or goes
				time.Sleep(10 * time.Millisecond)
				continue
			}
			return nil, &InUseError{other}
		}
		if !stillNamed(f, path) {
			f.Close()
			continue
		}
		b, err := json.Marshal(holder)
		if err == nil {
			err = errors.Join(f.Truncate(0), writeAt(f, append(b, '\n')))
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("write %s: %w", path, err)
		}
		if shared(f, path, holder) {
			return &HostLock{file: f, made: made}, nil
		}
		f.Close()
	}
}

// missingDirs are a directory and those above it that are not there, the deepest
// first.
func missingDirs(dir string) []string {
	var out []string
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return out
		}
		out, dir = append(out, dir), filepath.Dir(dir)
	}
}

// shared takes the lock as one of a run's holds: false where it is another's,
// or the file is gone.
func shared(f *os.File, path string, holder agentapi.Holder) bool {
	held, err := tryShare(f)
	return err == nil && held && holderOf(f).Run == holder.Run && stillNamed(f, path)
}

// stillNamed reports whether the open file is the one at path.
func stillNamed(f *os.File, path string) bool {
	open, err1 := f.Stat()
	named, err2 := os.Lstat(path)
	if errors.Is(err2, fs.ErrNotExist) {
		return false
	}
	return err1 == nil && err2 == nil && os.SameFile(open, named)
}

// holderOf reads who holds; the zero Holder where it is being written just
// now.
func holderOf(f *os.File) agentapi.Holder {
	var h agentapi.Holder
	b := make([]byte, 4096)
	n, _ := f.ReadAt(b, 0)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	if json.Unmarshal([]byte(line), &h) != nil {
		return agentapi.Holder{}
	}
	return h.Clean()
}
