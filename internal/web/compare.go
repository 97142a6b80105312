package web

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
)

// compareView is two runs side by side.
type compareView struct {
	Before, After string
	Runs          []store.Run // to choose from
	Result        *compare.Result
}

// urgent is a row's place in the table.
func urgent(r compare.Row) int {
	switch r.Verdict {
	case compare.Worse:
		return 0
	case compare.Better:
		return 1
	}
	return 2
}

func (s *site) compare(w http.ResponseWriter, r *http.Request, who session) {
	v := compareView{Before: r.FormValue("before"), After: r.FormValue("after")}
	var err error
	if v.Runs, _, err = s.cfg.Store.Runs(r.Context(), store.Span{}, runsShown); err != nil {
		s.failed(w, who, err)
		return
	}
	if v.Before != "" && v.After != "" {
		before, _, err := s.cfg.Store.Record(r.Context(), v.Before)
		if err != nil {
			s.failed(w, who, err)
			return
		}
		after, _, err := s.cfg.Store.Record(r.Context(), v.After)
		if err != nil {
			s.failed(w, who, err)
			return
		}
		result := compare.Records([]record.Record{before}, []record.Record{after}, compare.Options{})
		// What got worse first.
		slices.SortStableFunc(result.Rows, func(a, b compare.Row) int { return cmp.Compare(urgent(a), urgent(b)) })
		v.Result = &result
	}
	s.show(w, http.StatusOK, "compare.tmpl", view{Title: "Compare two runs", Here: "compare", Session: &who, Data: v})
}
