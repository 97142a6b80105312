package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/unit"
)

// view is what the layout prints around a page's own data.
type view struct {
	Title   string
	Here    string // the entry of the navigation that this is
	Session *session
	Version string
	Fleet   bool     // there are hosts to act on
	Explain bool     // there is a page that explains pasted text
	Scripts []string // of assets, run after the page is read
	Data    any
}

func (s *site) functions() template.FuncMap {
	return template.FuncMap{
		"minutes":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"seconds":  func(t time.Time) string { return t.UTC().Format("15:04:05") },
		"moment":   s.moment,
		"fallen":   fallen,
		"hostURL":  hostURL,
		"way":      way,
		"prose":    prose,
		"carriers": carriers,
		"rate":     rate,
		"share":    share,
		"counted":  unit.Counted[int],
		"runURL":   func(name string) string { return "/run/" + url.PathEscape(name) },
		"pathURL":  pathURL,
		"level":    level,
		"short": func(part, whole unit.BitRate) string {
			switch n := level(part, whole); {
			case n < 0 && part > 0:
				return compact(part)
			case n < 0:
				return "?"
			}
			return fmt.Sprintf("%.0f", 100*float64(part/whole))
		},
		"percent": func(ratio float64) float64 { return 100 * ratio },
		"since":   func() []string { return []string{"day", "week", "month", "year"} },
		"change": func(before, after unit.BitRate) string {
			if !(before > 0) {
				return "unknown"
			}
			return fmt.Sprintf("%+.1f %%", 100*(float64(after/before)-1))
		},
	}
}

// mostWhole is the longest name that is kept on one line.
const mostWhole = 24

// way is one host to another, each on one line where a phone has room.
func way(from, to string) template.HTML {
	whole := func(name string) string {
		safe := template.HTMLEscapeString(name)
		if len(name) > mostWhole {
			return safe
		}
		return `<span class="n">` + safe + `</span>`
	}
	return template.HTML(whole(from) + " to " + whole(to)) //nolint:gosec // every part is escaped
}

// prose is a sentence with its code, which backticks enclose, as code.
func prose(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		safe := template.HTMLEscapeString(part)
		if i%2 == 1 {
			safe = "<code>" + safe + "</code>"
		}
		b.WriteString(safe)
	}
	return template.HTML(b.String()) //nolint:gosec // every part is escaped
}

// mostCarriers is how many of a host's links the page of all hosts names.
const mostCarriers = 3

// carriers are what a host has to carry traffic: its bonds and bridges with their ports'
// speeds, and links that are part of none.
func carriers(links []wire.Link) []string {
	var out []string
	for _, l := range links {
		if l.PartOf != "" || l.Name == "lo" {
			continue
		}
		words := l.Name
		var speeds []string
		for _, p := range links {
			if p.PartOf == l.Name {
				speeds = append(speeds, rate(p.Speed))
			}
		}
		switch {
		case len(speeds) > 0 && len(slices.Compact(slices.Sorted(slices.Values(speeds)))) == 1:
			words += fmt.Sprintf(": %d x %s", len(speeds), speeds[0])
		case len(speeds) > 0:
			words += ": " + strings.Join(speeds, " + ")
		case l.Speed > 0:
			words += ": " + rate(l.Speed)
		}
		out = append(out, words)
	}
	if more := len(out) - mostCarriers; more > 1 {
		out = append(out[:mostCarriers], unit.Counted(more, "more link"))
	}
	return out
}

// compact is a rate for a narrow cell: 9.42G.
func compact(r unit.BitRate) string {
	number, size, _ := strings.Cut(r.String(), " ")
	return number + strings.TrimSuffix(size, "bit/s")
}

// rate prints a rate whose zero means unknown.
func rate(r unit.BitRate) string {
	if !(r > 0) {
		return "unknown"
	}
	return r.String()
}

func share(part, whole unit.BitRate) string {
	if !(whole > 0) {
		return "unknown"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part/whole))
}

// level is a share in tenths, as the heat map has it; -1 is unknown.
func level(part, whole unit.BitRate) int {
	if !(whole > 0) {
		return -1
	}
	return int(min(max(float64(part/whole), 0), 1)*10 + 0.5)
}

func pathURL(from, to string) string {
	return "/path?" + url.Values{"from": {from}, "to": {to}}.Encode()
}

func urlQuery(s string) string { return url.QueryEscape(s) }

// local is a page of this site that somebody wants to see; "/" for what is
// none.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n") {
		return "/"
	}
	return to
}

// show writes a page, whole or not at all.
func (s *site) show(w http.ResponseWriter, status int, name string, v view) {
	v.Version, v.Fleet, v.Explain = s.cfg.Version, s.cfg.Fleet != nil, s.cfg.Explain != nil
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name, v); err != nil {
		s.log.Error("fill a page", "page", name, "error", err)
		http.Error(w, "this page cannot be shown: the log of linerate serve says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the reader is gone
}

// failed shows what went wrong in a sentence.
func (s *site) failed(w http.ResponseWriter, who session, err error) {
	status, words := http.StatusInternalServerError, err.Error()
	switch {
	case errors.Is(err, store.ErrNoRun), errors.Is(err, ErrNothing), errors.Is(err, fs.ErrNotExist):
		status = http.StatusNotFound
	case errors.Is(err, errRole), errors.Is(err, fs.ErrPermission):
		status = http.StatusForbidden
	case errors.Is(err, ErrBusy), errors.Is(err, agentapi.ErrState):
		status = http.StatusConflict
	case errors.Is(err, errAsked):
		status = http.StatusBadRequest
	default:
		s.log.Error("show a page", "user", who.Name, "error", err)
	}
	s.show(w, status, "failed.tmpl", view{Title: http.StatusText(status), Session: &who, Data: words})
}

// errAsked is what a reader asked for and cannot be.
var errAsked = errors.New("is an invalid request")

func (s *site) nothing(w http.ResponseWriter, _ *http.Request, who session) {
	s.show(w, http.StatusNotFound, "failed.tmpl", view{Title: http.StatusText(http.StatusNotFound), Session: &who, Data: "there is no such page"})
}
