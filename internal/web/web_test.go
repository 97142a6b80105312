package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	static "github.com/linerate/linerate/internal/page"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// gate is an authenticator with tokens that can be taken away.
type gate struct {
	mu  sync.Mutex
	all map[string]User
}

func (g *gate) Visit(token string) (User, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok := g.all[token]
	return v, ok
}

// runOf is a run of three hosts, the pairs at the rates given.
func runOf(n int, rates map[[2]string]unit.BitRate) record.Record {
	r := record.Record{Schema: record.Schema, ID: fmt.Sprintf("run-%02d", n), Started: time.Date(2026, 5, n+1, 3, 0, 0, 0, time.UTC), Linerate: "test"}
	for pair, rate := range rates {
		r.Trials = append(r.Trials, record.Trial{
			From: pair[0], To: pair[1], Direction: flow.Forward, Streams: 4, Protocol: "tcp", Tool: "linerate", Ports: "chosen", Started: r.Started,
			Goodput: rate, GoodputLow: rate * 0.99, GoodputHigh: rate * 1.01, Ceiling: 9.9e9, CeilingMTU: 9000, Window: 4,
			Finding: &record.Finding{From: pair[0], To: pair[1], Direction: flow.Forward, Streams: 4, Cause: record.LineRate, Summary: "The links are full."},
		})
	}
	return r
}

// site for a test: eleven runs of three hosts, of which the newest lost half on
// one path.
type served struct {
	*httptest.Server
	gate *gate
	hear chan record.Trial
	runs *store.Store
}

func serve(t *testing.T) *served { return serveFleet(t, nil) }

func serveFleet(t *testing.T, fleet Fleet) *served { return serveExplain(t, fleet, nil) }

