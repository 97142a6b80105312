package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// raw sends what is no browser's and returns what came back until the server
// hung up, or for a while.
func (s *served) raw(t *testing.T, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		t.Log(err) // it may have hung up in the middle
	}
	said, _ := io.ReadAll(c)
	return string(said)
}

// A form of 10 MB is refused, and not read to its end.
func TestLongBody(t *testing.T) {
	s := serveFleet(t, &squad{})
	c := s.in(t)
	_, page := s.get(t, c, "/hosts")
	_, form, _ := strings.Cut(page, `name="form" value="`)
	form, _, _ = strings.Cut(form, `"`)
	if form == "" {
		t.Fatal("the page has no form")
	}
	for _, path := range []string{"/login", "/logout", "/measure"} {
		fields := url.Values{"form": {form}, "token": {"good"}, "from": {"db1"}, "to": {"db2"}, "streams": {"1"}, "direction": {"forward"}, "seconds": {"5"}}
		body := &counted{r: io.MultiReader(strings.NewReader(fields.Encode()+"&more="), io.LimitReader(letters{}, 10<<20))}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := c.Do(r)
		if err != nil {
			t.Logf("%s: cut off: %v", path, err)
		} else {
			answer.Body.Close()
			if answer.StatusCode < 400 {
				t.Errorf("%s: 10 MB are answered %s at %s", path, answer.Status, answer.Request.URL)
			}
		}
		// What the sockets of both ends hold of it may have been sent.
		if n := body.n.Load(); n > 9<<20 {
			t.Errorf("%s: %d bytes of it were read", path, n)
		}
	}
	if r, _ := s.get(t, c, "/"); r.StatusCode != http.StatusOK || r.Request.URL.Path != "/" {
		t.Errorf("after it: %s at %s", r.Status, r.Request.URL)
	}
}

// letters are as many as somebody reads.
type letters struct{}

func (letters) Read(b []byte) (int, error) { return copy(b, bytes.Repeat([]byte("a"), len(b))), nil }

type counted struct {
	r io.Reader
	n atomic.Int64 // a client may read on after it was answered
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// Of 300 streams of events of one person the first are served, the rest refused;
// another person's is served meanwhile, and a place is free again when its page
// is closed.
func TestEventStreamsAreBounded(t *testing.T) {
	s := serve(t)
	s.gate.mu.Lock()
	s.gate.all["other"] = User{Name: "bob", Role: agentapi.RoleWatch}
	s.gate.mu.Unlock()
	eve, bob := s.in(t), s.user(t)
	s.post(t, bob, "/login", url.Values{"token": {"other"}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	open := func(ctx context.Context, c *http.Client) int {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/live/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/event-stream")
		answer, err := (&http.Client{Jar: c.Jar}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusOK {
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer.StatusCode
	}
	before, got := runtime.NumGoroutine(), map[int]int{}
	for range 300 {
		got[open(ctx, eve)]++
	}
	if got[http.StatusOK] != mostFollowsOfOne || got[http.StatusServiceUnavailable] != 300-mostFollowsOfOne {
		t.Errorf("of 300 streams of events: %v", got)
	}
	if more := runtime.NumGoroutine() - before; more > 20*mostFollowsOfOne {
		t.Errorf("%d goroutines more", more)
	}
	if status := open(ctx, bob); status != http.StatusOK {
		t.Errorf("another person's: %d", status)
	}
	cancel()
	for end := time.Now().Add(20 * time.Second); open(t.Context(), eve) != http.StatusOK; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no place is free when pages were closed")
		}
	}
}

// However many people: all streams together are bounded.
func TestAllEventStreamsAreBounded(t *testing.T) {
	s := &site{}
	s.streams.of = make(map[string]int)
	var ends []func()
	for n := range 10 * mostFollows {
		if end, ok := s.begin(fmt.Sprint("user", n)); ok {
			ends = append(ends, end)
		}
	}
	if len(ends) != mostFollows {
		t.Errorf("%d streams at the same time", len(ends))
	}
	for _, end := range ends {
		end()
	}
	if s.streams.all != 0 || len(s.streams.of) != 0 {
		t.Errorf("%d, %d remain", s.streams.all, len(s.streams.of))
	}
}

// Who sends headers slowly is cut off.
func TestSlowHeaders(t *testing.T) {
	s := serve(t)
	if d := s.Config.ReadHeaderTimeout; d <= 0 || d > 15*time.Second {
		t.Errorf("headers may take %v", d)
	}
	if d := s.Config.ReadTimeout; d <= 0 || d > time.Minute {
		t.Errorf("a body may take %v", d)
	}
	hasty := httptest.NewUnstartedServer(nil)
	hasty.Config = Server(t.Context(), s.Config.Handler, slog.New(slog.DiscardHandler))
	hasty.Config.ReadHeaderTimeout = 300 * time.Millisecond
	hasty.Start()
	defer hasty.Close()
	var all []net.Conn
	for range 50 {
		c, err := net.Dial("tcp", hasty.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n"); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	begin := time.Now()
	for i := 0; time.Since(begin) < time.Second; i++ { // a header each tenth of a second
		for _, c := range all {
			_, _ = fmt.Fprintf(c, "X-%d: y\r\n", i)
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, c := range all {
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		said, err := io.ReadAll(c)
		if e, ok := err.(net.Error); ok && e.Timeout() {
			t.Fatalf("a slow one is served still: %q", said)
		}
		if strings.Contains(string(said), " 200 ") {
			t.Errorf("a slow one was answered %q", said)
		}
	}
}

// What is no HTTP is refused, and the pages go on.
func TestMalformed(t *testing.T) {
	s := serve(t)
	long := strings.Repeat("a", 2*mostHeader)
	for name, text := range map[string]string{
		"no request":      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n",
		"no version":      "GET /\r\n\r\n",
		"a future one":    "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
		"no host":         "GET / HTTP/1.1\r\n\r\n",
		"two hosts":       "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"a space":         "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
		"two lengths":     "POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"minus a length":  "POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"a chunk of what": "POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\nzz\r\n",
		"other encodings": "POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"a long header":   "GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + long + "\r\n\r\n",
		"a long path":     "GET /" + long + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"a NUL":           "GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
	} {
		line, _, _ := strings.Cut(s.raw(t, text), "\r\n")
		if !strings.HasPrefix(line, "HTTP/1.1 4") && !strings.HasPrefix(line, "HTTP/1.1 5") {
			t.Errorf("%s is answered %.80q", name, line)
		}
	}
	if r, _ := s.get(t, s.in(t), "/"); r.StatusCode != http.StatusOK {
		t.Errorf("after it: %s", r.Status)
	}
}
