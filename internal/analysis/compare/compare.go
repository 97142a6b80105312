// Package compare sets what was measured before against what was measured
// after: both sides' results matched, each difference with its interval, and
// whether chance explains it. It must never read a file or measure. Don't call
// anything better by a fixed threshold, nor by what one run cannot know.
package compare

import (
	"cmp"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Verdict is what a comparison shows.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Same: whatever difference there is, it is smaller than what matters.
	Same Verdict = "same"
	// NotShown: chance explains the difference, and a difference that matters
	// is not ruled out either.
	NotShown Verdict = "no difference shown"
	// TooFew: how much a measurement varies is not known on both sides.
	TooFew Verdict = "too few data"
)

// Verdicts lists them all.
func Verdicts() []Verdict { return []Verdict{Better, Worse, Same, NotShown, TooFew} }

// Key is what trials that are compared have in common.
type Key struct {
	From      string         `json:"from"`
	To        string         `json:"to"`
	Direction flow.Direction `json:"direction"`
	Streams   int            `json:"streams"`
	Protocol  string         `json:"protocol"`
	Variant   string         `json:"variant,omitempty"`
	Phase     record.Phase   `json:"phase,omitempty"`
}

// Options are what to compare by. The zero Options are 5 % and no least
// effect.
type Options struct {
	// Level is how often all verdicts together may name a difference where
	// there is none; zero is 0.05.
	Level float64
	// MinEffect is the share of the rate below which a difference does not
	// matter.
	MinEffect float64
}

// Row is one matched measurement.
type Row struct {
	Key
	Before unit.BitRate `json:"before_bps"`
	After  unit.BitRate `json:"after_bps"`
	// Change is after over before less one, Low and High its 95 % interval;
	// nil where the variation is not known.
	Change float64  `json:"change_ratio"`
	Low    *float64 `json:"change_low_ratio"`
	High   *float64 `json:"change_high_ratio"`
	// P is the test's own probability, Adjusted that with all rows considered
	// (Holm); nil where nothing was tested.
	P        *float64 `json:"p_ratio"`
	Adjusted *float64 `json:"p_adjusted_ratio"`
	// Test says what was tested, and over what.
	Test    string  `json:"test"`
	Verdict Verdict `json:"verdict"`
	// BeforeRuns and AfterRuns are how many trials each side has.
	BeforeRuns int     `json:"before_runs_count"`
	AfterRuns  int     `json:"after_runs_count"`
	CPU        []Cores `json:"cpu"`

	few string // why nothing could be tested; "" it was
}

// Result is a whole comparison.
type Result struct {
	Rows    []Row     `json:"trials"`
	Latency []Latency `json:"latency"`
	// Unmatched were measured on one side only.
	Unmatched []Unmatched `json:"unmatched"`
	// Differences are what else is different between the sides, and may be
	// the reason.
	Differences []Difference `json:"differences"`
	Notes       []string     `json:"notes"`
}

// Unmatched is a measurement that one side lacks.
type Unmatched struct {
	Key
	Side string `json:"side"` // "before" or "after": the one that has it
}

// Count is how many rows have the verdict.
func (r Result) Count(v Verdict) int {
	n := 0
	for _, row := range r.Rows {
		if row.Verdict == v {
			n++
		}
	}
	return n
}

// Records compares the trials of some records with those of others. Several
// records a side are runs of the same thing: then what counts is how much
// runs differ, not how much one run varies.
func Records(before, after []record.Record, o Options) Result {
	before, again := once(before)
	after, againAfter := once(after)
	out := trials(gather(before), gather(after), o)
	for _, id := range append(again, againAfter...) {
		out.Notes = append(out.Notes, "record "+id+" is named twice: it counts once")
	}
	out.Latency = latencies(before, after)
	if len(before) > 0 && len(after) > 0 {
		out.Differences = Surroundings(before[0], after[0])
	}
	return out
}

// Surroundings is what else differs between two runs: the hosts, and the
// program.
func Surroundings(before, after record.Record) []Difference {
	out := Environments(before.Environment, after.Environment)
	if a, b := before.Linerate, after.Linerate; a != b {
		out = append(out, Difference{What: "linerate", Before: a, After: b})
	}
	return out
}

// once is records without those that are there already, and the names of these:
// a run that is counted twice would seem to repeat itself perfectly.
func once(records []record.Record) (out []record.Record, again []string) {
	type run struct {
		id      string
		started int64
	}
	seen := make(map[run]bool)
	for _, r := range records {
		k := run{r.ID, r.Started.UnixNano()}
		if r.ID != "" && seen[k] {
			again = append(again, r.ID)
			continue
		}
		seen[k] = true
		out = append(out, r)
	}
	return out, again
}

