// Package enroll makes an identity on the bus from a one-time token: the key is
// made here and does not leave the host.
package enroll

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// The files of an identity, in one directory.
const (
	CredsFile = "nats.creds"
	CAFile    = "ca.pem"
	EnvFile   = "nats.env" // where the others are, for a shell and for systemd
)

// Identity is what was made.
type Identity struct {
	Name string
	Role agentapi.Role
	URL  string
	Dir  string
}

// Enroll makes an identity from a token and writes it to dir: the credentials
// with mode 0600. One that is there already is not overwritten unless replace.
// Errors: authority.ErrToken for a token that the authority or its servers do
// not take; fs.ErrExist.
func Enroll(ctx context.Context, t authority.Token, dir string, replace bool) (Identity, error) {
	creds := filepath.Join(dir, CredsFile)
	if _, err := os.Lstat(creds); err == nil && !replace {
		return Identity{}, fmt.Errorf("enroll %s: %s: %w", t.Name, creds, fs.ErrExist)
	}
	// Before the token is used: a directory that cannot be written would waste it.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Identity{}, fmt.Errorf("enroll %s: %w", t.Name, err)
	}
	if err := writable(dir); err != nil {
		return Identity{}, fmt.Errorf("enroll %s: %w", t.Name, err)
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return Identity{}, err
	}
	reply, err := ask(ctx, t, pair)
	if err != nil {
		return Identity{}, fmt.Errorf("enroll %s: %w", t.Name, err)
	}
	if err := ours(reply, t, pair); err != nil {
		return Identity{}, fmt.Errorf("enroll %s: %w", t.Name, err)
	}
	text, err := authority.Credentials(reply.JWT, pair)
	if err != nil {
		return Identity{}, err
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return Identity{}, err
	}
	env := fmt.Sprintf("LINERATE_NATS=%s\nLINERATE_CREDS=%s\nLINERATE_CA=%s\n", t.URL, filepath.Join(absolute, CredsFile), filepath.Join(absolute, CAFile))
	for _, f := range []struct{ name, text string }{{CAFile, reply.CA}, {EnvFile, env}, {CredsFile, text}} {
		if err := authority.WritePrivate(filepath.Join(dir, f.name), f.text); err != nil {
			return Identity{}, fmt.Errorf("enroll %s: write %s: %w", t.Name, f.name, err)
		}
	}
	return Identity{Name: t.Name, Role: t.Role, URL: t.URL, Dir: absolute}, nil
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".linerate-*")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// ask sends the public key to the authority and waits for its answer.
func ask(ctx context.Context, t authority.Token, pair nkeys.KeyPair) (authority.EnrollReply, error) {
	var reply authority.EnrollReply
	key, err := pair.PublicKey()
	if err != nil {
		return reply, err
	}
	conn, err := nats.Connect(t.URL, nats.Secure(pinned(t.CA)), nats.UserJWTAndSeed(t.JWT, t.Seed), nats.CustomInboxPrefix(wire.EnrollInbox(t.ID)),
		nats.Timeout(10*time.Second), nats.NoReconnect())
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return reply, fmt.Errorf("%w: it has expired, or is of another place (%w)", authority.ErrToken, fs.ErrPermission)
	case err != nil:
		return reply, fmt.Errorf("connect to %s: %w", t.URL, err)
	}
	defer conn.Close()
	body, err := json.Marshal(authority.EnrollRequest{Key: key})
	if err != nil {
		return reply, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	m, err := conn.RequestWithContext(ctx, wire.Enroll(t.ID), body)
	if errors.Is(err, nats.ErrNoResponders) {
		return reply, fmt.Errorf("%s: nobody there signs: is `linerate serve` up?", t.URL)
	}
	if err != nil {
		return reply, fmt.Errorf("ask %s: %w", t.URL, err)
	}
	if err := json.Unmarshal(m.Data, &reply); err != nil {
		return reply, fmt.Errorf("read the answer: %w", err)
	}
	if reply.Error != "" {
		return reply, fmt.Errorf("%w: %s (%w)", authority.ErrToken, strings.TrimPrefix(reply.Error, authority.ErrToken.Error()+": "), fs.ErrPermission)
	}
	return reply, nil
}

// pinned trusts servers of the one authority whose fingerprint the token has;
// they send its certificate after their own.
func pinned(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		//nolint:gosec // Verified below, against the authority that the token names.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			roots := x509.NewCertPool()
			found := false
			for _, c := range state.PeerCertificates {
				if authority.Fingerprint(c.Raw) == fingerprint {
					roots.AddCert(c)
					found = true
				}
			}
			if !found {
				return fmt.Errorf("%w, which the token names (%w)", link.ErrUntrusted, fs.ErrPermission)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: state.ServerName})
			return err
		},
	}
}

// ours checks that the answer is an identity of our key, under name and role of
// the token, signed by the authority that signed the token: whoever can answer
// for the servers need not be the authority, and what is enrolled believes the
// claims of whom its own is of.
func ours(reply authority.EnrollReply, t authority.Token, pair nkeys.KeyPair) error {
	key, err := pair.PublicKey()
	if err != nil {
		return err
	}
	given, err := claim.Read(t.JWT)
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	id, err := claim.Read(reply.JWT)
	if err != nil {
		return fmt.Errorf("read the identity: %w", err)
	}
	if id.Key != key || id.Name != t.Name || id.Role != t.Role || id.Authority != given.Authority {
		return fmt.Errorf("%w: the identity is of %s, %s, and not what the token is for, of whom it is (%w)", claim.ErrClaim, id.Name, id.Role, fs.ErrPermission)
	}
	block, _ := pem.Decode([]byte(reply.CA))
	if block == nil || authority.Fingerprint(block.Bytes) != t.CA {
		return errors.New("the certificate authority is not the token's")
	}
	return nil
}
