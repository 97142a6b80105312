//go:build !aix

package fleet

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/enroll"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// Who has the directory of a member of a cluster answers the holder of a token
// before the authority does. What he signs himself is no identity: a host that
// took it would believe every claim that he makes.
func TestNATSSecurityEnrollForged(t *testing.T) {
	c := testcluster.StartBare(t) // the authority's answer comes too late
	text, err := c.Authority.Service()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(c.URL, nats.RootCAs(c.CA()), nats.UserCredentialBytes(text), nats.RetryOnFailedConnect(true))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ca, err := os.ReadFile(c.CA())
	if err != nil {
		t.Fatal(err)
	}
	own, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	ours := accountOf(t, c.Server, "account.seed")
	for name, forged := range map[string]struct {
		by   nkeys.KeyPair
		role agentapi.Role
	}{"of another authority": {own, agentapi.RoleAgent}, "of another role": {ours, agentapi.RoleChange}} {
		sub, err := conn.Subscribe(wire.Enroll("*"), func(m *nats.Msg) {
			var req authority.EnrollRequest
			_ = json.Unmarshal(m.Data, &req)
			claims := jwt.NewUserClaims(req.Key)
			claims.Name = "db7"
			claims.Tags.Add(claim.RoleTag + string(forged.role))
			token, err := claims.Encode(forged.by)
			if err != nil {
				t.Error(err)
			}
			body, _ := json.Marshal(authority.EnrollReply{JWT: token, CA: string(ca)})
			_ = m.Respond(body)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.FlushTimeout(10 * time.Second); err != nil {
			t.Fatal(err)
		}
		token, err := c.Authority.Issue(c.URL, authority.Grant{Name: "db7", Role: agentapi.RoleAgent, Within: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if got, err := enroll.Enroll(t.Context(), token, dir, false); !errors.Is(err, claim.ErrClaim) {
			t.Errorf("%s: enrolled %v, %v", name, got, err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%s: %v was written, %v", name, files, err)
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
	}
}

// redeem uses a token with a key of one's own choice.
func redeem(t *testing.T, r *testcluster.Server, g authority.Grant, key string) (authority.Token, error) {
	t.Helper()
	g.Within = time.Minute
	token, err := r.Authority.Issue(r.URL, g)
	if err != nil {
		t.Fatal(err)
	}
	return token, redeemed(t, r, token, key)
}

func redeemed(t *testing.T, r *testcluster.Server, token authority.Token, key string) error {
	t.Helper()
	conn := testcluster.Connect(t, tokenCreds(t, r, token))
	sub, err := conn.SubscribeSync(wire.EnrollInbox(token.ID) + ".>")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := json.Marshal(authority.EnrollRequest{Key: key})
	if err := conn.PublishRequest(wire.Enroll(token.ID), wire.EnrollInbox(token.ID)+".x", body); err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsg(5 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var reply authority.EnrollReply
	if err := json.Unmarshal(m.Data, &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Error != "" {
		return errors.New(reply.Error)
	}
	return nil
}

// Whoever is given less with --replace does not keep more by redeeming the token
// with the key that they have.
func TestNATSSecurityReplacedKey(t *testing.T) {
	r := testcluster.Start(t, nil)
	eve := signerOf(t, testcluster.Connect(t, r.As(t, "eve", agentapi.RoleChange)))
	trust := func() *claim.Trust {
		list, err := r.Authority.Revocations()
		if err != nil {
			t.Fatal(err)
		}
		trust := claim.NewTrust(eve.Who.Authority, time.Now)
		if _, err := trust.Learn(list); err != nil {
			t.Fatal(err)
		}
		return trust
	}
	if _, err := redeem(t, r, authority.Grant{Name: "eve", Role: agentapi.RoleWatch, Replace: true}, eve.Who.Key); err == nil {
		if _, err := trust().Believe(eve.Token); !errors.Is(err, claim.ErrRevoked) {
			t.Errorf("eve, who may watch now, may change too: %v", err)
		}
	}
	// Nor is another's key taken, which would be revoked with one's own name.
	if _, err := redeem(t, r, authority.Grant{Name: "mallory", Role: agentapi.RoleWatch}, eve.Who.Key); err == nil {
		if err := r.Authority.Revoke("mallory", agentapi.RoleWatch); err != nil {
			t.Fatal(err)
		}
		if _, err := trust().Believe(eve.Token); err != nil {
			t.Errorf("mallory was revoked, and eve is: %v", err)
		}
	}
	// Nor one that was revoked, under another name.
	if err := r.Authority.Revoke("eve", agentapi.RoleChange); err != nil {
		t.Fatal(err)
	}
	if _, err := redeem(t, r, authority.Grant{Name: "trent", Role: agentapi.RoleWatch}, eve.Who.Key); err == nil {
		t.Error("a key that was revoked is given a new name")
	}
	if _, key := testcluster.Key(t); key != "" {
		if _, err := redeem(t, r, authority.Grant{Name: "trent", Role: agentapi.RoleWatch}, key); err != nil {
			t.Errorf("a new key: %v", err)
		}
	}
}

// A token that was given out and not used yet is worth nothing when its name is
// revoked.
func TestNATSSecurityRevokedToken(t *testing.T) {
	r := testcluster.Start(t, nil)
	r.As(t, "eve", agentapi.RoleChange)
	token, err := r.Authority.Issue(r.URL, authority.Grant{Name: "eve", Role: agentapi.RoleChange, Within: time.Hour, Replace: true})
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.Authority.Issue(r.URL, authority.Grant{Name: "eve", Role: agentapi.RoleAgent, Within: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Authority.Revoke("eve", agentapi.RoleChange); err != nil {
		t.Fatal(err)
	}
	_, key := testcluster.Key(t)
	if err := redeemed(t, r, token, key); err == nil || !strings.Contains(err.Error(), "the token is not good") {
		t.Errorf("eve was revoked and came back: %v", err)
	}
	if err := redeemed(t, r, other, key); err != nil {
		t.Errorf("the host called eve: %v", err)
	}
	// One that was given out by mistake, and that nobody used.
	token, err = r.Authority.Issue(r.URL, authority.Grant{Name: "mallory", Role: agentapi.RoleChange, Within: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Authority.Revoke("mallory", agentapi.RoleChange); err != nil {
		t.Errorf("revoke a token: %v", err)
	}
	if err := redeemed(t, r, token, key); err == nil {
		t.Error("mallory was taken back and came")
	}
	if err := r.Authority.Revoke("nobody", agentapi.RoleChange); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nobody: %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(r.Dir, "tokens", token.ID)); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// A name that the web page asks under for its visitors is nobody else's.
func TestNATSSecuritySignerName(t *testing.T) {
	r := testcluster.Start(t, nil)
	if _, err := r.Authority.Issue(r.URL, authority.Grant{Name: "eve-web", Role: agentapi.RoleChange, Within: time.Minute}); !errors.Is(err, authority.ErrTaken) {
		t.Errorf("a token for eve-web: %v", err)
	}
	if _, err := r.Authority.Issue(r.URL, authority.Grant{Name: "db-web", Role: agentapi.RoleAgent, Within: time.Minute}); err != nil {
		t.Errorf("a host called db-web: %v", err)
	}
	if _, err := r.Authority.IssueLogin(strings.Repeat("a", 60), agentapi.RoleWatch, 0); !errors.Is(err, wire.ErrName) {
		t.Errorf("a login whose deputy has no name: %v", err)
	}
}
