package web

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Connections that nobody closes push each other out: the process has files left, and the
// next who asks is answered.
func TestConnectionFlood(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	pages := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })
	s := Server(ctx, pages, slog.New(slog.DiscardHandler))
	go func() { _ = s.Serve(l) }()
	defer func() {
		cancel()
		_ = s.Close()
	}()
	ask := func() (net.Conn, string) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		first, _ := bufio.NewReader(c).ReadString('\n')
		return c, strings.TrimSpace(first)
	}
	const most = 128
	var all []net.Conn
	for range 2 * most {
		c, said := ask()
		defer c.Close()
		if said != "HTTP/1.1 200 OK" {
			t.Fatalf("after %d connections: %q", len(all), said)
		}
		all = append(all, c)
	}
	open := 0
	for _, c := range all {
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := io.Copy(io.Discard, c)
		if late, ok := err.(net.Error); ok && late.Timeout() {
			open++
		}
	}
	if open > most {
		t.Errorf("%d connections of one address are open", open)
	}
}

// Whoever guesses tokens writes so many lines a second into the log, and no more.
func TestRefusalsLogged(t *testing.T) {
	var log bytes.Buffer
	h, err := Handler(Config{Authenticator: &gate{}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	guess := func() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the pause is not waited for
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/login", strings.NewReader(url.Values{"token": {"guess"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	for range 1000 {
		guess()
	}
	if lines := strings.Count(log.String(), "\n"); lines == 0 || lines > 200 {
		t.Errorf("%d lines: %.600s", lines, log.String())
	}
}

// The files of the pages have names that the pages know: nobody is given a list.
func TestNoListing(t *testing.T) {
	s := serve(t)
	for path, want := range map[string]int{"/assets/": 404, "/assets/live.js": 200, "/assets/%2e%2e/templates/": 404} {
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}
