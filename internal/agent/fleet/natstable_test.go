//go:build !aix

package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/enroll"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// cells are what each row of the table in docs/fleet.md tries.
var cells = map[string]func(*testing.T, thief) error{
	"look at a host":             func(t *testing.T, x thief) error { return x.ask(t, agentapi.Observe.Any(), "{}") },
	"send traffic from a host":   func(t *testing.T, x thief) error { return x.ask(t, agentapi.OpenSink.Any(), `{"session":"x"}`) },
	"change a host":              func(t *testing.T, x thief) error { return x.ask(t, agentapi.Rollback.Any(), `{"journal":"none"}`) },
	"ask in another's name":      func(t *testing.T, x thief) error { return x.inName(t) },
	"answer for another host":    func(t *testing.T, x thief) error { return x.answers(t) },
	"say how another host is":    func(t *testing.T, x thief) error { return x.state(t) },
	"write into another's run":   func(t *testing.T, x thief) error { return x.poison(t) },
	"delete what is kept":        func(t *testing.T, x thief) error { return x.wipe(t) },
	"make streams and consumers": func(t *testing.T, x thief) error { return x.consume(t) },
	"hear what others ask and are answered": func(t *testing.T, x thief) error {
		return x.hears(t, "linerate.v2.req.>", "linerate.v2.inbox.adm.>", ">")
	},
	"have a request of another's done again": func(t *testing.T, x thief) error { return x.replay(t) },
	"fill a host's memory":                   func(t *testing.T, x thief) error { return x.fill(t) },
	"let somebody in":                        func(t *testing.T, x thief) error { return x.identity(t) },
	"go on after it was revoked":             func(t *testing.T, x thief) error { return x.lasts(t) },
}

// table reads docs/fleet.md's: row, column, and whether it can.
func table(t *testing.T) (columns []string, rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := bytes.Cut(text, []byte("| Who has it can "))
	if !ok {
		t.Fatal("docs/fleet.md has no table of what stolen credentials can do")
	}
	for i, line := range strings.Split(string(text), "\n") {
		if i > 0 && !strings.HasPrefix(line, "|") {
			return columns, rows
		}
		words := strings.Split(strings.Trim(line, "| "), "|")
		for j := range words {
			words[j] = strings.Trim(words[j], " `")
		}
		switch i {
		case 0:
			columns = words
		case 1: // the rule
		default:
			rows = append(rows, words)
		}
	}
	t.Fatal("docs/fleet.md ends in a table")
	return nil, nil
}

var noted = regexp.MustCompile(`^(yes|no)\b`)

// Every cell of the table in docs/fleet.md, tried with a raw client.
func TestNATSSecurityTable(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	t.Parallel() // it waits for what must not come, mostly
	for name, start := range map[string]func(t *testing.T) *testcluster.Server{
		"one":   func(t *testing.T) *testcluster.Server { return testcluster.Start(t, nil) },
		"three": func(t *testing.T) *testcluster.Server { return testcluster.StartCluster(t).Server },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := attack(t, start(t))
			columns, rows := table(t)
			tried := make(map[string]bool)
			for _, row := range rows {
				try := cells[row[0]]
				if try == nil || len(row) != len(columns)+1 {
					t.Errorf("nothing tries %q", row)
					continue
				}
				tried[row[0]] = true
				for i, column := range columns {
					want := noted.FindString(row[i+1])
					if want == "" {
						t.Errorf("%s, %s: neither yes nor no: %q", row[0], column, row[i+1])
						continue
					}
					t.Run(row[0]+"/"+column, func(t *testing.T) {
						err := try(t, a.thief(t, column))
						if err != nil && !errors.Is(err, errHeld) {
							t.Log(err)
						}
						if done := !errors.Is(err, errHeld); done != (want == "yes") {
							t.Errorf("%v, and the table says %s", err, want)
						}
						if column != "a hostile server" && row[0] != "change a host" {
							a.intact(t)
						}
						_ = os.Remove(a.audit) // of who may change
					})
				}
			}
			for row := range cells {
				if !tried[row] {
					t.Errorf("docs/fleet.md lacks the row %q", row)
				}
			}
			a.ruined(t)
		})
	}
}

// thief has the credentials of a column.
func (a *attacked) thief(t *testing.T, column string) thief {
	t.Helper()
	name := fmt.Sprint("x", time.Now().UnixNano())
	switch column {
	case "watch", "measure", "change":
		return a.with(t, testcluster.Connect(t, a.testServer.As(t, name, agentapi.Role(column))))
	case "a host":
		return a.with(t, testcluster.Connect(t, a.testServer.As(t, name, agentapi.RoleAgent)))
	case "a token":
		token, err := a.testServer.Authority.Issue(a.testServer.URL, authority.Grant{Name: name, Role: agentapi.RoleChange, Within: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return a.with(t, testcluster.Connect(t, tokenCreds(t, a.testServer, token)))
	case "a hostile server":
		// It speaks in every name that it likes and has no key of the authority's; what it
		// signs as is a claim without a role.
		x := a.with(t, testcluster.Connect(t, forge(t, a.testServer, name, "")))
		creds, err := a.testServer.Authority.Store()
		if err != nil {
			t.Fatal(err)
		}
		if x.stored, err = nats.Connect(a.testServer.URL, nats.RootCAs(a.testServer.CA()), nats.UserCredentialBytes(creds)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(x.stored.Close)
		return x
	}
	t.Fatalf("column %q", column)
	return thief{}
}

// tokenCreds are the credentials inside a token, as a file.
func tokenCreds(t *testing.T, r *testcluster.Server, token authority.Token) link.Config {
	t.Helper()
	text := fmt.Sprintf("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n", token.JWT, token.Seed)
	file := filepath.Join(t.TempDir(), enroll.CredsFile)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return link.Config{URL: r.URL, Creds: file, CA: r.CA()}
}

// ruined is what a hostile server can do to what it keeps itself, and that its
// readers are told, or see nothing: none of them is led astray by it.
func (a *attacked) ruined(t *testing.T) {
	t.Helper()
	creds, err := a.testServer.Authority.Store()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(a.testServer.URL, nats.RootCAs(a.testServer.CA()), nats.UserCredentialBytes(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "linerate-hosts")
	if err != nil {
		t.Fatal(err)
	}
	text, err := kv.Get(t.Context(), "db2")
	if err != nil {
		t.Fatal(err)
	}
	for host, forged := range map[string][]byte{"db7": text.Value(), "db8": []byte(`{"state":{}}`), "db9": []byte("\x1b]0;owned\x07")} {
		if _, err := kv.Put(t.Context(), host, forged); err != nil {
			t.Fatal(err)
		}
	}
	head := []byte(`{"version":"0123456789ab","parts_count":1125899906842624,"size_bytes":1,"sha256":"` + strings.Repeat("a", 64) + `"}`)
	if _, err := js.Publish(t.Context(), "linerate.v2.kept.adm.run1.head", head); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	states, refused, err := results.States(t.Context(), a.adm)
	if err != nil || len(states) != 2 || len(refused) != 3 {
		t.Errorf("states %v, refused %v, %v", states, refused, err)
	}
	// A head that says what cannot be is an error, and no panic.
	if _, err := results.Of(t.Context(), a.adm, results.Kept{User: "adm", Name: "run1"}); !errors.Is(err, wire.ErrParts) {
		t.Errorf("a run with a head of 2^50 parts: %v", err)
	}
}