// Phases compares what one record measured before a change with what it
// measured after; ok is false for a record without the two.
func Phases(r record.Record, o Options) (out Result, ok bool) {
	before, after := r, r
	before.Trials, after.Trials = nil, nil
	for _, t := range r.Trials {
		phase := t.Phase
		t.Phase = ""
		switch phase {
		case record.PhaseBefore:
			before.Trials = append(before.Trials, t)
		case record.PhaseAfter:
			after.Trials = append(after.Trials, t)
		}
	}
	if len(before.Trials) == 0 || len(after.Trials) == 0 {
		return Result{}, false
	}
	out = trials(gather([]record.Record{before}), gather([]record.Record{after}), o)
	if len(r.Environment.After) > 0 {
		changed := r.Environment
		changed.Hosts = changed.After
		out.Differences = Environments(r.Environment, changed)
	}
	return out, true
}

// side is the trials of one side by what they measure.
type side struct {
	keys []Key
	of   map[Key][]record.Trial
}

func keyOf(t record.Trial) Key {
	k := Key{From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Protocol: cmp.Or(t.Protocol, "tcp"), Variant: t.Variant, Phase: t.Phase}
	if k.Phase == record.PhaseStep {
		k.Variant = cmp.Or(k.Variant, t.Step)
	}
	return k
}

func gather(records []record.Record) side {
	s := side{of: make(map[Key][]record.Trial)}
	for _, r := range records {
		for _, t := range r.Trials {
			if t.Goodput <= 0 {
				continue // nothing came through: no share of it can be told
			}
			k := keyOf(t)
			if s.of[k] == nil {
				s.keys = append(s.keys, k)
			}
			s.of[k] = append(s.of[k], t)
		}
	}
	return s
}

// pairs are the pairs of hosts of a side.
func (s side) pairs() [][2]string {
	var out [][2]string
	for _, k := range s.keys {
		if p := [2]string{k.From, k.To}; !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// named is the side with its one pair of hosts called otherwise.
func (s side) named(pair [2]string) side {
	out := side{of: make(map[Key][]record.Trial)}
	for _, k := range s.keys {
		renamed := k
		renamed.From, renamed.To = pair[0], pair[1]
		out.keys = append(out.keys, renamed)
		out.of[renamed] = s.of[k]
	}
	return out
}

func trials(before, after side, o Options) Result {
	out := Result{Rows: []Row{}, Latency: []Latency{}, Unmatched: []Unmatched{}, Differences: []Difference{}, Notes: []string{}}
	b, a := before.pairs(), after.pairs()
	if len(b) == 1 && len(a) == 1 && b[0] != a[0] {
		// Another tool's file, or a host that was named by its address.
		out.Notes = append(out.Notes, "the hosts are called "+b[0][0]+" and "+b[0][1]+" before, "+a[0][0]+" and "+a[0][1]+" after: taken for the same")
		after = after.named(b[0])
	}
	single := false
	for _, k := range before.keys {
		if after.of[k] == nil {
			out.Unmatched = append(out.Unmatched, Unmatched{k, "before"})
			continue
		}
		row := compareRuns(k, before.of[k], after.of[k])
		single = single || row.BeforeRuns == 1 && row.AfterRuns == 1
		if note := "too few data where there is " + row.few; row.few != "" && !slices.Contains(out.Notes, note) {
			out.Notes = append(out.Notes, note)
		}
		out.Rows = append(out.Rows, row)
	}
	for _, k := range after.keys {
		if before.of[k] == nil {
			out.Unmatched = append(out.Unmatched, Unmatched{k, "after"})
		}
	}
	Judge(out.Rows, o)
	if single {
		out.Notes = append(out.Notes, "with one run a side, what differs from run to run is not known: several records a side would show it")
	}
	return out
}

// Judge adjusts the probabilities of rows for their number (Holm) and gives
// them their verdicts.
func Judge(rows []Row, o Options) {
	level := cmp.Or(o.Level, 0.05)
	var ps []float64
	var of []int
	for i, r := range rows {
		if r.P != nil {
			ps, of = append(ps, *r.P), append(of, i)
		}
	}
	for i, p := range Holm(ps) {
		rows[of[i]].Adjusted = &p
	}
	for i := range rows {
		rows[i].Verdict = rows[i].verdict(level, o.MinEffect)
	}
}

func (r Row) verdict(level, least float64) Verdict {
	switch {
	case r.Adjusted == nil:
		return TooFew
	case *r.Adjusted < level && r.Change >= least:
		return Better
	case *r.Adjusted < level && r.Change <= -least:
		return Worse
	case *r.Adjusted < level, least > 0 && r.Low != nil && *r.Low > -least && *r.High < least:
		return Same
	}
	return NotShown
}
