package console

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Attack 14: a token that others can read is none.
func TestTokenFileIsItsOwners(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[fs.FileMode]bool{0o600: true, 0o400: true, 0o644: false, 0o640: false, 0o606: false, 0o620: false} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		token, err := ReadToken(t.Context(), file)
		if good != (err == nil && string(token) == "secret") {
			t.Errorf("mode %o: %q, %v", mode, token, err)
		}
		if !good && (Status(err) != ExitUnreachable || !errors.Is(err, fs.ErrPermission) || !strings.Contains(HintFor(err), "chmod 600 "+file)) {
			t.Errorf("mode %o: %v, hint %q", mode, err, HintFor(err))
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(file)) // as systemd's LoadCredential
	if err := os.Chmod(file, 0o440); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadToken(t.Context(), file); err != nil {
		t.Errorf("a credential of systemd: %v", err)
	}
}
