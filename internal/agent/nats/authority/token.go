package authority

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/statefile"
)

// LongestToken is the longest that a token can be good.
const LongestToken = 7 * 24 * time.Hour

// Token is what somebody is given to make an identity from: where the bus is,
// what certificate authority its servers have, and credentials that may ask
// for nothing else, once, for a short while.
type Token struct {
	URL string `json:"url"`
	CA  string `json:"ca"` // fingerprint
	ID  string `json:"id"`
	// JWT and Seed connect as the token's holder.
	JWT  string `json:"jwt"`
	Seed string `json:"seed"`
	// What will be made of it: the authority decides by its own copy.
	Name string        `json:"name"`
	Role agentapi.Role `json:"role"`
}

// tokenMark begins a token, so that one is known when it is found where it
// should not be.
const tokenMark = "linerate1."

// longestToken bounds what is read as a token.
const longestToken = 8 << 10

// String is the token as it is handed over. It is a secret.
func (t Token) String() string {
	text, err := json.Marshal(t)
	if err != nil {
		return "" // never: they are strings
	}
	return tokenMark + base64.RawURLEncoding.EncodeToString(text)
}

// ParseToken reads a token. Errors: ErrToken.
func ParseToken(s string) (Token, error) {
	var t Token
	s = strings.TrimSpace(s)
	rest, ok := strings.CutPrefix(s, tokenMark)
	if !ok || len(s) > longestToken {
		return t, fmt.Errorf("%w: it does not begin with %s", ErrToken, tokenMark)
	}
	text, err := base64.RawURLEncoding.DecodeString(rest)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return t, fmt.Errorf("%w: not whole, copied in part?", ErrToken)
	}
	if t.URL == "" || len(t.CA) != 64 || t.JWT == "" || t.Seed == "" {
		return t, fmt.Errorf("%w: not all is in it", ErrToken)
	}
	for what, name := range map[string]string{"token": t.ID, "name": t.Name} {
		if err := wire.CheckName(what, name); err != nil {
			return t, fmt.Errorf("%w: %w", ErrToken, err)
		}
	}
	return t, nil
}

// issued is the authority's own copy of a token: what may be made of it.
type issued struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Role    agentapi.Role `json:"role"`
	Expires time.Time     `json:"expires"`
	Valid   time.Duration `json:"valid_ns,omitempty"` // of the identity; zero without end
	Replace bool          `json:"replace,omitempty"`
}

// Grant is what a token is for.
type Grant struct {
	Name string
	Role agentapi.Role
	// Within is how long the token is good, Valid how long the identity is that
	// is made from it: zero without end.
	Within, Valid time.Duration
	// Replace takes the name from whoever has it.
	Replace bool
}

// Issue makes a token for the bus at url, good once. Errors: wire.ErrName,
// ErrTaken, ErrMember.
func (a *Authority) Issue(url string, g Grant) (Token, error) {
	if !a.Signs() {
		return Token{}, ErrMember
	}
	if _, err := wire.Permissions(g.Name, g.Role); err != nil {
		return Token{}, err
	}
	if g.Role.Person() && strings.HasSuffix(g.Name, SignerSuffix) {
		return Token{}, fmt.Errorf("user %s: %w: names that end in %s are of users of the web page", g.Name, ErrTaken, SignerSuffix)
	}
	if g.Within <= 0 || g.Within > LongestToken {
		return Token{}, fmt.Errorf("a token for %v: want more than 0 and at most %v", g.Within, LongestToken)
	}
	if old, err := a.identity(g.Name, g.Role); err == nil && old.Revoked.IsZero() && !g.Replace {
		return Token{}, fmt.Errorf("%s %s: %w since %s", g.Role, g.Name, ErrTaken, old.Made.Format(time.DateTime))
	}
	ca, err := a.CA()
	if err != nil {
		return Token{}, err
	}
	block, _ := pem.Decode(ca)
	if block == nil {
		return Token{}, fmt.Errorf("read %s: no PEM in it", caFile)
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	t := Token{URL: url, CA: Fingerprint(block.Bytes), ID: hex.EncodeToString(id[:]), Name: g.Name, Role: g.Role}
	expires := a.now().Add(g.Within)
	if t.JWT, t.Seed, err = a.holder(t.ID, expires); err != nil {
		return Token{}, err
	}
	text, err := json.Marshal(issued{t.ID, g.Name, g.Role, expires.UTC(), g.Valid, g.Replace})
	if err != nil {
		return Token{}, err
	}
	if err := os.MkdirAll(a.path(tokenDir), 0o700); err != nil {
		return Token{}, err
	}
	return t, a.write(filepath.Join(tokenDir, t.ID), string(text))
}

// holder makes the credentials of a token.
func (a *Authority) holder(id string, expires time.Time) (token, seed string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", "", err
	}
	text, err := pair.Seed()
	if err != nil {
		return "", "", err
	}
	claims := jwt.NewUserClaims(public(pair))
	claims.Name = "token-" + id
	claims.Expires = expires.Unix()
	claims.Limits.Subs = 4
	permit(claims, wire.ToEnroll(id))
	token, err = claims.Encode(a.account)
	return token, string(text), err
}

