// Package authority is the state directory of `linerate serve`: the keys that
// sign who is who on the bus, the certificate authority of its servers, the
// tokens that were given out and the identities that were made from them.
// Nothing here connects or listens. Don't let a key that signs leave the
// directory, and don't let a name become a path unchecked.
package authority

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/statefile"
)

// DefaultDir is where root's authority is.
const DefaultDir = "/var/lib/linerate/serve"

// The files of the directory. Those that end in .seed sign: they stay here.
const (
	operatorSeed = "operator.seed"
	operatorJWT  = "operator.jwt"
	accountSeed  = "account.seed"
	accountJWT   = "account.jwt"
	storeSeed    = "store.seed" // of the account that JetStream is in, and nobody but the store
	storeJWT     = "store.jwt"
	systemSeed   = "system.seed"
	systemJWT    = "system.jwt"
	resolverDir  = "jwt" // where the servers keep accounts, by public key
	tokenDir     = "tokens"
	identityDir  = "identities"
	loginDir     = "logins" // by the hash of their tokens
)

// Errors of the authority.
var (
	// ErrToken is a token that gives nothing: used, expired, or not of here.
	ErrToken = errors.New("the token is not good")
	// ErrTaken is a name that another identity has.
	ErrTaken = errors.New("the name is taken")
	// ErrKey is a key that somebody has or had.
	ErrKey = errors.New("the key was signed for before: make a new one")
	// ErrLoginRole is a role that no login has: those of people are.
	ErrLoginRole = errors.New("want watch, measure or change")
	// ErrShared is a state directory that others than its owner may enter.
	ErrShared = errors.New("want a directory of mode 0700")
	// ErrOld is a directory of a version that did not sign requests.
	ErrOld = errors.New("it is of an earlier version, whose hosts and users must be enrolled again: move it away")
	// ErrMember is a directory that runs a server and signs nothing.
	ErrMember = errors.New("no signing keys here: this is a member of a cluster that another directory made")
)

// Authority is an opened state directory.
type Authority struct {
	dir      string
	operator nkeys.KeyPair
	account  nkeys.KeyPair
	store    nkeys.KeyPair
	system   nkeys.KeyPair
	now      func() time.Time
}

// Open reads the directory, or makes it with mode 0700 and new keys where
// there is none. One that others may read is refused.
func Open(dir string) (*Authority, error) {
	a := &Authority{dir: dir, now: time.Now}
	if err := a.private(); err != nil {
		return nil, err
	}
	err := a.whole()
	if errors.Is(err, fs.ErrNotExist) {
		err = a.alone(func() error {
			if err := a.whole(); !errors.Is(err, fs.ErrNotExist) {
				return err // another made it meanwhile
			}
			return a.create()
		})
	}
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	if a.account, err = a.readSeed(accountSeed); errors.Is(err, fs.ErrNotExist) {
		return a, nil // a member
	}
	if err != nil {
		return nil, err
	}
	if a.operator, err = a.readSeed(operatorSeed); err != nil {
		return nil, err
	}
	if a.system, err = a.readSeed(systemSeed); err != nil {
		return nil, err
	}
	if a.store, err = a.readSeed(storeSeed); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open %s: %w", dir, ErrOld)
	}
	return a, err
}

// whole is nil for a directory that has been made, fs.ErrNotExist for one that has not.
func (a *Authority) whole() error {
	_, err := os.Stat(a.path(accountJWT))
	return err
}

// Signs reports whether the directory has the signing keys; one of a member
// of a cluster has not.
func (a *Authority) Signs() bool { return a.account != nil }

func (a *Authority) path(name string) string { return filepath.Join(a.dir, name) }

// private makes the directory, or refuses one that others may enter.
func (a *Authority) private() error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return fmt.Errorf("make state directory: %w", err)
	}
	info, err := os.Lstat(a.dir)
	if err != nil {
		return fmt.Errorf("read state directory: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("state directory %s: %w (%w)", a.dir, ErrShared, fs.ErrPermission)
	}
	if err := statefile.CheckDir(a.dir); err != nil { // another user's
		return fmt.Errorf("state directory: %w (%w)", err, fs.ErrPermission)
	}
	return nil
}

// mostState is more than any file of the directory has.
const mostState = 4 << 20

// read reads a file of the directory: what is in it signs, so no link is followed.
func (a *Authority) read(name string) ([]byte, error) { return statefile.Read(a.path(name), mostState) }

// create makes the operator, its accounts and the certificate authority. The
// account's token is written last: it says that the directory is whole.
func (a *Authority) create() error {
	var err error
	if a.operator, err = a.newSeed(operatorSeed, nkeys.CreateOperator); err != nil {
		return err
	}
	if a.system, err = a.newSeed(systemSeed, nkeys.CreateAccount); err != nil {
		return err
	}
	if a.account, err = a.newSeed(accountSeed, nkeys.CreateAccount); err != nil {
		return err
	}
	if err := a.createCA(); err != nil {
		return err
	}
	operator := jwt.NewOperatorClaims(public(a.operator))
	operator.Name = "linerate"
	operator.SystemAccount = public(a.system)
	token, err := operator.Encode(a.operator)
	if err != nil {
		return err
	}
	if err := a.write(operatorJWT, token); err != nil {
		return err
	}
	system := jwt.NewAccountClaims(public(a.system))
	system.Name = "system"
	if err := a.publish(systemJWT, system); err != nil {
		return err
	}
	if err := a.createStore(); err != nil {
		return err
	}
	// Hosts and people: no JetStream, and nothing of another account.
	account := jwt.NewAccountClaims(public(a.account))
	account.Name = "linerate"
	account.Limits.Imports, account.Limits.Exports = 0, 0
	if err := a.listRevoked(account); err != nil {
		return err
	}
	return a.publish(accountJWT, account)
}

// createStore makes the account that JetStream is in.
func (a *Authority) createStore() (err error) {
	if a.store, err = a.newSeed(storeSeed, nkeys.CreateAccount); err != nil {
		return err
	}
	store := jwt.NewAccountClaims(public(a.store))
	store.Name = "linerate-store"
	store.Limits.Imports, store.Limits.Exports = 0, 0
	store.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit, MaxAckPending: jwt.NoLimit,
	}
	return a.publish(storeJWT, store)
}

// publish signs an account and writes it where the servers find it.
func (a *Authority) publish(name string, claims *jwt.AccountClaims) error {
	token, err := claims.Encode(a.operator)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.path(resolverDir), 0o700); err != nil {
		return err
	}
	if err := a.write(filepath.Join(resolverDir, claims.Subject+".jwt"), token); err != nil {
		return err
	}
	return a.write(name, token)
}

// public is the public key of a pair that was made or read here.
func public(pair nkeys.KeyPair) string {
	key, err := pair.PublicKey()
	if err != nil {
		return "" // never of such a pair; an empty one is refused by whoever gets it
	}
	return key
}

func (a *Authority) newSeed(name string, make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	pair, err := make()
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	return pair, a.write(name, string(seed))
}

func (a *Authority) readSeed(name string) (nkeys.KeyPair, error) {
	text, err := a.read(name)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	pair, err := nkeys.FromSeed(text)
	if err != nil {
		return nil, fmt.Errorf("read key %s: %w", a.path(name), err)
	}
	return pair, nil
}

// write replaces a file of the directory in one step, mode 0600.
func (a *Authority) write(name, text string) error {
	return WritePrivate(a.path(name), text)
}

// WritePrivate replaces a file in one step, mode 0600: whole or not at all,
// also when the power fails.
func WritePrivate(path, text string) error {
	return statefile.Replace(path, []byte(text), 0o600)
}
