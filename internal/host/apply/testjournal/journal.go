// Package testjournal has a directory for the journal of a host that a test changes.
package testjournal

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// guardsEnd is how long the last guard may take to end.
const guardsEnd = 10 * time.Second

// Dir is a directory that goes with the test, once the guards of its changes have
// ended: those outlive the change that they watch, and write there.
func Dir(t testing.TB) string {
	t.Helper()
	all, err := os.MkdirTemp("", "linerate-journal-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(guardsEnd); ; time.Sleep(20 * time.Millisecond) {
			err := os.RemoveAll(all)
			if err == nil {
				return
			}
			if time.Now().After(end) {
				t.Errorf("remove journal: %v", err)
				return
			}
		}
	})
	dir := filepath.Join(all, "journal") // an agent's audit log stands beside it
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