// EnrollRequest is what the holder of a token asks for.
type EnrollRequest struct {
	Key string `json:"key"` // public, of the identity to be
}

// EnrollReply is the identity.
type EnrollReply struct {
	JWT   string `json:"jwt,omitempty"`
	CA    string `json:"ca,omitempty"` // PEM
	Error string `json:"error,omitempty"`
}

// Redeem makes an identity of a new key from a token, once: whatever becomes of it
// the token is used. Errors: ErrToken, ErrTaken, ErrKey.
func (a *Authority) Redeem(id string, req EnrollRequest) (reply EnrollReply, t issued, err error) {
	if !a.Signs() {
		return reply, t, ErrMember
	}
	if err := wire.CheckName("token", id); err != nil {
		return reply, t, fmt.Errorf("%w: %w", ErrToken, err)
	}
	err = a.alone(func() error {
		if t, err = a.use(id); err != nil {
			return err
		}
		p, err := wire.Permissions(t.Name, t.Role)
		if err != nil {
			return err
		}
		if !nkeys.IsValidPublicUserKey(req.Key) {
			return fmt.Errorf("sign %s: not a user's public key: %.60q", t.Name, req.Key)
		}
		if err := a.unused(req.Key); err != nil {
			return err
		}
		reply.JWT, err = a.give(t.Name, t.Role, req.Key, t.Valid, t.Replace, p)
		return err
	})
	if err != nil {
		return EnrollReply{}, t, err
	}
	ca, err := a.CA()
	reply.CA = string(ca)
	return reply, t, err
}

// takeTokens takes away the tokens of a name, of people or of hosts, that nobody
// used, and says how many there were. In alone only.
func (a *Authority) takeTokens(name string, role agentapi.Role) (int, error) {
	files, err := os.ReadDir(a.path(tokenDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	taken := 0
	for _, f := range files {
		if wire.CheckName("token", f.Name()) != nil {
			continue // it was used
		}
		path := a.path(filepath.Join(tokenDir, f.Name()))
		text, err := os.ReadFile(path)
		var t issued
		if err != nil || json.Unmarshal(text, &t) != nil || t.Name != name || kind(t.Role) != kind(role) {
			continue // one that cannot be read gives nothing
		}
		if err := os.Remove(path); err != nil {
			return taken, fmt.Errorf("revoke a token: %w", err)
		}
		taken++
	}
	return taken, nil
}

// use takes a token, which nobody can use again. In alone only. Errors: ErrToken.
func (a *Authority) use(id string) (issued, error) {
	var t issued
	file := a.path(filepath.Join(tokenDir, id))
	used := file + ".used"
	// Whoever renames it first has it.
	if err := os.Rename(file, used); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(used); err == nil {
			return t, fmt.Errorf("%w: it was used before", ErrToken)
		}
		return t, fmt.Errorf("%w: it was not given out here", ErrToken)
	} else if err != nil {
		return t, fmt.Errorf("use token: %w", err)
	}
	text, err := statefile.Read(used, mostState)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return t, fmt.Errorf("read token: %w", err)
	}
	if !a.now().Before(t.Expires) {
		return t, fmt.Errorf("%w: it expired at %s", ErrToken, t.Expires.Format(time.DateTime))
	}
	return t, nil
}
