// Package claim is who signs on the bus: a claim is a name and a role that the
// fleet's authority signed for somebody's key. Whoever is asked verifies the claim and
// the signature, and believes neither a server nor a subject.
package claim

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// ErrFull is a list of revocations that is longer than a message.
var ErrFull = errors.New("too many keys are revoked: give out identities that expire (--valid)")

// Errors of claims and signatures; each is fs.ErrPermission too.
var (
	ErrClaim     = fmt.Errorf("bad claim (%w)", fs.ErrPermission)
	ErrSignature = fmt.Errorf("bad signature (%w)", fs.ErrPermission)
	ErrRevoked   = fmt.Errorf("the claim was revoked (%w)", fs.ErrPermission)
	ErrExpired   = fmt.Errorf("the claim has expired (%w)", fs.ErrPermission)
)

// RoleTag begins the tag of a user's JWT that says which role it is of.
const RoleTag = "linerate-role:"

// longest bounds what is read as a claim.
const longest = 8 << 10

// Identity is who a claim makes one.
type Identity struct {
	Name      string
	Role      agentapi.Role // "" where the claim does not say
	Key       string        // public
	Authority string        // whose signature the claim has: a public key
	Issued    time.Time
	Expires   time.Time // zero is never
}

// Read reads a claim and checks that whoever it names as its authority signed
// it; whether that is one's own is Trust's to say. Errors: ErrClaim,
// wire.ErrName.
func Read(token string) (Identity, error) {
	if len(token) > longest {
		return Identity{}, fmt.Errorf("%w: %d characters", ErrClaim, len(token))
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrClaim, err)
	}
	who := Identity{Name: claims.Name, Key: claims.Subject, Authority: claims.Issuer, Issued: time.Unix(claims.IssuedAt, 0)}
	for _, tag := range claims.Tags {
		if role, ok := strings.CutPrefix(tag, RoleTag); ok {
			who.Role = agentapi.Role(role)
		}
	}
	if claims.Expires > 0 {
		who.Expires = time.Unix(claims.Expires, 0)
	}
	return who, wire.CheckName("user", who.Name)
}

// Verify is nil where the identity's key signed a text. Errors: ErrSignature.
func (id Identity) Verify(text []byte, signature string) error {
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || len(raw) == 0 {
		return fmt.Errorf("%w: %.20q is none", ErrSignature, signature)
	}
	key, err := nkeys.FromPublicKey(id.Key)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if err := key.Verify(text, raw); err != nil {
		return fmt.Errorf("%w: not of %s's key over this request", ErrSignature, id.Name)
	}
	return nil
}

// Signer signs as somebody.
type Signer struct {
	Token string // the claim
	Who   Identity
	pair  nkeys.KeyPair
}

// NewSigner reads the text of a credentials file. Errors: ErrClaim, wire.ErrName.
func NewSigner(creds []byte) (*Signer, error) {
	token, err := nkeys.ParseDecoratedJWT(creds)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrClaim, err)
	}
	pair, err := nkeys.ParseDecoratedUserNKey(creds)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrClaim, err)
	}
	s := &Signer{Token: token, pair: pair}
	if s.Who, err = Read(token); err != nil {
		return nil, err
	}
	if key, err := pair.PublicKey(); err != nil || key != s.Who.Key {
		return nil, errors.Join(fmt.Errorf("%w: the key beside it is another's", ErrClaim), err)
	}
	return s, nil
}

// Sign is the signature over a text, as a header has it.
func (s *Signer) Sign(text []byte) (string, error) {
	raw, err := s.pair.Sign(text)
	if err != nil {
		return "", fmt.Errorf("sign as %s: %w", s.Who.Name, err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}
