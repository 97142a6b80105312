package authority

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// The credentials that a member of a cluster has for its own connections: it
// signs nothing itself.
const (
	serviceCreds = "service.creds"
	storeCreds   = "store.creds"
)

// revokedFile is the newest signed list of revocations.
const revokedFile = "revoked.jwt"

// Service are the credentials of a server's own connection to the account of
// hosts and people, where it answers for the run store and the holders of
// tokens; Store those to the account that JetStream is in, where it may do all;
// System those with which servers are told of a new account. Those that are
// made here live as long as the process needs; a member of a cluster has files.
func (a *Authority) Service() ([]byte, error) { return a.own(a.account, serviceCreds) }

// Store is as Service.
func (a *Authority) Store() ([]byte, error) { return a.own(a.store, storeCreds) }

// System is as Service. Errors: ErrMember.
func (a *Authority) System() ([]byte, error) { return a.own(a.system, "") }

// own are credentials of our own in an account: of the file of a member, or
// made now.
func (a *Authority) own(account nkeys.KeyPair, file string) ([]byte, error) {
	if !a.Signs() && file == "" {
		return nil, ErrMember
	}
	if !a.Signs() {
		text, err := os.ReadFile(a.path(file))
		if err != nil {
			return nil, fmt.Errorf("read a member's credentials: %w", err)
		}
		return text, nil
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	claims := jwt.NewUserClaims(public(pair))
	claims.Name = "linerate-serve"
	if account == a.account {
		permit(claims, wire.OfService())
	}
	token, err := claims.Encode(account)
	if err != nil {
		return nil, err
	}
	text, err := Credentials(token, pair)
	return []byte(text), err
}

// untilFile says of revoked keys, by key, when the last of their tokens expires, in
// seconds since 1970; one that never does is not in it.
const untilFile = "revoked-until.json"

// clocksOff is how wrong a host's clock may be: so long after its token expired a
// key stays revoked.
const clocksOff = 48 * time.Hour

// roomy is how many revoked keys stay though they have expired: whether they have is the
// clock's word, and a list of so many fits a message.
const roomy = 2048

// forgetExpired takes from an account's revocations keys that are good no more
// anyway, those first that expired first, where the list would else not go on fitting a
// message: one revocation by a clock far ahead must not make the others good again. Id
// is the newest. In alone only.
func (a *Authority) forgetExpired(account *jwt.AccountClaims, id Identity) error {
	until := make(map[string]int64)
	text, err := os.ReadFile(a.path(untilFile))
	if err == nil {
		err = json.Unmarshal(text, &until)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read when revoked keys expire: %w", err)
	}
	if !id.Expires.IsZero() {
		until[id.Key] = id.Expires.Unix()
	}
	for _, key := range slices.SortedFunc(maps.Keys(until), func(x, y string) int { return cmp.Compare(until[x], until[y]) }) {
		if len(account.Revocations) <= roomy || !a.now().After(time.Unix(until[key], 0).Add(clocksOff)) {
			break
		}
		delete(until, key)
		delete(account.Revocations, key)
	}
	if text, err = json.Marshal(until); err != nil {
		return err
	}
	return a.write(untilFile, string(text)+"\n")
}

// listRevoked writes the signed list of an account's revocations. In alone only.
func (a *Authority) listRevoked(account *jwt.AccountClaims) error {
	number := a.now().UnixMilli()
	if old, err := a.Revocations(); err == nil {
		trust := claim.NewTrust(public(a.account), a.now)
		if _, err := trust.Learn(old); err == nil {
			number = max(number, trust.Known()+1)
		}
	}
	list, err := claim.Revocations(a.account, number, account.Revocations)
	if err != nil {
		return fmt.Errorf("list revocations: %w", err)
	}
	return a.write(revokedFile, list)
}

// Revocations is the newest signed list of them, for whoever verifies claims.
func (a *Authority) Revocations() (string, error) {
	text, err := os.ReadFile(a.path(revokedFile))
	return string(text), err
}
