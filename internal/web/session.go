package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"sync"
	"time"
)

// Lengths of a login.
const (
	cookieName   = "linerate"
	longestVisit = 12 * time.Hour
	mostSessions = 1000
	// A token is long enough not to be guessed; that somebody tries is logged
	// and slowed.
	failurePause = 500 * time.Millisecond
)

// session is somebody who is logged in.
type session struct {
	User
	until time.Time
	token string // with which the login was made: it may be taken away
	// Form is what forms of this session hold, so that no other page can fill
	// them in.
	Form string
	said string // what its next page tells, once
}

// sessions are by the hash of their cookie: what is in memory logs nobody in.
type sessions struct {
	now func() time.Time
	mu  sync.Mutex
	all map[[sha256.Size]byte]session
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, all: make(map[[sha256.Size]byte]session)}
}

func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// open begins a session and returns its cookie.
func (s *sessions) open(v User, token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	until := now.Add(longestVisit)
	if !v.Until.IsZero() && v.Until.Before(until) {
		until = v.Until
	}
	for key, one := range s.all {
		if !now.Before(one.until) {
			delete(s.all, key)
		}
	}
	for key := range s.all {
		if len(s.all) < mostSessions {
			break
		}
		delete(s.all, key) // whoever it is logs in again
	}
	cookie := secret()
	s.all[sha256.Sum256([]byte(cookie))] = session{User: v, until: until, token: token, Form: secret()}
	return cookie
}

func (s *sessions) of(r *http.Request) (session, bool) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return session{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[sha256.Sum256([]byte(c.Value))]
	return one, ok && s.now().Before(one.until)
}

func (s *sessions) end(r *http.Request) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(c.Value)))
}

// tell keeps what the session's next page is to say.
func (s *sessions) tell(r *http.Request, words string) {
	if c, err := r.Cookie(cookieName); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		key := sha256.Sum256([]byte(c.Value))
		if one, ok := s.all[key]; ok {
			one.said = words
			s.all[key] = one
		}
	}
}

// told is what there is to say, once.
func (s *sessions) told(r *http.Request) string {
	one, _ := s.of(r)
	if one.said != "" {
		s.tell(r, "")
	}
	return one.said
}

// user is who asks, while the session and the token that began it are good.
func (s *site) user(r *http.Request) (session, bool) {
	who, ok := s.sessions.of(r)
	if !ok {
		return session{}, false
	}
	v, ok := s.cfg.Authenticator.Visit(who.token)
	if !ok {
		s.sessions.end(r)
		return session{}, false
	}
	who.User = v
	return who, true
}

// page is a handler for somebody who is logged in.
type page func(http.ResponseWriter, *http.Request, session)

// seen lets in who is logged in; others are asked to. A form must be this
// session's.
func (s *site) seen(next page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, ok := s.user(r)
		if !ok {
			if r.Method == http.MethodGet && r.Header.Get("Accept") != "text/event-stream" {
				http.Redirect(w, r, "/login?to="+urlQuery(r.URL.RequestURI()), http.StatusSeeOther)
				return
			}
			http.Error(w, "log in first", http.StatusUnauthorized)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead &&
			subtle.ConstantTimeCompare([]byte(r.PostFormValue("form")), []byte(who.Form)) != 1 {
			s.rare.Warn("a form that is not this session's", "user", who.Name, "path", r.URL.Path)
			http.Error(w, "this form is old: load the page again, and send it once more", http.StatusForbidden)
			return
		}
		next(w, r, who)
	}
}

func (s *site) loginPage(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.user(r); ok {
		http.Redirect(w, r, local(r.FormValue("to")), http.StatusSeeOther)
		return
	}
	s.show(w, http.StatusOK, "login.tmpl", view{Title: "Log in", Data: loginView{To: local(r.FormValue("to"))}})
}

type loginView struct {
	To     string
	Failed bool
}

func (s *site) login(w http.ResponseWriter, r *http.Request) {
	to := local(r.PostFormValue("to"))
	token := r.PostFormValue("token")
	v, ok := s.cfg.Authenticator.Visit(token)
	if !ok {
		s.rare.Warn("a login was refused", "from", r.RemoteAddr)
		select {
		case <-time.After(failurePause):
		case <-r.Context().Done():
		}
		s.show(w, http.StatusForbidden, "login.tmpl", view{Title: "Log in", Data: loginView{To: to, Failed: true}})
		return
	}
	s.log.Info("logged in", "user", v.Name, "role", v.Role, "from", r.RemoteAddr)
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: s.sessions.open(v, token), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil, // lax: a link in a ticket opens
		MaxAge: int(longestVisit.Seconds()),
	})
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (s *site) logout(w http.ResponseWriter, r *http.Request, _ session) {
	s.sessions.end(r)
	http.SetCookie(w, &http.Cookie{Name: cookieName, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: -1})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
