package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/linerate/linerate/record"
)

func (s *site) live(w http.ResponseWriter, _ *http.Request, who session) {
	s.show(w, http.StatusOK, "live.tmpl", view{Title: "Live", Here: "live", Session: &who, Scripts: []string{"live.js"}, Data: s.cfg.Trials != nil})
}

// heard is a finished trial as the live page shows it.
type heard struct {
	Run       string  `json:"run"`
	At        string  `json:"at"` // UTC
	From      string  `json:"from"`
	To        string  `json:"to"`
	Direction string  `json:"direction"`
	Streams   int     `json:"streams"`
	Rate      string  `json:"rate"`
	Share     float64 `json:"share_ratio"` // of the ceiling; negative is unknown
	Cause     string  `json:"cause"`
	Summary   string  `json:"summary"`
}

// running is a measurement of these pages that goes on, as the live page shows it.
type running struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Who   string `json:"who"`
	Since string `json:"since"` // UTC
	Line  string `json:"line"`
}

// lookEvery is how often the live page is told what runs.
const lookEvery = time.Second

// running are the measurements that go on, as JSON; "" where nobody is asked.
func (s *site) running() string {
	if s.cfg.Fleet == nil {
		return ""
	}
	all := []running{}
	for _, m := range s.cfg.Fleet.Measuring() {
		if !m.Ended {
			all = append(all, running{m.Request.From, m.Request.To, m.Who, m.Started.UTC().Format("15:04:05"), m.Line})
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "" // never: they are strings
	}
	return string(text)
}

// heartbeat keeps proxies from ending a quiet stream.
const heartbeat = 20 * time.Second

// Bounds of streams of events at the same time, in all and of one person: each
// follows the trials of the whole fleet.
const (
	mostFollows      = 256
	mostFollowsOfOne = 16
)

// begin takes a place among the streams of events; false where all are taken.
func (s *site) begin(name string) (end func(), ok bool) {
	s.streams.Lock()
	defer s.streams.Unlock()
	if s.streams.all >= mostFollows || s.streams.of[name] >= mostFollowsOfOne {
		return nil, false
	}
	s.streams.all++
	s.streams.of[name]++
	return func() {
		s.streams.Lock()
		defer s.streams.Unlock()
		s.streams.all--
		if s.streams.of[name]--; s.streams.of[name] == 0 {
			delete(s.streams.of, name)
		}
	}, true
}

// events is the stream of trials as they finish, as long as the login is good.
func (s *site) events(w http.ResponseWriter, r *http.Request, who session) {
	flusher, ok := w.(http.Flusher)
	if !ok || s.cfg.Trials == nil {
		http.Error(w, "no trials are heard of here", http.StatusNotFound)
		return
	}
	end, ok := s.begin(who.Name)
	if !ok {
		http.Error(w, "too many pages are live: close some", http.StatusServiceUnavailable)
		return
	}
	defer end()
	w.Header().Set("Content-Type", "text/event-stream")
	trials := make(chan heard, 64)
	ctx := r.Context()
	go s.cfg.Trials(ctx, func(run string, t record.Trial) {
		select {
		case trials <- heardOf(run, t):
		case <-ctx.Done():
		}
	})
	fmt.Fprint(w, "retry: 3000\n\n")
	flusher.Flush()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	said := "[]"
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if _, ok := s.user(r); !ok {
				return
			}
			fmt.Fprint(w, ": still here\n\n")
		case <-look.C:
			now := s.running()
			if now == said || now == "" {
				continue
			}
			said = now
			fmt.Fprintf(w, "event: running\ndata: %s\n\n", now)
		case t := <-trials:
			text, err := json.Marshal(t)
			if err != nil {
				continue // never: they are strings and numbers
			}
			fmt.Fprintf(w, "event: trial\ndata: %s\n\n", text)
		}
		flusher.Flush()
	}
}

func heardOf(run string, t record.Trial) heard {
	h := heard{Run: run, At: t.Started.UTC().Format("15:04:05"), From: t.From, To: t.To, Direction: string(t.Direction), Streams: t.Streams, Rate: rate(t.Goodput), Share: -1}
	if t.Ceiling > 0 && t.Goodput >= 0 {
		h.Share = min(float64(t.Goodput/t.Ceiling), 2)
	}
	if t.Finding != nil {
		h.Cause, h.Summary = string(t.Finding.Cause), t.Finding.Summary
	}
	return h
}
