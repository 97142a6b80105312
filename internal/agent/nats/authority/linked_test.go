package authority

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/statefile"
)

// TestLinkedState: no file of the state directory is read through a link, the
// lock neither, and nothing is written through one.
func TestLinkedState(t *testing.T) {
	for _, name := range []string{operatorSeed, systemSeed, accountSeed, accountJWT, caFile, lockFile} {
		dir := filepath.Join(t.TempDir(), "serve")
		a, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Issue("tls://127.0.0.1:4222", Grant{Name: "db1", Role: agentapi.RoleAgent, Within: 1 << 40}); err != nil {
			t.Fatal(err)
		}
		path, moved := filepath.Join(dir, name), filepath.Join(t.TempDir(), "moved")
		text, _ := os.ReadFile(path) // there is no lock yet
		_ = os.Remove(path)
		if err := errors.Join(os.WriteFile(moved, text, 0o600), os.Symlink(moved, path)); err != nil {
			t.Fatal(err)
		}
		if a, err = Open(dir); err == nil {
			_, err = a.Issue("tls://127.0.0.1:4222", Grant{Name: "db2", Role: agentapi.RoleAgent, Within: 1 << 40})
		}
		if err == nil {
			_, err = a.Account()
		}
		if err == nil {
			err = a.Revoke("db1", agentapi.RoleAgent)
		}
		if !errors.Is(err, statefile.ErrUntrusted) {
			t.Errorf("%s as a link: %v", name, err)
		}
		if now, err := os.ReadFile(moved); err != nil || string(now) != string(text) {
			t.Errorf("%s: what the link leads to has changed, %v", name, err)
		}
	}
}
