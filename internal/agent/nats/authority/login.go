package authority

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/statefile"
)

// Login is somebody who may see the pages.
type Login struct {
	Name    string        `json:"name"`
	Role    agentapi.Role `json:"role"`
	Made    time.Time     `json:"made"`
	Expires time.Time     `json:"expires,omitzero"` // zero is never
}

// loginMark begins a login's token, so that one is known when it is found where
// it should not be.
const loginMark = "linerate2."

// IssueLogin makes a token with which somebody sees the pages, as often as they
// like until it expires; valid zero is without end. The directory keeps its
// hash. Errors: wire.ErrName, ErrLoginRole.
func (a *Authority) IssueLogin(name string, role agentapi.Role, valid time.Duration) (string, error) {
	if err := wire.CheckName("user", name+SignerSuffix); err != nil {
		return "", err
	}
	if !slices.Contains(agentapi.People(), role) {
		return "", fmt.Errorf("%w: %s", ErrLoginRole, role)
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	token := loginMark + base64.RawURLEncoding.EncodeToString(b[:])
	l := Login{Name: name, Role: role, Made: a.now().UTC()}
	if valid > 0 {
		l.Expires = a.now().Add(valid).UTC()
	}
	text, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(a.path(loginDir), 0o700); err != nil {
		return "", err
	}
	return token, a.write(loginFile(token), string(text)+"\n")
}

// Login is whose token it is. Errors: ErrToken.
func (a *Authority) Login(token string) (Login, error) {
	token = strings.TrimSpace(token)
	var l Login
	if !strings.HasPrefix(token, loginMark) {
		return l, fmt.Errorf("%w: it does not begin with %s", ErrToken, loginMark)
	}
	text, err := a.read(loginFile(token))
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Login{}, fmt.Errorf("%w: it was not given out here, or was taken away", ErrToken)
	}
	if err != nil {
		return Login{}, fmt.Errorf("read login: %w", err)
	}
	if !l.Expires.IsZero() && !a.now().Before(l.Expires) {
		return Login{}, fmt.Errorf("%w: it expired at %s", ErrToken, l.Expires.Format(time.DateTime))
	}
	return l, nil
}

// EndLogins takes away every login of a name, and says how many there were.
func (a *Authority) EndLogins(name string) (int, error) {
	files, err := os.ReadDir(a.path(loginDir))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	ended := 0
	for _, f := range files {
		path := a.path(filepath.Join(loginDir, f.Name()))
		text, err := statefile.Read(path, mostState)
		var l Login
		if err != nil || json.Unmarshal(text, &l) != nil || l.Name != name {
			continue // one that cannot be read logs nobody in
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ended, fmt.Errorf("end login: %w", err)
		}
		ended++
	}
	return ended, nil
}

func loginFile(token string) string {
	sum := sha256.Sum256([]byte(token))
	return filepath.Join(loginDir, hex.EncodeToString(sum[:]))
}
