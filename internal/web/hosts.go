package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/unit"
)

// actions adds the pages that reach the fleet.
func (s *site) actions(mux *http.ServeMux) {
	mux.HandleFunc("GET /hosts", s.seen(s.hosts))
	mux.HandleFunc("GET /host/{name}", s.seen(s.named(s.host)))
	mux.HandleFunc("POST /measure", s.may(agentapi.RoleMeasure, s.measure))
	mux.HandleFunc("POST /measure/{id}/stop", s.may(agentapi.RoleMeasure, s.stop))
	mux.HandleFunc("POST /host/{name}/confirm", s.may(agentapi.RoleChange, s.named(s.confirm)))
	mux.HandleFunc("POST /host/{name}/rollback", s.may(agentapi.RoleChange, s.named(s.rollback)))
}

// may lets in who is logged in and has the role.
func (s *site) may(role agentapi.Role, next page) http.HandlerFunc {
	return s.seen(func(w http.ResponseWriter, r *http.Request, who session) {
		if !who.Role.Includes(role) {
			s.log.Warn("not permitted", "user", who.Name, "role", who.Role, "path", r.URL.Path)
			s.failed(w, who, fmt.Errorf("%w: %s needs the role %s (has: %s)", errRole, who.Name, role, who.Role))
			return
		}
		next(w, r, who)
	})
}

// named answers for a path that names a host as hosts can be named.
func (s *site) named(next page) page {
	return func(w http.ResponseWriter, r *http.Request, who session) {
		if err := wire.CheckName("host", r.PathValue("name")); err != nil {
			s.failed(w, who, fmt.Errorf("%w: %w", errAsked, err))
			return
		}
		next(w, r, who)
	}
}

type hostsView struct {
	Hosts     []Host
	Measuring []stoppable
	Running   bool
	Said      string
	MayStart  bool
}

// stoppable is a measurement, and whether whoever looks may end it.
type stoppable struct {
	Measuring
	MayStop bool
}

// hosts are the fleet, what is measured there just now, and the form to start.
func (s *site) hosts(w http.ResponseWriter, r *http.Request, who session) {
	all, err := s.cfg.Fleet.Hosts(r.Context())
	if err != nil {
		s.failed(w, who, err)
		return
	}
	v := hostsView{Hosts: all, Said: s.sessions.told(r), MayStart: who.Role.Includes(agentapi.RoleMeasure)}
	for _, m := range s.cfg.Fleet.Measuring() {
		v.Measuring = append(v.Measuring, stoppable{m, !m.Ended && who.mayStop(m)})
		v.Running = v.Running || !m.Ended
	}
	page := view{Title: "Hosts", Here: "hosts", Session: &who, Data: v}
	if v.Running {
		page.Scripts = []string{"again.js"}
	}
	s.show(w, http.StatusOK, "hosts.tmpl", page)
}

func (s *site) measure(w http.ResponseWriter, r *http.Request, who session) {
	asked, err := request(r)
	if err == nil {
		err = s.cfg.Fleet.Measure(who.User, asked)
	}
	if err != nil {
		s.failed(w, who, err)
		return
	}
	s.log.Info("measure", "user", who.Name, "from", asked.From, "to", asked.To, "streams", asked.Streams, "for", asked.Duration)
	s.sessions.tell(r, fmt.Sprintf("%s to %s is being measured; each trial shows up on the page Live when it is done.", asked.From, asked.To))
	http.Redirect(w, r, "/hosts", http.StatusSeeOther)
}

// mayStop: who may measure stops what they started, who may change any.
func (v User) mayStop(m Measuring) bool {
	return m.Who == v.Name && v.Role.Includes(agentapi.RoleMeasure) || v.Role.Includes(agentapi.RoleChange)
}

func (s *site) stop(w http.ResponseWriter, r *http.Request, who session) {
	for _, m := range s.cfg.Fleet.Measuring() {
		if m.ID == r.PathValue("id") && !who.mayStop(m) {
			s.log.Warn("not permitted", "user", who.Name, "role", who.Role, "path", r.URL.Path, "of", m.Who)
			s.failed(w, who, fmt.Errorf("%w: %s started it, and to stop another's takes the role %s", errRole, m.Who, agentapi.RoleChange))
			return
		}
	}
	if err := s.cfg.Fleet.Stop(who.User, r.PathValue("id")); err != nil {
		s.failed(w, who, err)
		return
	}
	s.log.Info("stop a measurement", "user", who.Name, "id", r.PathValue("id"))
	s.sessions.tell(r, "It is being stopped; what it has measured is kept.")
	http.Redirect(w, r, "/hosts", http.StatusSeeOther)
}

