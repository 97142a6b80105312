package console

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tokenMost is the longest token that makes sense in a file.
const tokenMost = 4096

// ReadToken reads a token: the file without the blanks around it. No name is
// no token. A file that others may read is refused, as credentials are.
func ReadToken(ctx context.Context, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, BadFile("read token", err)
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&othersMay(path) != 0 {
		return nil, WithHint(fmt.Errorf("read token %s: others than its owner may read it (mode %04o): %w", path, info.Mode().Perm(), fs.ErrPermission), "chmod 600 "+path)
	}
	text, err := ReadNamed(ctx, "read token", path, 2*tokenMost) // with blanks around it
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > tokenMost {
		return nil, BadUsage(fmt.Sprintf("read token %s: want 1 to %d characters, it has %d", path, tokenMost, len(text)),
			"`(umask 077; head -c 24 /dev/urandom | base64 >FILE)` makes one")
	}
	return text, nil
}

// othersMay are the permissions that a file with a secret must not have. Where
// systemd hands it over, its access list shows as the group's right to read.
func othersMay(path string) fs.FileMode {
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(path) == filepath.Clean(dir) {
		return 0o037
	}
	return 0o077
}
