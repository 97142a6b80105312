package claim

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// authority makes an account's key, and its public half.
func authority(t testing.TB) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair, key
}

// claimOf is what an account signed for somebody, and their key.
func claimOf(t testing.TB, account nkeys.KeyPair, name string, role agentapi.Role, expires time.Time) (string, nkeys.KeyPair) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.NewUserClaims(key)
	claims.Name = name
	claims.Tags.Add(RoleTag + string(role))
	if !expires.IsZero() {
		claims.Expires = expires.Unix()
	}
	token, err := claims.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	return token, pair
}

// signer is somebody whom an account has signed for.
func signer(t testing.TB, account nkeys.KeyPair, name string, role agentapi.Role, expires time.Time) *Signer {
	t.Helper()
	token, pair := claimOf(t, account, name, role, expires)
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	creds, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSigner(creds)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBelieve(t *testing.T) {
	account, key := authority(t)
	other, _ := authority(t)
	now := time.Now()
	clock := now
	trust := NewTrust(key, func() time.Time { return clock })
	eve := signer(t, account, "eve", agentapi.RoleMeasure, now.Add(time.Hour))
	id, err := trust.Believe(eve.Token)
	if err != nil || id.Name != "eve" || id.Role != agentapi.RoleMeasure || id.Key != eve.Who.Key {
		t.Fatalf("%+v, %v", id, err)
	}
	altered := strings.Split(eve.Token, ".")
	altered[1] = strings.ToUpper(altered[1][:10]) + altered[1][10:]
	unnamed, _ := claimOf(t, account, "a.b", agentapi.RoleWatch, time.Time{}) // NewSigner would refuse it
	for name, c := range map[string]struct {
		token string
		want  error
	}{
		"another authority's": {signer(t, other, "eve", agentapi.RoleChange, time.Time{}).Token, ErrClaim},
		"altered":             {strings.Join(altered, "."), ErrClaim},
		"none":                {"", ErrClaim},
		"long":                {strings.Repeat("a", 10000), ErrClaim},
		"a name that is none": {unnamed, wire.ErrName},
	} {
		if _, err := trust.Believe(c.token); !errors.Is(err, c.want) || c.want == ErrClaim && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewTrust("", time.Now).Believe(eve.Token); !errors.Is(err, ErrClaim) {
		t.Errorf("by nobody's authority: %v", err)
	}
	clock = now.Add(2 * time.Hour)
	if _, err := trust.Believe(eve.Token); !errors.Is(err, ErrExpired) {
		t.Errorf("expired: %v", err)
	}
}

func TestVerify(t *testing.T) {
	account, _ := authority(t)
	eve, bob := signer(t, account, "eve", agentapi.RoleWatch, time.Time{}), signer(t, account, "bob", agentapi.RoleWatch, time.Time{})
	signature, err := eve.Sign([]byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if err := eve.Who.Verify([]byte("text"), signature); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"another text": eve.Who.Verify([]byte("texts"), signature), "another's": bob.Who.Verify([]byte("text"), signature),
		"none": eve.Who.Verify([]byte("text"), ""), "no base64": eve.Who.Verify([]byte("text"), "!"), "short": eve.Who.Verify([]byte("text"), signature[:20]),
		"nobody": Identity{}.Verify([]byte("text"), signature),
	} {
		if !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLearn(t *testing.T) {
	account, key := authority(t)
	other, _ := authority(t)
	eve := signer(t, account, "eve", agentapi.RoleChange, time.Time{})
	trust := NewTrust(key, time.Now)
	list := func(by nkeys.KeyPair, number int64, keys map[string]int64) string {
		text, err := Revocations(by, number, keys)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	at := time.Now().Unix()
	for _, c := range []struct {
		name  string
		list  string
		newer bool
		want  error // of learning
		good  error // of eve then
	}{
		{"another authority's", list(other, 9, map[string]int64{eve.Who.Key: at}), false, ErrClaim, nil},
		{"eve's own", func() string {
			claims := jwt.NewGenericClaims(eve.Who.Key)
			claims.Name = listKey
			text, err := claims.Encode(eve.pair)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}(), false, ErrClaim, nil},
		{"empty", list(account, 1, nil), true, nil, nil},
		{"before she was signed for", list(account, 2, map[string]int64{eve.Who.Key: at - 100}), true, nil, nil},
		{"eve", list(account, 4, map[string]int64{eve.Who.Key: at}), true, nil, ErrRevoked},
		{"an older one", list(account, 3, nil), false, nil, ErrRevoked},
		{"the same number", list(account, 4, nil), false, nil, ErrRevoked},
		{"no list", "x", false, ErrClaim, ErrRevoked},
		{"a claim", eve.Token, false, ErrClaim, ErrRevoked},
	} {
		newer, err := trust.Learn(c.list)
		if newer != c.newer || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", c.name, newer, err)
		}
		if err := trust.Good(eve.Who); !errors.Is(err, c.good) {
			t.Errorf("after %s: %v, want %v", c.name, err, c.good)
		}
	}
}

func TestState(t *testing.T) {
	account, key := authority(t)
	trust := NewTrust(key, time.Now)
	h1 := signer(t, account, "h1", agentapi.RoleAgent, time.Now().Add(-time.Minute)) // expired: it is what it last said
	said := func(by *Signer, host string, state string) []byte {
		s := wire.SignedState{Claim: by.Token, Time: 1, State: []byte(state)}
		var err error
		if s.Signature, err = by.Sign(s.Signed(host).Text()); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if state, err := trust.State("h1", said(h1, "h1", `{"instance":"i"}`)); err != nil || state.Instance != "i" {
		t.Errorf("%+v, %v", state, err)
	}
	good := string(said(h1, "h1", `{"instance":"i"}`))
	var parsed wire.SignedState
	if err := json.Unmarshal([]byte(good), &parsed); err != nil {
		t.Fatal(err)
	}
	parsed.State = []byte(`{"instance":"j"}`)
	again, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	altered := string(again)
	// To the byte, whatever JSON would make of it.
	if state, err := trust.State("h1", said(h1, "h1", "{ \"instance\": \"<&>\" }\n")); err != nil || state.Instance != "<&>" {
		t.Errorf("%+v, %v", state, err)
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"another host's":      {string(said(h1, "h2", `{}`)), ErrSignature},
		"altered":             {altered, ErrSignature},
		"of another time":     {strings.Replace(good, `"time_ns":1`, `"time_ns":2`, 1), ErrSignature},
		"a user's":            {string(said(signer(t, account, "h1", agentapi.RoleChange, time.Time{}), "h1", `{}`)), ErrClaim},
		"no JSON":             {"x", wire.ErrParts},
		"nothing":             {"{}", ErrClaim},
		"not what a state is": {string(said(h1, "h1", `[]`)), wire.ErrParts},
	} {
		if _, err := trust.State("h1", []byte(c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := trust.State("h2", []byte(good)); !errors.Is(err, ErrClaim) {
		t.Errorf("under another name: %v", err)
	}
}

func FuzzClaims(f *testing.F) {
	account, key := authority(f)
	f.Add(signer(f, account, "eve", agentapi.RoleChange, time.Time{}).Token)
	list, err := Revocations(account, 1, map[string]int64{"U": 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(list)
	f.Add(`{"claim":"x","state":{}}`)
	trust := NewTrust(key, time.Now)
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := trust.Believe(text); err == nil && id.Authority != key {
			t.Errorf("%q is believed: %+v", text, id)
		}
		_, _ = trust.Learn(text)
		if _, err := trust.State("h", []byte(text)); err == nil {
			t.Errorf("%q is believed to be h's", text)
		}
	})
}
