package web

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
)

// runsShown is how many runs the first page has.
const runsShown = 100

type runsView struct {
	Runs []store.Run
	All  int
	More int // how many to ask for next; zero when all are there
}

// runs lists what is kept, the newest first.
func (s *site) runs(w http.ResponseWriter, r *http.Request, who session) {
	most := runsShown
	if n, err := strconv.Atoi(r.FormValue("most")); err == nil && n > 0 && n <= 100*runsShown {
		most = n
	}
	runs, all, err := s.cfg.Store.Runs(r.Context(), store.Span{}, most)
	if err != nil {
		s.failed(w, who, err)
		return
	}
	v := runsView{Runs: runs, All: all}
	if len(runs) < all {
		v.More = 4 * most
	}
	s.show(w, http.StatusOK, "runs.tmpl", view{Title: "Runs", Here: "runs", Session: &who, Data: v})
}

type runView struct {
	Run     string
	Record  record.Record
	Results []report.Result
	Pairs   [][2]string
	More    int // pairs that are not listed
}

// pairsListed is how many paths a run's page leads to.
const pairsListed = 20

// run is one run: its results, and the whole report in a frame.
func (s *site) run(w http.ResponseWriter, r *http.Request, who session) {
	rec, _, err := s.kept(r.Context(), r.PathValue("name"))
	if err != nil {
		s.failed(w, who, err)
		return
	}
	v := runView{Run: r.PathValue("name"), Record: rec, Results: report.Results(rec)}
	for _, one := range v.Results {
		pair := [2]string{one.From, one.To}
		if n := len(v.Pairs); n == 0 || v.Pairs[n-1] != pair {
			v.Pairs = append(v.Pairs, pair)
		}
	}
	if n := len(v.Pairs); n > pairsListed {
		v.Pairs, v.More = v.Pairs[:pairsListed], n-pairsListed
	}
	s.show(w, http.StatusOK, "run.tmpl", view{Title: "Run " + v.Run, Here: "runs", Session: &who, Scripts: []string{"run.js"}, Data: v})
}

// report is a run's page as `linerate report` writes it.
func (s *site) report(w http.ResponseWriter, r *http.Request, who session) {
	rec, _, err := s.kept(r.Context(), r.PathValue("name"))
	if err != nil {
		s.failed(w, who, err)
		return
	}
	text, err := report.HTML(rec, report.Options{})
	if err != nil {
		s.failed(w, who, err)
		return
	}
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text) // the reader is gone
}

// record is a run's record as it was written.
func (s *site) record(w http.ResponseWriter, r *http.Request, who session) {
	_, text, err := s.kept(r.Context(), r.PathValue("name"))
	if err != nil {
		s.failed(w, who, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="record.json"`)
	_, _ = w.Write(text) // the reader is gone
}

// recent is the run that was read last: its page and its report come one after
// the other, and a large one takes a second to read.
type recent struct {
	mu   sync.Mutex
	name string
	at   time.Time
	rec  record.Record
	text []byte
}

// recentFor is how long a run that was read is good: a run that goes on grows.
const recentFor = 10 * time.Second

func (s *site) kept(ctx context.Context, name string) (record.Record, []byte, error) {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	if now := s.cfg.Now(); s.recent.name != name || now.Sub(s.recent.at) > recentFor {
		rec, text, err := s.cfg.Store.Record(ctx, name)
		if err != nil {
			return rec, nil, err
		}
		s.recent.name, s.recent.at, s.recent.rec, s.recent.text = name, now, rec, text
	}
	return s.recent.rec, s.recent.text, nil
}
