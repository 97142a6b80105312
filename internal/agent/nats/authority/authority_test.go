package authority

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

func opened(t *testing.T) *Authority {
	t.Helper()
	a, err := Open(filepath.Join(t.TempDir(), "serve"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Everything in the directory is its owner's alone, and one that is not is not
// used.
func TestDirectoryIsPrivate(t *testing.T) {
	a := opened(t)
	if _, err := a.WriteConfig(ServerConfig{Name: "n", Listen: "127.0.0.1:1", Names: []string{"127.0.0.1", "ctl.example"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Issue("tls://h:1", Grant{Name: "h", Role: agentapi.RoleAgent, Within: time.Minute}); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(a.dir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(a.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(a.dir); !errors.Is(err, fs.ErrPermission) || !errors.Is(err, ErrShared) {
		t.Errorf("a directory that others may enter: %v", err)
	}
}

// A second opening has the same keys; a certificate is kept while it is good
// for the names.
func TestOpenAgain(t *testing.T) {
	a := opened(t)
	names := []string{"127.0.0.1", "ctl"}
	if err := a.Certify(names); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(a.path(serverFile))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(a.dir)
	if err != nil || !again.Signs() || public(again.account) != public(a.account) || public(again.operator) != public(a.operator) {
		t.Fatalf("other keys: %v", err)
	}
	same := func() bool {
		t.Helper()
		now, err := os.ReadFile(a.path(serverFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(now) == string(first)
	}
	if err := again.Certify(names[:1]); err != nil || !same() {
		t.Errorf("a good certificate was replaced: %v", err)
	}
	again.now = func() time.Time { return time.Now().Add(serverLife/2 + time.Hour) }
	if err := again.Certify(names); err != nil || same() {
		t.Errorf("after half its life it is still there: %v", err)
	}
}

// A member of a cluster has no key that signs, and its certificate does while
// it is good.
func TestMember(t *testing.T) {
	a := opened(t)
	dir := filepath.Join(t.TempDir(), "member")
	if err := a.Member(dir, []string{"192.0.2.2", "127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.seed", "ca.key"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) > 0 {
			t.Errorf("a member has %v, %v", found, err)
		}
	}
	m, err := Open(dir)
	if err != nil || m.Signs() {
		t.Fatalf("signs: %v, %v", m.Signs(), err)
	}
	text, err := m.WriteConfig(ServerConfig{Name: "n2", Listen: "192.0.2.2:4222", Names: []string{"192.0.2.2"}, Cluster: "192.0.2.2:6222", Routes: []string{"192.0.2.1:6222"}})
	if err != nil {
		t.Fatal(err)
	}
	if conf, err := os.ReadFile(text); err != nil || !strings.Contains(string(conf), "verify: true") || !strings.Contains(string(conf), `routes: ["tls://192.0.2.1:6222"]`) {
		t.Errorf("%s, %v", conf, err)
	}
	if err := m.Certify([]string{"198.51.100.1"}); !errors.Is(err, ErrMember) {
		t.Errorf("it certified itself: %v", err)
	}
	m.now = func() time.Time { return time.Now().Add(serverLife * 3 / 4) }
	if err := m.Certify([]string{"192.0.2.2"}); err != nil {
		t.Errorf("in the second half of its life: %v", err)
	}
	m.now = func() time.Time { return time.Now().Add(serverLife + time.Hour) }
	if err := m.Certify([]string{"192.0.2.2"}); !errors.Is(err, ErrMember) {
		t.Errorf("expired: %v", err)
	}
	for name, err := range map[string]error{
		"issue":  second(m.Issue("tls://h", Grant{Name: "h", Role: agentapi.RoleAgent, Within: time.Minute})),
		"revoke": m.Revoke("h", agentapi.RoleAgent),
		"sign":   second(m.Sign("h", agentapi.RoleAgent, "", 0, false)),
		"member": m.Member(t.TempDir(), nil),
	} {
		if !errors.Is(err, ErrMember) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Of many that redeem one token at the same time one gets something.
func TestRedeemOnce(t *testing.T) {
	a := opened(t)
	token, err := a.Issue("tls://h:1", Grant{Name: "h", Role: agentapi.RoleAgent, Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	const tries = 20
	errs := make(chan error, tries)
	for range tries {
		go func() {
			_, _, err := a.Redeem(token.ID, EnrollRequest{Key: "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"})
			errs <- err
		}()
	}
	good := 0
	for range tries {
		switch err := <-errs; {
		case err == nil:
			good++
		case !errors.Is(err, ErrToken):
			t.Error(err)
		}
	}
	if good != 1 {
		t.Errorf("%d got something, want 1", good)
	}
	for _, id := range []string{"", "../operator.seed", strings.Repeat("0", 32), token.ID + ".used"} {
		if _, _, err := a.Redeem(id, EnrollRequest{}); !errors.Is(err, ErrToken) {
			t.Errorf("%q: %v", id, err)
		}
	}
	all, err := a.Identities()
	if err != nil || len(all) != 1 || !slices.ContainsFunc(all, func(i Identity) bool { return i.Name == "h" && i.Role == agentapi.RoleAgent }) {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := os.Stat(a.path(operatorSeed)); err != nil {
		t.Error(err)
	}
}

// Of many that are revoked at the same time, by as many openings, none is
// good afterwards: no revocation is lost to another's.
func TestRevokeAtOnce(t *testing.T) {
	a := opened(t)
	const many = 20
	var keys [many]string
	for i := range keys {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = public(pair)
		if _, err := a.Sign(fmt.Sprint("h", i), agentapi.RoleAgent, keys[i], 0, false); err != nil {
			t.Fatal(err)
		}
	}
	errs := make(chan error, many)
	for i := range keys {
		go func() {
			other, err := Open(a.dir)
			if err == nil {
				err = other.Revoke(fmt.Sprint("h", i), agentapi.RoleAgent)
			}
			errs <- err
		}()
	}
	for range keys {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	text, err := a.Account()
	if err != nil {
		t.Fatal(err)
	}
	claims, err := jwt.DecodeAccountClaims(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if claims.Revocations[key] == 0 {
			t.Errorf("h%d is still good", i)
		}
	}
}

// A login is good until it expires or is taken away; what the directory keeps
// of it logs nobody in.
func TestLogin(t *testing.T) {
	a := opened(t)
	token, err := a.IssueLogin("eve", agentapi.RoleWatch, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := a.Login(" " + token + "\n"); err != nil || l.Name != "eve" || l.Role != agentapi.RoleWatch {
		t.Errorf("%+v, %v", l, err)
	}
	kept, err := filepath.Glob(filepath.Join(a.dir, "logins", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	text, err := os.ReadFile(kept[0])
	if err != nil || strings.Contains(string(text), strings.TrimPrefix(token, "linerate2.")) {
		t.Errorf("the token is in the directory: %s, %v", text, err)
	}
	for _, wrong := range []string{"", "linerate2.", token[:len(token)-1], filepath.Base(kept[0]), "linerate2." + filepath.Base(kept[0]), "linerate2.../../operator.seed"} {
		if _, err := a.Login(wrong); !errors.Is(err, ErrToken) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	a.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if _, err := a.Login(token); !errors.Is(err, ErrToken) {
		t.Errorf("expired: %v", err)
	}
	a.now = time.Now
	other, err := a.IssueLogin("bob", agentapi.RoleChange, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := a.EndLogins("eve"); n != 1 || err != nil {
		t.Errorf("%d ended, %v", n, err)
	}
	if _, err := a.Login(token); !errors.Is(err, ErrToken) {
		t.Errorf("taken away: %v", err)
	}
	if _, err := a.Login(other); err != nil {
		t.Errorf("another's: %v", err)
	}
	if _, err := a.IssueLogin("h", agentapi.RoleAgent, 0); !errors.Is(err, ErrLoginRole) {
		t.Errorf("a host: %v", err)
	}
	if _, err := a.IssueLogin("../x", agentapi.RoleWatch, 0); !errors.Is(err, wire.ErrName) {
		t.Errorf("a path: %v", err)
	}
}

// Two that open a new directory at once have one authority: what one of them gave out
// the other would not know.
func TestOpenAtOnce(t *testing.T) {
	for range 10 {
		dir := filepath.Join(t.TempDir(), "serve")
		var all [8]*Authority
		var opening sync.WaitGroup
		for i := range all {
			opening.Go(func() {
				var err error
				if all[i], err = Open(dir); err != nil {
					t.Error(err)
				}
			})
		}
		opening.Wait()
		if t.Failed() {
			return
		}
		for _, a := range all {
			if !a.Signs() || public(a.account) != public(all[0].account) || public(a.operator) != public(all[0].operator) {
				t.Fatal("two authorities in one directory")
			}
		}
	}
}