func serveExplain(t *testing.T, fleet Fleet, explain []byte) *served {
	t.Helper()
	runs, err := store.Open(t.Context(), store.Config{Place: filepath.Join(t.TempDir(), "history.db"), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runs.Close() })
	for n := range 11 {
		rates := map[[2]string]unit.BitRate{{"h1", "h2"}: 9.8e9, {"h2", "h3"}: 9.7e9 + unit.BitRate(n)*1e7, {"h1", "h3"}: 9.85e9}
		if n == 10 {
			rates[[2]string{"h1", "h2"}] = 4.9e9
		}
		if _, err := runs.Add(t.Context(), runOf(n, rates), nil); err != nil {
			t.Fatal(err)
		}
	}
	s := &served{gate: &gate{all: map[string]User{"good": {Name: "eve", Role: agentapi.RoleWatch}}}, hear: make(chan record.Trial), runs: runs}
	h, err := Handler(Config{
		Store: runs, Authenticator: s.gate, Fleet: fleet, Explain: explain, Version: "test", Now: func() time.Time { return time.Date(2026, 5, 12, 0, 0, 0, 0, time.UTC) },
		Trials: func(ctx context.Context, each func(string, record.Trial)) {
			for {
				select {
				case <-ctx.Done():
					return
				case trial := <-s.hear:
					each("eve/run-99", trial)
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewUnstartedServer(h)
	s.Config = Server(t.Context(), h, slog.New(slog.DiscardHandler))
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// user is a browser without a window.
func (s *served) user(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 10 * time.Second}
}

func (s *served) get(t *testing.T, c *http.Client, path string) (*http.Response, string) {
	t.Helper()
	r, err := c.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

func (s *served) post(t *testing.T, c *http.Client, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	r, err := c.PostForm(s.URL+path, form)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r, string(text)
}

func (s *served) in(t *testing.T) *http.Client {
	t.Helper()
	c := s.user(t)
	if r, text := s.post(t, c, "/login", url.Values{"token": {"good"}}); r.StatusCode != http.StatusOK || r.Request.URL.Path != "/" {
		t.Fatalf("%s at %s\n%s", r.Status, r.Request.URL, text)
	}
	return c
}

// Nobody sees anything without a token; with one they are where they wanted to
// be, until it is taken away.
func TestLogin(t *testing.T) {
	s := serve(t)
	c := s.user(t)
	pages := []string{"/", "/runs", "/run/run-03", "/run/run-03/report", "/run/run-03/record.json", "/path?from=h1&to=h2", "/matrix", "/compare", "/live", "/no-such"}
	for _, page := range pages {
		r, text := s.get(t, c, page)
		if r.Request.URL.Path != "/login" || strings.Contains(text, "h1, h2") || strings.Contains(text, "Gbit/s") {
			t.Errorf("%s: at %s\n%s", page, r.Request.URL, text)
		}
	}
	if r, _ := s.get(t, c, "/live/events"); r.Request.URL.Path != "/login" {
		t.Errorf("events: %s", r.Status)
	}
	if r, text := s.post(t, c, "/login", url.Values{"token": {"guess"}, "to": {"/matrix"}}); r.StatusCode != http.StatusForbidden || !strings.Contains(text, "not good") {
		t.Errorf("%s\n%s", r.Status, text)
	}
	r, _ := s.post(t, c, "/login", url.Values{"token": {"good"}, "to": {"/matrix?streams=4"}})
	if r.Request.URL.RequestURI() != "/matrix?streams=4" {
		t.Errorf("at %s", r.Request.URL)
	}
	for _, page := range pages[:len(pages)-1] {
		if r, text := s.get(t, c, page); r.StatusCode != http.StatusOK || r.Request.URL.Path == "/login" {
			t.Errorf("%s: %s\n%s", page, r.Status, text)
		}
	}
	if r, _ := s.get(t, c, "/no-such"); r.StatusCode != http.StatusNotFound {
		t.Errorf("no page: %s", r.Status)
	}
	s.gate.mu.Lock()
	delete(s.gate.all, "good")
	s.gate.mu.Unlock()
	if r, _ := s.get(t, c, "/"); r.Request.URL.Path != "/login" {
		t.Error("the token was taken away, and the session goes on")
	}
}

// A login's cookie is for no script and no other site; where to go next is a
// page of this one.
func TestLoginIsKept(t *testing.T) {
	s := serve(t)
	c := s.user(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for to, want := range map[string]string{
		"/compare": "/compare", "": "/", "//evil.example/": "/", "https://evil.example/": "/", "/\\evil.example": "/", "matrix": "/", "/a\r\nSet-Cookie: x": "/",
	} {
		r, _ := s.post(t, c, "/login", url.Values{"token": {"good"}, "to": {to}})
		if r.Header.Get("Location") != want {
			t.Errorf("%q: to %q, want %q", to, r.Header.Get("Location"), want)
		}
		if cookie := r.Cookies()[0]; !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || len(cookie.Value) < 40 {
			t.Errorf("%+v", cookie)
		}
	}
}

// What would change something needs a form of this session, sent from a page
// of this site.
func TestForgedForms(t *testing.T) {
	s := serve(t)
	c := s.in(t)
	_, text := s.get(t, c, "/")
	form := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(text)
	if form == nil {
		t.Fatal(text)
	}
	for _, wrong := range []string{"", "x", form[1] + "x"} {
		if r, _ := s.post(t, c, "/logout", url.Values{"form": {wrong}}); r.StatusCode != http.StatusForbidden {
			t.Errorf("%q: %s", wrong, r.Status)
		}
	}
	other := s.in(t)
	if r, _ := s.post(t, other, "/logout", url.Values{"form": {form[1]}}); r.StatusCode != http.StatusForbidden {
		t.Errorf("another session's form: %s", r.Status)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/logout", strings.NewReader(url.Values{"form": {form[1]}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", "https://evil.example")
	if r, err := c.Do(request); err != nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("of another site: %v, %v", r, err)
	}
	if r, _ := s.post(t, c, "/logout", url.Values{"form": {form[1]}}); r.Request.URL.Path != "/login" {
		t.Errorf("its own: %s", r.Status)
	}
	if r, _ := s.get(t, c, "/"); r.Request.URL.Path != "/login" {
		t.Error("logged out, and still in")
	}
}

// Every answer forbids what it does not need.
func TestHeaders(t *testing.T) {
	s := serve(t)
	c := s.in(t)
	for _, page := range []string{"/", "/run/run-03/report", "/assets/page.css", "/no-such"} {
		r, _ := s.get(t, c, page)
		csp := r.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe-eval") || strings.Contains(csp, "script-src 'unsafe") || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", page, r.Header)
		}
	}
	if r, _ := s.get(t, c, "/run/run-03/report"); strings.Contains(r.Header.Get("Content-Security-Policy"), "script-src") {
		t.Error("a report may run scripts")
	}
	if r, _ := s.get(t, c, "/assets/"); r.StatusCode == http.StatusOK {
		t.Log("the assets are listed") // they are in the program for everybody to see
	}
}

// TestPages: what the pages say.
func TestPages(t *testing.T) {
	s := serve(t)
	c := s.in(t)
	for _, page := range []struct {
		path   string
		status int
		want   []string
	}{
		{"/", 200, []string{"<h1>One path got worse</h1>", "h1 to h2</a> lost 50&nbsp;%", "4.90 Gbit/s instead of 9.80 Gbit/s since 11 May 03:00", `class="verdict worse">worse`, `class="verdict as usual">as usual`, "9.74 Gbit/s", `href="/runs">All 11 runs`}},
		{"/runs", 200, []string{"11 runs.", "2026-05-11 03:00", `href="/run/run-10"`, "h1, h2, h3"}},
		{"/runs?most=3", 200, []string{"The newest 3 of 11 runs.", "More runs"}},
		{"/run/run-10", 200, []string{`src="/run/run-10/report"`, `/path?from=h1&amp;to=h2`, "record.json"}},
		{"/run/none", 404, []string{"no such run"}},
		{"/path", 200, []string{`name="from"`, `href="/path?from=h1&amp;to=h3"`, "those that got worse first"}},
		{"/path?from=h1&to=h2", 200, []string{"11 runs, median 9.80 Gbit/s", "49.5 %", "line-rate", "data-chart", "worse since 11 May 03:00: 4.90 Gbit/s instead of 9.80 Gbit/s", "&#34;word&#34;:&#34;worse&#34;"}},
		{"/path?from=h1&to=h2&since=week", 200, []string{"7 runs"}},
		{"/path?from=h1&to=h9", 200, []string{"Nothing is kept of h1 to h9"}},
		{"/path?from=h1", 400, []string{"a path has two hosts"}},
		{"/path?from=h1&to=h2&since=aeon", 400, []string{"want day, week, month or year"}},
		{"/matrix", 200, []string{`class="h5"><a href="/path?from=h1&amp;to=h2"`, ">49<", ">99<", "4 streams"}},
		{"/matrix?since=aeon", 400, []string{"want day"}},
		{"/compare?before=run-03&after=run-10", 200, []string{"-50.0 %", `<span class="n">h1</span> to <span class="n">h2</span>`, "9.80 Gbit/s", "4.90 Gbit/s"}},
		{"/compare?after=run-03", 200, []string{"Choose the run before it", "<option selected>run-03</option>"}},
		{"/compare?before=run-03&after=none", 404, []string{"no such run"}},
		{"/path?from=" + url.QueryEscape(`"><script>`) + "&to=x", 200, []string{"&#34;&gt;&lt;script&gt;"}},
	} {
		r, text := s.get(t, c, page.path)
		if r.StatusCode != page.status {
			t.Errorf("%s: %s", page.path, r.Status)
		}
		for _, word := range page.want {
			if !strings.Contains(text, word) {
				t.Errorf("%s: no %s in\n%s", page.path, word, text)
			}
		}
	}
	var r record.Record
	if _, text := s.get(t, c, "/run/run-10/record.json"); json.Unmarshal([]byte(text), &r) != nil || len(r.Trials) != 3 {
		t.Errorf("the record: %.200s", text)
	}
}

// TestEvents: a trial that finishes is said to whoever looks.
func TestEvents(t *testing.T) {
	s := serve(t)
	c := s.in(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/live/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	r, err := c.Do(request)
	if err != nil || r.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", r, err)
	}
	defer r.Body.Close()
	go func() { s.hear <- runOf(12, map[[2]string]unit.BitRate{{"h1", "h2"}: 4.95e9}).Trials[0] }()
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var h heard
		if err := json.Unmarshal([]byte(text), &h); err != nil || h.Run != "eve/run-99" || h.Rate != "4.95 Gbit/s" || h.Share != 0.5 || h.Cause != "line-rate" {
			t.Errorf("%+v, %v", h, err)
		}
		return
	}
	t.Fatalf("no event: %v", lines.Err())
}

// TestSessionsAreBounded: however many log in.
func TestSessionsAreBounded(t *testing.T) {
	now := time.Now()
	s := newSessions(func() time.Time { return now })
	for range mostSessions + 10 {
		s.open(User{Name: "x"}, "t")
	}
	if len(s.all) > mostSessions {
		t.Errorf("%d", len(s.all))
	}
	now = now.Add(longestVisit)
	s.open(User{Name: "x"}, "t")
	if len(s.all) != 1 {
		t.Errorf("%d after all expired", len(s.all))
	}
}

// The vendored script is the one that its licence is for.
// TestExplain: the page that computes in the browser is there where it was named, for
// who has logged in, under its own policy; another file is refused.
func TestExplain(t *testing.T) {
	html, err := static.Make([]byte("\x00asm"), nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	s := serveExplain(t, nil, html)
	if r, _ := s.get(t, s.user(t), "/explain"); r.Request.URL.Path != "/login" {
		t.Errorf("without a login: %s", r.Request.URL)
	}
	own, _ := static.PolicyOf(html)
	r, text := s.get(t, s.in(t), "/explain")
	if policy := r.Header.Get("Content-Security-Policy"); r.StatusCode != http.StatusOK || text != string(html) || !strings.HasPrefix(policy, own) || !strings.HasSuffix(policy, "; frame-ancestors 'self'") || r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%s, %v, %.80s", r.Status, r.Header, text)
	}
	if _, text := s.get(t, s.in(t), "/"); !strings.Contains(text, `href="/explain"`) {
		t.Error("no link to it")
	}
	plain := serve(t)
	if r, _ := plain.get(t, plain.in(t), "/explain"); r.StatusCode != http.StatusNotFound {
		t.Errorf("where none was named: %s", r.Status)
	}
	if _, text := plain.get(t, plain.in(t), "/"); strings.Contains(text, "/explain") {
		t.Error("a link to what is not there")
	}
	if _, err := Handler(Config{Explain: []byte("<html></html>")}); err == nil {
		t.Error("another file is served")
	}
}

func TestAssets(t *testing.T) {
	for _, name := range []string{"uPlot.iife.min.js", "uPlot.min.css", "uPlot.LICENSE", "page.css", "path.js", "live.js", "run.js", "again.js", "icon.svg"} {
		if info, err := os.Stat(filepath.Join("assets", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
