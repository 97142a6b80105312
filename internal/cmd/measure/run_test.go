package measure

import (
	"os"
	"path/filepath"
	"testing"
)

// file writes a file of the test's own and returns its name.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
