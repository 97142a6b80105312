package apply

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate/linerate/internal/statefile"
)

// Transient is a directory into which this program was copied for one run, and
// that goes with its last user: the agent, and the guard of each change that it
// left pending. "" is none.
type Transient string

// The names in such a directory: mktemp's (internal/agent/fleet makes it), the
// program's, and a file for each user.
const (
	transientPrefix  = "linerate."
	transientProgram = "linerate"
	transientUser    = "user."
)

// OwnTransient is the directory of this very program when it is such a copy.
func OwnTransient() Transient {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	self = strings.TrimSuffix(self, " (deleted)") // as the kernel marks a file that is gone
	if !isTransient(self) {
		return ""
	}
	return Transient(filepath.Dir(self))
}

// isTransient reports a path as the program's in such a directory.
func isTransient(program string) bool {
	dir := filepath.Dir(program)
	tail, ok := strings.CutPrefix(filepath.Base(dir), transientPrefix)
	if !ok || len(tail) != 10 || filepath.Base(program) != transientProgram {
		return false
	}
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && info.Mode().Perm() == 0o700
}

// Use keeps the directory for a user until it leaves.
func (t Transient) Use(user string) error {
	if t == "" {
		return nil
	}
	f, err := statefile.Open(t.path(user), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("keep own program: %w", err)
	}
	return f.Close()
}

// Leave ends a user's use, by all its names; the last one takes the directory along.
// It removes nothing that it does not know.
func (t Transient) Leave(user ...string) {
	if t == "" {
		return
	}
	for _, name := range user {
		_ = os.Remove(t.path(name))
	}
	entries, err := os.ReadDir(string(t))
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), transientUser) {
			return
		}
	}
	_ = os.Remove(filepath.Join(string(t), transientProgram))
	_ = os.Remove(string(t))
}

func (t Transient) path(user string) string { return filepath.Join(string(t), transientUser+user) }
