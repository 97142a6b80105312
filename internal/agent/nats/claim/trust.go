package claim

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Trust is what claims are held against: the fleet's authority, and whom it has
// taken theirs. It is safe for many goroutines.
type Trust struct {
	authority string
	now       func() time.Time

	mu      sync.Mutex
	revoked revocations
}

// NewTrust trusts the claims that an authority signs, a public key; now is the
// clock that they expire by.
func NewTrust(authority string, now func() time.Time) *Trust {
	return &Trust{authority: authority, now: now}
}

// Believe reads a claim and returns whose it is, where the authority signed it
// and it is still good. Errors: ErrClaim, ErrRevoked, ErrExpired, wire.ErrName.
func (t *Trust) Believe(token string) (Identity, error) {
	id, err := Read(token)
	if err != nil {
		return id, err
	}
	return id, t.Good(id)
}

// Good is nil for an identity that is still good. Errors: as Believe.
func (t *Trust) Good(id Identity) error {
	if err := t.Ours(id); err != nil {
		return err
	}
	if !id.Expires.IsZero() && !t.now().Before(id.Expires) {
		return fmt.Errorf("%s, at %s: %w", id.Name, id.Expires.Format(time.DateTime), ErrExpired)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if at, ok := t.revoked.Keys[id.Key]; ok && id.Issued.Unix() <= at {
		return fmt.Errorf("%s: %w", id.Name, ErrRevoked)
	}
	return nil
}

// Ours is nil for an identity of the trusted authority, good or not any more.
// Errors: ErrClaim.
func (t *Trust) Ours(id Identity) error {
	if id.Authority != t.authority || t.authority == "" {
		return fmt.Errorf("%s: %w: it is of another authority", id.Name, ErrClaim)
	}
	return nil
}

// revocations are the keys whose claims the authority has taken away, by when in
// seconds since 1970: what it signed later is good.
type revocations struct {
	Number int64            `json:"number"` // each list has a higher one than the list before
	Keys   map[string]int64 `json:"keys"`
}

// mostRevocations bounds a list of them: it is one message, of at most 1 MiB with
// what is around it. That is some 9,800 keys.
const mostRevocations = 900 << 10

// listKey is where the list stands in its token.
const listKey = "linerate-revoked"

// Revocations is a signed list of the keys whose claims are taken away, by when
// in seconds since 1970, for Learn. Number must be higher than that of every
// list before, and below 2^53. Errors: ErrFull.
func Revocations(account nkeys.KeyPair, number int64, keys map[string]int64) (string, error) {
	public, err := account.PublicKey()
	if err != nil {
		return "", err
	}
	claims := jwt.NewGenericClaims(public)
	claims.Name = listKey
	claims.Data[listKey] = revocations{number, keys}
	list, err := claims.Encode(account)
	if err == nil && len(list) > mostRevocations {
		err = fmt.Errorf("%w: %d", ErrFull, len(keys))
	}
	return list, err
}

// Learn takes a list of revocations, and says whether it is newer than what was
// known: an older one changes nothing. Errors: ErrClaim.
func (t *Trust) Learn(list string) (newer bool, err error) {
	if len(list) > mostRevocations {
		return false, fmt.Errorf("%w: a list of %d characters", ErrClaim, len(list))
	}
	claims, err := jwt.DecodeGeneric(list)
	if err != nil {
		return false, fmt.Errorf("%w: a list of revocations: %w", ErrClaim, err)
	}
	if claims.Issuer != t.authority || claims.Name != listKey {
		return false, fmt.Errorf("%w: a list of revocations of another authority", ErrClaim)
	}
	read, err := readList(claims.Data[listKey])
	if err != nil {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if read.Number <= t.revoked.Number {
		return false, nil
	}
	t.revoked = read
	return true, nil
}

// readList is a list as JSON made it.
func readList(data any) (revocations, error) {
	out := revocations{Keys: make(map[string]int64)}
	fields, _ := data.(map[string]any)
	number, ok := fields["number"].(float64)
	keys, isMap := fields["keys"].(map[string]any)
	if !ok || !isMap && fields["keys"] != nil {
		return out, fmt.Errorf("%w: a list of revocations without number or keys", ErrClaim)
	}
	out.Number = int64(number)
	for key, at := range keys {
		when, ok := at.(float64)
		if !ok {
			return out, fmt.Errorf("%w: a list of revocations without a moment", ErrClaim)
		}
		out.Keys[key] = int64(when)
	}
	return out, nil
}

// Known is the number of the list that is known; zero is none.
func (t *Trust) Known() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.revoked.Number
}
