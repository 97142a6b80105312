package cli

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Attack 14: a network of mapped addresses can match, or is refused.
func TestAllowMappedNetworks(t *testing.T) {
	for text, want := range map[string]string{
		"::ffff:10.0.0.0/104": "10.0.0.0/8", "::ffff:127.0.0.9": "127.0.0.9/32", "::ffff:10.1.2.3/128": "10.1.2.3/32", "::ffff:0:0/96": "0.0.0.0/0",
		"::ffff:10.1.2.3/120": "10.1.2.0/24", "10.1.2.3/24": "10.1.2.0/24", "2001:db8::1/64": "2001:db8::/64", "::/0": "::/0",
		"::ffff:0:0/95": "", "::ffff:10.0.0.0/8": "", "10.0.0.0/33": "", "x": "",
	} {
		cfg, err := (&listenFlags{port: 1, maxClients: 1, idle: 1e9, allow: []string{text}}).config(t.Context())
		if want == "" {
			if status(err) != exitUsage || hintFor(err) == "" {
				t.Errorf("%s: %v, %v; want it refused with a hint", text, cfg.Allow, err)
			}
			continue
		}
		if err != nil || cfg.Allow[0] != netip.MustParsePrefix(want) {
			t.Errorf("%s: %v, %v; want %s", text, cfg.Allow, err, want)
		}
	}
}

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
		token, err := readToken(t.Context(), file)
		if good != (err == nil && string(token) == "secret") {
			t.Errorf("mode %o: %q, %v", mode, token, err)
		}
		if !good && (status(err) != exitUnreachable || !errors.Is(err, fs.ErrPermission) || !strings.Contains(hintFor(err), "chmod 600 "+file)) {
			t.Errorf("mode %o: %v, hint %q", mode, err, hintFor(err))
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(file)) // as systemd's LoadCredential
	if err := os.Chmod(file, 0o440); err != nil {
		t.Fatal(err)
	}
	if _, err := readToken(t.Context(), file); err != nil {
		t.Errorf("a credential of systemd: %v", err)
	}
}