type hostView struct {
	Name      string
	Host      *Host                  // as its agent last said; nil where it never did
	Judged    bool                   // its state was read
	Findings  []diagnosehost.Finding // of its state now, worst first
	Entries   []change               // the newest first
	Problems  []string
	Said      string
	MayChange bool
}

// change is an entry of a host's journal.
type change struct {
	agentapi.JournalEntry
	Steps []string
	// Waits: it is rolled back by itself unless it is confirmed. Stands: it can be rolled
	// back from here.
	Waits, Stands bool
}

func changeOf(e agentapi.JournalEntry) change {
	c := change{JournalEntry: e, Waits: e.State == agentapi.ChangeApplied || e.State == agentapi.ChangeConfirming}
	// A step of a run goes back with the run, on all its hosts.
	c.Stands = c.Waits || e.State == agentapi.ChangeConfirmed && e.Group == ""
	for _, step := range e.Steps {
		c.Steps = append(c.Steps, step.Step.Change())
	}
	return c
}

// host is what is wrong with one, what was changed on it, and what of that waits for
// somebody's word.
func (s *site) host(w http.ResponseWriter, r *http.Request, who session) {
	name := r.PathValue("name")
	reply, err := s.cfg.Fleet.Journal(r.Context(), who.User, name)
	if err != nil {
		s.failed(w, who, err)
		return
	}
	v := hostView{Name: name, Host: s.hostOf(r.Context(), name), Problems: reply.Problems, Said: s.sessions.told(r), MayChange: who.Role.Includes(agentapi.RoleChange)}
	for _, e := range slices.Backward(reply.Entries) {
		v.Entries = append(v.Entries, changeOf(e))
	}
	if state, err := s.cfg.Fleet.Observe(r.Context(), who.User, name); err != nil {
		s.log.Warn("read a host's state", "host", name, "error", err)
		v.Problems = append(v.Problems, "its state could not be read, so that nothing is said of it: "+err.Error())
	} else {
		v.Judged, v.Findings = true, diagnosehost.Judge(state)
	}
	s.show(w, http.StatusOK, "host.tmpl", view{Title: name, Here: "hosts", Session: &who, Data: v})
}

// hostOf is a host as its agent last said.
func (s *site) hostOf(ctx context.Context, name string) *Host {
	all, err := s.cfg.Fleet.Hosts(ctx)
	if err != nil {
		s.log.Warn("read the fleet", "error", err)
		return nil
	}
	if i := slices.IndexFunc(all, func(h Host) bool { return h.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

func (s *site) confirm(w http.ResponseWriter, r *http.Request, who session) {
	name, id := r.PathValue("name"), r.PostFormValue("change")
	s.log.Info("confirm", "user", who.Name, "host", name, "change", id)
	if err := s.cfg.Fleet.Confirm(r.Context(), who.User, name, id); err != nil {
		s.failed(w, who, err)
		return
	}
	s.sessions.tell(r, id+" is confirmed: it stays.")
	http.Redirect(w, r, hostURL(name), http.StatusSeeOther)
}

func (s *site) rollback(w http.ResponseWriter, r *http.Request, who session) {
	name, id := r.PathValue("name"), r.PostFormValue("change")
	s.log.Info("roll back", "user", who.Name, "host", name, "change", id)
	reply, err := s.cfg.Fleet.Rollback(r.Context(), who.User, name, id)
	if err != nil {
		s.failed(w, who, err)
		return
	}
	said := id + ": " + unit.Counted(reply.RolledBack, "step") + " rolled back."
	if len(reply.Left) > 0 {
		said += " Left as somebody else has set it since: " + strings.Join(reply.Left, "; ") + "."
	}
	s.sessions.tell(r, said)
	http.Redirect(w, r, hostURL(name), http.StatusSeeOther)
}

func hostURL(name string) string { return "/host/" + url.PathEscape(name) }
