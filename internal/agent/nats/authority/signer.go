package authority

import (
	"fmt"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// Signer is an identity by which the server itself asks hosts for somebody who has
// logged in, such as at the web page. Its key never leaves this process but in
// the files that Credentials writes.
type Signer struct {
	of   *Authority
	name string
	pair nkeys.KeyPair
}

// SignerSuffix is what a deputy's name ends with, so that it neither takes the
// place of the identity that somebody enrolled nor looks like it in a host's audit
// log. No token is given out for such a name.
const SignerSuffix = "-web"

// NewSigner makes one for somebody. Its name becomes part of subjects, and stands
// in hosts' audit logs. Errors: wire.ErrName.
func (a *Authority) NewSigner(visitor string) (*Signer, error) {
	name := visitor + SignerSuffix
	if err := wire.CheckName("user", name); err != nil {
		return nil, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	return &Signer{a, name, pair}, nil
}

// Credentials writes a file, mode 0600, that is the deputy with a role for as long
// as valid. Older files of the same deputy stay good until they expire; those of
// an earlier one of that name are revoked. Errors: ErrMember.
func (d *Signer) Credentials(role agentapi.Role, valid time.Duration, file string) error {
	key, err := d.pair.PublicKey()
	if err != nil {
		return err
	}
	token, err := d.of.Sign(d.name, role, key, valid, true)
	if err != nil {
		return err
	}
	text, err := Credentials(token, d.pair)
	if err != nil {
		return err
	}
	if err := WritePrivate(file, text); err != nil {
		return fmt.Errorf("write credentials: %w", err)
	}
	return nil
}

// Credentials is the text of a credentials file, of a signed token and the key that
// it was signed for.
func Credentials(token string, pair nkeys.KeyPair) (string, error) {
	seed, err := pair.Seed()
	if err != nil {
		return "", err
	}
	text, err := jwt.FormatUserConfig(token, seed)
	return string(text), err
}
