package compare

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// sweepEffect is the share of the rate below which a setting makes no
// difference that matters.
const sweepEffect = 0.01

// Sweep sets trials that differ in one setting and were measured by turns
// against those of the first value. Variants are "SETTING=VALUE", values their
// order. All trials are of one pair and direction; those of other variants, or
// through which nothing came, do not count.
func Sweep(setting string, values []string, trials []record.Trial) record.Sweep {
	out := record.Sweep{Setting: setting, Values: []record.SweepValue{}}
	of := make(map[string][]record.Trial)
	streams := 0
	for _, t := range trials {
		value, ok := strings.CutPrefix(t.Variant, setting+"=")
		if !ok || t.Goodput <= 0 {
			continue
		}
		out.From, out.To, out.Direction, streams = t.From, t.To, t.Direction, t.Streams
		if n := len(of[value]); n > 0 {
			streams = of[value][n-1].Streams
		}
		of[value] = append(of[value], t)
	}
	same := true
	for _, v := range values {
		for _, t := range of[v] {
			same = same && t.Streams == streams
		}
		if len(of[v]) > 0 {
			out.Values = append(out.Values, sweepValue(v, of[v]))
		}
	}
	if same {
		out.Streams = streams
	}
	if len(out.Values) < 2 {
		out.Verdict = "fewer than two values were measured"
		return out
	}
	rows := against(of, out.Values)
	for i := range rows {
		if p := rows[i].Adjusted; p != nil {
			out.Values[i+1].P = *p
		}
	}
	out.Verdict = sweepVerdict(setting, out.Values, rows)
	return out
}

// sweepValue sums the trials of one value up. With three or more the interval
// is that of their mean over runs, else the widest of what each said of itself.
func sweepValue(value string, trials []record.Trial) record.SweepValue {
	e := meanOf(goodputs(trials))
	v := record.SweepValue{Value: value, Trials: len(trials), Goodput: unit.BitRate(e.mean)}
	if len(trials) >= leastBlocks {
		half := unit.BitRate(tQuantile(0.975, e.df) * e.se)
		v.Low, v.High = max(v.Goodput-half, 0), v.Goodput+half
	} else {
		v.Low, v.High = trials[0].GoodputLow, trials[0].GoodputHigh
		for _, t := range trials {
			v.Low, v.High = min(v.Low, t.GoodputLow), max(v.High, t.GoodputHigh)
		}
	}
	mean := func(of func(record.Trial) unit.BitRate) unit.BitRate {
		var all []float64
		for _, t := range trials {
			all = append(all, float64(of(t)))
		}
		return unit.BitRate(stat.Mean(all, nil))
	}
	v.Claimed = mean(func(t record.Trial) unit.BitRate { return t.Claimed })
	v.Wire = mean(func(t record.Trial) unit.BitRate { return t.Wire })
	v.Ceiling = mean(func(t record.Trial) unit.BitRate { return t.Ceiling })
	return v
}

// against compares each further value with the first; the probabilities are
// adjusted for their number.
func against(of map[string][]record.Trial, values []record.SweepValue) []Row {
	before, after := side{of: make(map[Key][]record.Trial)}, side{of: make(map[Key][]record.Trial)}
	for _, v := range values[1:] {
		k := Key{Variant: v.Value}
		before.keys, after.keys = append(before.keys, k), append(after.keys, k)
		before.of[k], after.of[k] = of[values[0].Value], of[v.Value]
	}
	return trials(before, after, Options{MinEffect: sweepEffect}).Rows
}

// sweepVerdict is one sentence: the best value where one is shown to be, and
// what each is against the first.
func sweepVerdict(setting string, values []record.SweepValue, rows []Row) string {
	first := values[0].Value
	var parts []string
	for i, r := range rows {
		value := values[i+1].Value
		switch r.Verdict {
		case Better, Worse:
			parts = append(parts, fmt.Sprintf("%s is %s than %s by %s (p %s)", value, r.Verdict, first, share(r.Change), probability(*r.Adjusted)))
		case Same:
			parts = append(parts, fmt.Sprintf("%s and %s are the same within %s", value, first, share(sweepEffect)))
		case NotShown:
			parts = append(parts, fmt.Sprintf("no difference of %s to %s is shown (%+.1f %%, p %s)", value, first, 100*r.Change, probability(*r.Adjusted)))
		default:
			parts = append(parts, fmt.Sprintf("%s to %s: %+.1f %%, too few runs to tell from chance", value, first, 100*r.Change))
		}
	}
	text := setting + ": " + strings.Join(parts, "; ")
	shown := slices.ContainsFunc(rows, func(r Row) bool { return r.Verdict == Better })
	if shown && len(rows) > 1 {
		best := slices.MaxFunc(values, func(a, b record.SweepValue) int {
			switch {
			case a.Goodput < b.Goodput:
				return -1
			case a.Goodput > b.Goodput:
				return 1
			}
			return 0
		})
		text += "; the most was carried with " + best.Value
	}
	return text
}

func share(x float64) string { return fmt.Sprintf("%.1f %%", 100*max(x, -x)) }

// probability is rounded to what matters of one.
func probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}
