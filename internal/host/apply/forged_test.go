//go:build unix

package apply

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// An entry that somebody else could have written is shown as a problem and
// never carried out: in it are files to write and sysctls to set, as root.
func TestForgedEntry(t *testing.T) {
	const id = "20260101T000000-00000001"
	for name, forge := range map[string]func(t *testing.T, dir, file string){
		"of another user": func(t *testing.T, _, file string) {
			if os.Geteuid() != 0 {
				t.Skip("giving a file away takes root")
			}
			if err := os.Chown(file, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		},
		"that others may write": func(t *testing.T, _, file string) {
			if err := os.Chmod(file, 0o622); err != nil {
				t.Fatal(err)
			}
		},
		"in a directory that others may write": func(t *testing.T, dir, _ string) {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "journal")
			j := OpenJournal(dir)
			if err := j.makeDir(); err != nil {
				t.Fatal(err)
			}
			file := j.path(id)
			if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
				t.Fatal(err)
			}
			if !validID(id) {
				t.Fatalf("%s is no journal entry's name", id)
			}
			if _, err := j.Read(id); errors.Is(err, ErrForged) {
				t.Fatalf("one of our own: %v", err)
			}
			forge(t, dir, file)
			if _, err := j.Read(id); !errors.Is(err, ErrForged) {
				t.Errorf("it is believed: %v", err)
			}
			entries, problems, err := j.List()
			if len(entries) != 0 || len(problems) != 1 || err != nil || !errors.Is(problems[0].Err, ErrForged) {
				t.Errorf("%v, %v, %v", entries, problems, err)
			}
		})
	}
}
