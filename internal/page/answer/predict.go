package answer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// mostRows are as many predictions as a page shows, and a second computes.
const mostRows = 3000

// Predicted is what every pair of a fabric file can carry.
type Predicted struct {
	Error string   `json:"error,omitempty"`
	Hint  string   `json:"hint,omitempty"`
	Notes []string `json:"notes"`
	Pairs []Pair   `json:"pairs"`
}

// Pair is two hosts with a row for each direction and stream count.
type Pair struct {
	From string `json:"from"`
	To   string `json:"to"`
	Rows []Row  `json:"rows"`
}

// Row is one prediction, or several that differ in the number of streams alone. Rates
// are payload as text.
type Row struct {
	Direction flow.Direction `json:"direction"`
	Streams   string         `json:"streams"` // "4", "2 to 16"
	Expected  string         `json:"expected"`
	Range     string         `json:"range,omitempty"` // "" where nothing is open
	Ceiling   string         `json:"ceiling"`
	Limit     record.Cause   `json:"limit"`
	Where     string         `json:"where"`
	Why       string         `json:"why"`
}

// Predict answers a fabric file. What is wrong with the file is said in Error.
func Predict(text string) Predicted {
	const name = "fabric.yaml"
	refused := func(err error, hint string) Predicted { return Predicted{Error: err.Error(), Hint: hint} }
	f, err := fabric.Parse(name, []byte(text))
	if err != nil {
		return refused(err, "")
	}
	state, err := declared.State(f)
	switch {
	case errors.Is(err, declared.ErrNoPath):
		return refused(fmt.Errorf("%s: %w", name, err), declared.RemedyFor(err))
	case err != nil:
		return refused(err, "")
	}
	if err := predict.KnownClouds(state); err != nil {
		return refused(fmt.Errorf("%s: %w", name, err), declared.RemedyFor(err))
	}
	m := f.Measure
	if len(m.Streams) == 0 {
		m.Streams = []int{1, 2, 4, 8, 16}
	}
	if len(m.Directions) == 0 {
		m.Directions = flow.Directions()
	}
	pairs := declared.Pairs(state.Paths)
	if n := len(pairs) * len(m.Directions) * len(m.Streams); n > mostRows {
		return refused(fmt.Errorf("%s: %s are %d predictions, the page makes at most %d", name, unit.Counted(len(pairs), "pair"), n, mostRows),
			"name the pairs that matter in paths:, or use `linerate predict`")
	}
	out := Predicted{Notes: leftOut(state), Pairs: []Pair{}}
	for _, paths := range pairs {
		one := state
		one.Paths = paths
		all, err := predict.Matrix(one, m)
		if errors.Is(err, predict.ErrUnknownSpeed) {
			all = declared.Unpredicted(paths[0], m, err)
		} else if err != nil {
			return refused(fmt.Errorf("%s: %w", name, err), declared.RemedyFor(err))
		}
		pair := Pair{From: paths[0].From, To: paths[0].To}
		pair.Rows = rows(all)
		out.Pairs = append(out.Pairs, pair)
	}
	return out
}

// leftOut says which links are left out, since the hosts are managed over them.
func leftOut(f predict.Fabric) []string {
	var hosts []netstate.Host
	for _, name := range slices.Sorted(maps.Keys(f.Hosts)) {
		hosts = append(hosts, f.Hosts[name])
	}
	return append([]string{}, fabric.LeftOut(hosts)...)
}

// rows are predictions as they are shown, neighbours that say the same in one.
func rows(all []predict.Prediction) (out []Row) {
	first := 0 // the fewest streams of the last row
	for _, p := range all {
		r := rowOf(p)
		if n := len(out); n > 0 {
			same := out[n-1]
			if same.Streams = r.Streams; same == r {
				out[n-1].Streams = fmt.Sprintf("%d to %d", first, p.Streams)
				continue
			}
		}
		first = p.Streams
		out = append(out, r)
	}
	return out
}

func rowOf(p predict.Prediction) Row {
	r := Row{Direction: p.Direction, Streams: strconv.Itoa(p.Streams), Expected: rate(p.Rate), Ceiling: rate(p.Ceiling), Limit: p.Limit}
	if p.Rate > 0 && p.Ceiling == 0 {
		r.Expected = "at most " + r.Expected
	} else if low, high := rate(p.RateLow), rate(p.RateHigh); p.RateLow > 0 && p.RateHigh > 0 && low != high {
		r.Range = low + " to " + high
	}
	if len(p.Limits) > 0 {
		r.Where, r.Why = p.Limits[0].Where, p.Limits[0].Why
	}
	return r
}

// rate is a rate as text; zero is unknown.
func rate(r unit.BitRate) string {
	if r == 0 {
		return "unknown"
	}
	return r.String()
}
