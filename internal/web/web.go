// Package web is the pages that `linerate serve` shows: what got worse and how every
// path stands, the runs that are kept, one run's report, what a path carried over time, the throughput between all
// hosts, and two runs side by side. Pages are made here, and readable without
// scripts; who sees them has logged in with a token. It must never measure or
// judge, and a report stays package report's. Don't let a page ask another
// server for anything.
package web

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/analysis/history"
	static "github.com/linerate/linerate/internal/page"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
)

// Store is where runs are kept.
type Store interface {
	Runs(ctx context.Context, span store.Span, most int) ([]store.Run, int, error)
	Record(ctx context.Context, name string) (record.Record, []byte, error)
	Lines(ctx context.Context, q store.Query) ([]history.Line, error)
}

// User is who has logged in.
type User struct {
	Name string
	Role agentapi.Role
	// Until is when the login ends; zero is never.
	Until time.Time
}

// Authenticator says who has a token.
type Authenticator interface {
	// Visit is the holder of a token; ok is false for one that is not good.
	Visit(token string) (v User, ok bool)
}

// Config is what the pages are made of.
type Config struct {
	Store         Store
	Authenticator Authenticator
	Version       string
	// Trials is told of every trial from now on until ctx ends; nil where none
	// are heard of.
	Trials func(ctx context.Context, each func(run string, t record.Trial))
	// Explain is the page that `make page` makes; nil where it is not served.
	Explain []byte
	// Fleet is the hosts that users may act on; nil where there are none.
	Fleet  Fleet
	Logger *slog.Logger // nil is silence
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

//go:embed templates/*.tmpl
var templates embed.FS

//go:embed assets
var assets embed.FS

// site is the pages with who is logged in.
type site struct {
	cfg      Config
	pages    *template.Template
	sessions *sessions
	recent   recent
	log      *slog.Logger
	rare     *link.LimitedLog // of what strangers do
	streams  struct {         // of events
		sync.Mutex
		all int
		of  map[string]int // by who reads
	}
}

// Handler answers for all pages. The error is the templates' own, or says that
// Explain is another file.
func Handler(cfg Config) (http.Handler, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &site{cfg: cfg, sessions: newSessions(cfg.Now), log: cfg.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.rare = link.NewLimitedLog(s.log)
	s.streams.of = make(map[string]int)
	var err error
	if s.pages, err = template.New("web").Funcs(s.functions()).ParseFS(templates, "templates/*.tmpl"); err != nil {
		return nil, fmt.Errorf("parse page templates: %w", err)
	}
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", unchanging(named(http.FileServerFS(files)))))
	mux.HandleFunc("GET /login", s.loginPage)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.seen(s.logout))
	mux.HandleFunc("GET /{$}", s.seen(s.status))
	mux.HandleFunc("GET /runs", s.seen(s.runs))
	mux.HandleFunc("GET /run/{name}", s.seen(s.run))
	mux.HandleFunc("GET /run/{name}/report", s.seen(s.report))
	mux.HandleFunc("GET /run/{name}/record.json", s.seen(s.record))
	mux.HandleFunc("GET /path", s.seen(s.path))
	mux.HandleFunc("GET /matrix", s.seen(s.matrix))
	mux.HandleFunc("GET /compare", s.seen(s.compare))
	mux.HandleFunc("GET /live", s.seen(s.live))
	mux.HandleFunc("GET /live/events", s.seen(s.events))
	if cfg.Fleet != nil {
		s.actions(mux)
	}
	if cfg.Explain != nil {
		own, err := static.PolicyOf(cfg.Explain)
		if err != nil {
			return nil, fmt.Errorf("serve the page at /explain: %w", err)
		}
		mux.HandleFunc("GET /explain", s.seen(s.explain(own+"; frame-ancestors 'self'")))
	}
	mux.HandleFunc("/", s.seen(s.nothing))
	return guarded(mux), nil
}

// guarded is what every answer says: nothing but from here, nowhere framed but
// here, nothing kept by proxies. Requests of other sites' pages that would
// change something are refused (Sec-Fetch-Site and Origin).
func guarded(next http.Handler) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		next.ServeHTTP(w, r)
	}))
}

// mostBody bounds what a form may hold.
const mostBody = 64 << 10

// policy is the pages' content security policy; a report, which has its style
// in it, has one of its own.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"

// reportPolicy lets a report have its own style and nothing else: no script,
// no request.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// explain sends the page that computes in the browser, under its own policy.
func (s *site) explain(policy string) func(http.ResponseWriter, *http.Request, session) {
	return func(w http.ResponseWriter, _ *http.Request, _ session) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(s.cfg.Explain) // the reader is gone
	}
}

// named serves files, and lists none.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "" || strings.HasSuffix(r.URL.Path, "/") {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// unchanging lets browsers keep what only a new version changes.
func unchanging(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=3600")
		next.ServeHTTP(w, r)
	})
}
