package root

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
)

// servedPages is a `linerate serve --web` and where its page is.
func servedPages(t *testing.T, address, state, db string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	p := startWatched(t, "serve", "--listen", free.Addr().String(), "--state", state, "--web", address, "--store", db)
	return awaitWord(t, p, pageAt)
}

// TestServeWeb: a page of what is kept, for who has a token, until it is taken
// away; off loopback with the server's certificate.
func TestServeWeb(t *testing.T) {
	state, db := filepath.Join(t.TempDir(), "serve"), filepath.Join(t.TempDir(), "history.db")
	record := measured(t, "one")
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), `"started":"0001-01-01T00:00:00Z"`, `"started":"2026-05-04T03:00:00Z"`, 1))
	if err := os.WriteFile(record, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := run(t, "", "history", "add", record, "--store", db); o.status != console.ExitDone {
		t.Fatalf("%d %s", o.status, o.stderr)
	}
	page := servedPages(t, "127.0.0.1:0", state, db)
	login := func(words ...string) string {
		o := run(t, "", append([]string{"serve", "login", "--state", state, "--json"}, words...)...)
		var said struct{ Token string }
		if err := json.Unmarshal([]byte(o.stdout), &said); err != nil || o.status != console.ExitDone {
			t.Fatalf("%d %v %s", o.status, err, o.stderr)
		}
		return said.Token
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	eve := &http.Client{Jar: jar, Timeout: 10 * time.Second}
	see := func(r *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := see(eve.Get(page)); strings.Contains(got, "alpha") || !strings.Contains(got, "Log in") {
		t.Errorf("without a token:\n%s", got)
	}
	if got := see(eve.PostForm(page+"login", url.Values{"token": {login("--user", "eve")}})); !strings.Contains(got, "alpha, beta") || !strings.Contains(got, "eve, may watch") {
		t.Errorf("with one:\n%s", got)
	}
	if got := see(eve.Get(page + "run/one/report")); !strings.Contains(got, "single-link") {
		t.Errorf("the report:\n%s", got)
	}
	if o := run(t, "", "serve", "revoke", "--user", "eve", "--state", state); o.status != console.ExitDone || !strings.Contains(o.stdout, "eve is revoked") {
		t.Errorf("revoke: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if got := see(eve.Get(page)); !strings.Contains(got, "Log in") {
		t.Errorf("the login was taken away, and she is in:\n%s", got)
	}
	for _, wrong := range [][]string{{"serve", "login"}, {"serve", "login", "--user", "eve", "--role", "agent"}, {"serve", "login", "--user", "../eve"}, {"serve", "login", "--user", "eve", "--valid", "long"}, {"serve", "--web", "nowhere"}} {
		if o := run(t, "", append(wrong, "--state", state)...); o.status != console.ExitUsage {
			t.Errorf("%v: %d %s", wrong, o.status, o.stderr)
		}
	}
}

// TestServeWebTLS: a token is not readable on its way to another host.
func TestServeWebTLS(t *testing.T) {
	state := filepath.Join(t.TempDir(), "serve")
	page := servedPages(t, "0.0.0.0:0", state, filepath.Join(t.TempDir(), "history.db"))
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" {
		t.Fatalf("%s, %v", page, err)
	}
	ca, err := os.ReadFile(filepath.Join(state, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	r, err := c.Get("https://127.0.0.1:" + u.Port() + "/login")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Error(r.Status)
	}
}
