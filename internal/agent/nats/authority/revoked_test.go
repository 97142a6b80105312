package authority

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
)

// The list of revocations does not outgrow what a message can hold: where it is full
// the revocation that would not be heard is an error. A clock far ahead makes nobody
// good again whom it takes for expired.
func TestNATSSecurityRevocationsGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	a, err := Open(filepath.Join(t.TempDir(), "serve"))
	if err != nil {
		t.Fatal(err)
	}
	newKey := func() string {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		return public(pair)
	}
	revoked := func() map[string]int64 {
		account, err := a.claims()
		if err != nil {
			t.Fatal(err)
		}
		return account.Revocations
	}
	for range 30 { // a page that is started anew, with a visitor
		webSigner, err := a.NewSigner("eve")
		if err != nil {
			t.Fatal(err)
		}
		if err := webSigner.Credentials(agentapi.RoleChange, 6*time.Hour, filepath.Join(t.TempDir(), "eve.creds")); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(revoked()); n != 29 {
		t.Errorf("%d keys are revoked, want 29: none of them has expired", n)
	}
	key := newKey()
	if _, err := a.Sign("mallory", agentapi.RoleWatch, key, 0, false); err != nil {
		t.Fatal(err)
	}
	a.now = func() time.Time { return time.Now().Add(30 * 24 * time.Hour) }
	if err := a.Revoke("mallory", agentapi.RoleWatch); err != nil {
		t.Fatal(err)
	}
	if _, ok := revoked()[key]; !ok || len(revoked()) != 30 {
		t.Errorf("%d keys are revoked, want 30", len(revoked()))
	}
	full := make(map[string]int64)
	for range 12000 {
		full[newKey()] = time.Now().Unix()
	}
	if list, err := claim.Revocations(a.account, 1, full); !errors.Is(err, claim.ErrFull) {
		t.Errorf("a list of %d characters, which no host takes: %v", len(list), err)
	}
}

// TestForgetsExpired: of a long list those go that expired first, and none that may be
// good still.
func TestForgetsExpired(t *testing.T) {
	a := opened(t)
	account, err := a.claims()
	if err != nil {
		t.Fatal(err)
	}
	account.Revocations = make(map[string]int64)
	revoke := func(key string, until time.Time) {
		t.Helper()
		account.Revocations[key] = time.Now().Unix()
		if err := a.forgetExpired(account, Identity{Key: key, Expires: until}); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-365 * 24 * time.Hour)
	revoke("second", long.Add(time.Hour))
	revoke("first", long)
	for n := range roomy - 1 {
		account.Revocations[fmt.Sprint(n)] = 1 // for ever
	}
	revoke("good", time.Now())
	_, first := account.Revocations["first"]
	_, second := account.Revocations["second"]
	if len(account.Revocations) != roomy || first || second {
		t.Errorf("%d keys are revoked, the first %t, the second %t", len(account.Revocations), first, second)
	}
	revoke("better", time.Now())
	if len(account.Revocations) != roomy+1 {
		t.Errorf("%d keys are revoked: one that may be good is forgotten", len(account.Revocations))
	}
}

// TestRevokedAfterTheClockWasSetBack: what was signed while the clock was a day ahead
// is revoked all the same, and so is what the same key was given before that.
func TestRevokedAfterTheClockWasSetBack(t *testing.T) {
	a := opened(t)
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	ahead := time.Now().Add(24 * time.Hour)
	for _, now := range []time.Time{ahead, time.Now()} {
		a.now = func() time.Time { return now }
		if _, err := a.Sign("eve", agentapi.RoleChange, public(pair), 0, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Revoke("eve", agentapi.RoleChange); err != nil {
		t.Fatal(err)
	}
	list, err := a.Revocations()
	if err != nil {
		t.Fatal(err)
	}
	trust := claim.NewTrust(public(a.account), time.Now)
	if _, err := trust.Learn(list); err != nil {
		t.Fatal(err)
	}
	for _, signed := range []time.Time{ahead, time.Now()} {
		id := claim.Identity{Name: "eve", Role: agentapi.RoleChange, Key: public(pair), Authority: public(a.account), Issued: signed}
		if err := trust.Good(id); !errors.Is(err, claim.ErrRevoked) {
			t.Errorf("signed at %v: %v", signed, err)
		}
	}
}
