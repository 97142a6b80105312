//go:build !aix

package enroll

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
)

// log is a server's log that a test reads.
func log(t *testing.T) (*slog.Logger, func() string) {
	t.Helper()
	var text testcluster.Text
	return slog.New(slog.NewTextHandler(&text, nil)), text.String
}

func TestEnroll(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	logger, said := log(t)
	r := testcluster.Start(t, logger)
	token, err := r.Authority.Issue(r.URL, authority.Grant{Name: "h1", Role: agentapi.RoleAgent, Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	read, err := authority.ParseToken(token.String() + "\n")
	if err != nil || read != token {
		t.Fatalf("%+v, %v", read, err)
	}
	dir := filepath.Join(t.TempDir(), "etc")
	id, err := Enroll(t.Context(), read, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{CredsFile, CAFile, EnvFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	c := testcluster.Connect(t, link.Config{URL: id.URL, Creds: filepath.Join(dir, CredsFile)})
	if c.Who.Name != "h1" || c.Who.Role != agentapi.RoleAgent || !c.TLSRequired() {
		t.Errorf("connected as %+v", c.Who)
	}

	t.Run("replayed", func(t *testing.T) {
		_, err := Enroll(t.Context(), read, t.TempDir(), false)
		if !errors.Is(err, authority.ErrToken) || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "used before") {
			t.Errorf("%v", err)
		}
		if !strings.Contains(said(), "a token was refused") {
			t.Error("nothing is logged")
		}
	})
	t.Run("not over another", func(t *testing.T) {
		if _, err := Enroll(t.Context(), read, dir, false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v", err)
		}
	})
	t.Run("taken", func(t *testing.T) {
		if _, err := r.Authority.Issue(r.URL, authority.Grant{Name: "h1", Role: agentapi.RoleAgent, Within: time.Minute}); !errors.Is(err, authority.ErrTaken) {
			t.Errorf("%v", err)
		}
	})
	t.Run("expired", func(t *testing.T) {
		token, err := r.Authority.Issue(r.URL, authority.Grant{Name: "h2", Role: agentapi.RoleAgent, Within: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2100 * time.Millisecond)
		dir := t.TempDir()
		if _, err := Enroll(t.Context(), token, dir, false); !errors.Is(err, authority.ErrToken) {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, CredsFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Error("something was written")
		}
	})
	t.Run("of another authority", func(t *testing.T) {
		other := testcluster.Start(t, nil)
		token, err := other.Authority.Issue(r.URL, authority.Grant{Name: "h3", Role: agentapi.RoleAgent, Within: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Enroll(t.Context(), token, t.TempDir(), false); !errors.Is(err, link.ErrUntrusted) {
			t.Errorf("a server of another authority was trusted: %v", err)
		}
		token.CA = read.CA // a token made up for this server
		if _, err := Enroll(t.Context(), token, t.TempDir(), false); !errors.Is(err, authority.ErrToken) {
			t.Errorf("%v", err)
		}
	})
	t.Run("replaced", func(t *testing.T) {
		token, err := r.Authority.Issue(r.URL, authority.Grant{Name: "h1", Role: agentapi.RoleAgent, Within: time.Minute, Replace: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Enroll(t.Context(), token, t.TempDir(), false); err != nil {
			t.Fatal(err)
		}
		if _, err := link.Connect(t.Context(), link.Config{URL: id.URL, Creds: filepath.Join(dir, CredsFile)}); !errors.Is(err, link.ErrCreds) {
			t.Errorf("the replaced identity still connects: %v", err)
		}
	})
}

func TestParseTokenRefuses(t *testing.T) {
	good := authority.Token{URL: "tls://h:1", CA: strings.Repeat("a", 64), ID: "1", JWT: "j", Seed: "s", Name: "h", Role: agentapi.RoleAgent}
	bad := good
	bad.Name = "../../etc/passwd"
	for _, s := range []string{"", "x", "linerate1.", "linerate1.!!", good.String()[:60], bad.String(), authority.Token{}.String(), "linerate1." + strings.Repeat("A", 100000)} {
		if _, err := authority.ParseToken(s); !errors.Is(err, authority.ErrToken) {
			t.Errorf("%.40q: %v", s, err)
		}
	}
	if _, err := authority.ParseToken(good.String()); err != nil {
		t.Error(err)
	}
}
