package authority

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// Identity is somebody who was given credentials.
type Identity struct {
	Name    string        `json:"name"`
	Role    agentapi.Role `json:"role"`
	Key     string        `json:"key"` // public
	Made    time.Time     `json:"made"`
	Expires time.Time     `json:"expires,omitzero"`
	Revoked time.Time     `json:"revoked,omitzero"`
}

// What a connection hears by is bounded: a controller has one subscription a host, of a
// thousand that were tried, and one for the run store; an agent has three.
const (
	mostSubscriptions = 2048
	mostOfAgent       = 16
)

// permit lays a permission into a user's token.
func permit(u *jwt.UserClaims, p wire.Permission) {
	u.Permissions.Pub.Allow, u.Permissions.Sub.Allow = p.Publish, p.Subscribe
}

// Sign gives a name its token: key is the public key of whoever has it, valid
// how long the token is good, zero without end. A name that another key has is
// ErrTaken, unless replace, which revokes the other. Revoking takes
// Revocations to reach servers that run.
func (a *Authority) Sign(name string, role agentapi.Role, key string, valid time.Duration, replace bool) (string, error) {
	if !a.Signs() {
		return "", ErrMember
	}
	p, err := wire.Permissions(name, role)
	if err != nil {
		return "", err
	}
	if !nkeys.IsValidPublicUserKey(key) {
		return "", fmt.Errorf("sign %s: not a user's public key: %.60q", name, key)
	}
	var token string
	err = a.alone(func() (err error) {
		token, err = a.give(name, role, key, valid, replace, p)
		return err
	})
	return token, err
}

// give is Sign in alone.
func (a *Authority) give(name string, role agentapi.Role, key string, valid time.Duration, replace bool, p wire.Permission) (string, error) {
	if err := a.free(name, role, key, replace); err != nil {
		return "", err
	}
	return a.sign(name, role, key, valid, p)
}

// unused is nil for a key that nobody has or had: one that is signed for again
// keeps what it was signed for before, and one that is another's is revoked with
// theirs. In alone only. Errors: ErrKey.
func (a *Authority) unused(key string) error {
	all, err := a.Identities()
	if err != nil {
		return err
	}
	account, err := a.claims()
	if err != nil {
		return err
	}
	_, revoked := account.Revocations[key]
	if revoked || slices.ContainsFunc(all, func(id Identity) bool { return id.Key == key }) {
		return fmt.Errorf("%w: %.60q", ErrKey, key)
	}
	return nil
}

// free makes a name free for a key: who had it is revoked, if it is to be
// replaced. In alone only.
func (a *Authority) free(name string, role agentapi.Role, key string, replace bool) error {
	old, err := a.identity(name, role)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !old.Revoked.IsZero() || old.Key == key:
		return nil
	case !replace:
		return fmt.Errorf("%s %s: %w since %s", role, name, ErrTaken, old.Made.Format(time.DateTime))
	}
	return a.revoke(old)
}

// sign makes a key's token and keeps whose it is. In alone only.
func (a *Authority) sign(name string, role agentapi.Role, key string, valid time.Duration, p wire.Permission) (string, error) {
	claims := jwt.NewUserClaims(key)
	claims.Name = name
	claims.Tags.Add(claim.RoleTag + string(role))
	permit(claims, p)
	claims.Limits.Subs = mostSubscriptions
	if role == agentapi.RoleAgent {
		claims.Limits.Subs = mostOfAgent
	}
	id := Identity{Name: name, Role: role, Key: key, Made: a.now().UTC()}
	if valid > 0 {
		id.Expires = a.now().Add(valid).UTC()
		claims.Expires = id.Expires.Unix()
	}
	if old, err := a.identity(name, role); err == nil && old.Key == key { // of the last of the key's tokens
		if old.Expires.IsZero() || old.Expires.After(id.Expires) {
			id.Expires = old.Expires
		}
		if old.Made.After(id.Made) {
			id.Made = old.Made
		}
	}
	token, err := claims.Encode(a.account)
	if err != nil {
		return "", fmt.Errorf("sign %s: %w", name, err)
	}
	return token, a.keep(id)
}

// kind is the directory of a role's identities: people and hosts are two
// kinds, so that a host may be called as somebody is.
func kind(role agentapi.Role) string {
	if role == agentapi.RoleAgent {
		return "host"
	}
	return "user"
}

func (a *Authority) identityFile(name string, role agentapi.Role) (string, error) {
	if err := wire.CheckName(kind(role), name); err != nil {
		return "", err
	}
	return filepath.Join(identityDir, kind(role)+"."+name+".json"), nil
}

func (a *Authority) identity(name string, role agentapi.Role) (Identity, error) {
	var id Identity
	file, err := a.identityFile(name, role)
	if err != nil {
		return id, err
	}
	text, err := a.read(file)
	if err != nil {
		return id, err
	}
	return id, json.Unmarshal(text, &id)
}

func (a *Authority) keep(id Identity) error {
	file, err := a.identityFile(id.Name, id.Role)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.path(identityDir), 0o700); err != nil {
		return err
	}
	return a.write(file, string(text)+"\n")
}

// Revoke takes somebody's identity away, and the tokens that were given out for it
// and not used: what was signed is good no more, once the servers know (Account).
// Errors: fs.ErrNotExist where there is neither, ErrMember.
func (a *Authority) Revoke(name string, role agentapi.Role) error {
	if !a.Signs() {
		return ErrMember
	}
	if _, err := a.identityFile(name, role); err != nil {
		return err
	}
	return a.alone(func() error {
		tokens, err := a.takeTokens(name, role)
		if err != nil {
			return fmt.Errorf("revoke %s: %w", name, err)
		}
		id, err := a.identity(name, role)
		if err == nil {
			err = a.revoke(id)
		}
		if errors.Is(err, fs.ErrNotExist) && tokens > 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("revoke %s: %w", name, err)
		}
		return nil
	})
}

// revokedFrom is the moment that all tokens of the identity were signed before, when
// it is revoked now: a token is as old as the clock said, which may have been set back
// since.
func (id Identity) revokedFrom(now time.Time) time.Time {
	if signed := id.Made.Add(time.Second); signed.After(now) { // it was encoded a moment later
		return signed
	}
	return now
}

// revoke adds an identity to those that the account takes no more. In alone
// only.
func (a *Authority) revoke(id Identity) error {
	claims, err := a.claims()
	if err != nil {
		return err
	}
	claims.RevokeAt(id.Key, id.revokedFrom(a.now()))
	if err := a.forgetExpired(claims, id); err != nil {
		return err
	}
	if err := a.listRevoked(claims); err != nil {
		return err
	}
	if err := a.publish(accountJWT, claims); err != nil {
		return err
	}
	id.Revoked = a.now().UTC()
	return a.keep(id)
}

// claims are the account's.
func (a *Authority) claims() (*jwt.AccountClaims, error) {
	text, err := a.Account()
	if err != nil {
		return nil, err
	}
	return jwt.DecodeAccountClaims(string(text))
}

// Account is the signed account with its revocations, for servers that run.
func (a *Authority) Account() ([]byte, error) { return a.read(accountJWT) }

// Identities are all that were given out, by name.
func (a *Authority) Identities() ([]Identity, error) {
	files, err := os.ReadDir(a.path(identityDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []Identity
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		var id Identity
		text, err := a.read(filepath.Join(identityDir, f.Name()))
		if err == nil {
			err = json.Unmarshal(text, &id)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		out = append(out, id)
	}
	slices.SortFunc(out, func(x, y Identity) int { return strings.Compare(x.Name, y.Name) })
	return out, nil
}
