package benchmarks

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/calibrate"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Verdict is what a row says of the model, or the model of the row.
type Verdict string

// The verdicts.
const (
	Within     Verdict = "within"      // as near as the row asks, the limit as published
	Off        Verdict = "off"         // not near enough
	OtherLimit Verdict = "other limit" // near enough, for another reason
	InRange    Verdict = "in range"    // a reading of a range, farther from its middle than the row asks
	Calibrates Verdict = "calibrates"  // the model was given this row
	Possible   Verdict = "possible"    // a claim below the ceiling
	Impossible Verdict = "impossible"  // above the ceiling: no steady-state goodput
	Unknown    Verdict = "unknown"     // nothing could be predicted
)

// Judged is one row with its prediction.
type Judged struct {
	Table string `json:"table"`
	Row
	Predicted unit.BitRate `json:"predicted_bps"`
	// Low and High are the prediction's range; zero where it is certain.
	Low     unit.BitRate `json:"predicted_low_bps,omitempty"`
	High    unit.BitRate `json:"predicted_high_bps,omitempty"`
	Ceiling unit.BitRate `json:"ceiling_bps"`
	// Error is predicted over published, less one; of the ratios where Kind
	// is ratio.
	Error   float64      `json:"error_ratio"`
	Bound   record.Cause `json:"limit"`
	Used    int          `json:"links_count"`
	Verdict Verdict      `json:"verdict"`
	// Covered: the published number lies in the predicted range.
	Covered        bool    `json:"in_range"`
	PredictedRatio float64 `json:"predicted_ratio,omitempty"`
	Why            string  `json:"why"`
	// Learned is what a row that calibrates taught.
	Learned string `json:"calibration,omitempty"`
}

// Judge predicts every row of every table. What cannot be predicted has the
// verdict unknown, and why. Error: a fabric or a change that cannot be read.
func Judge(tables []Table) ([]Judged, error) {
	var all []Judged
	for _, t := range tables {
		rows, err := t.judge()
		if err != nil {
			return all, fmt.Errorf("table %s: %w", t.Name, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}

// bench is a table while its rows are judged.
type bench struct {
	table   Table
	fabric  predict.Fabric
	learned map[string]calibrate.Calibration
	rates   map[string]unit.BitRate // predicted, by step
}

func (t Table) judge() ([]Judged, error) {
	if len(t.Rows) == 0 {
		return nil, nil
	}
	f, err := declared(t.Name, t.Fabric)
	if err != nil {
		return nil, err
	}
	b := &bench{table: t, fabric: f, learned: map[string]calibrate.Calibration{}, rates: map[string]unit.BitRate{}}
	var all []Judged
	for _, r := range t.Rows {
		j, err := b.judge(r)
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", r.Step, err)
		}
		all = append(all, j)
	}
	return all, nil
}

// declared is a fabric file's text as the model takes it.
func declared(name, text string) (predict.Fabric, error) {
	file, err := fabric.Parse(name+".fabric", []byte(text))
	if err != nil {
		return predict.Fabric{}, err
	}
	if err := file.ResolveAlone(); err != nil {
		return predict.Fabric{}, err
	}
	f := predict.Fabric{Hosts: make(map[string]netstate.Host, len(file.Hosts)), Paths: file.Paths}
	for _, h := range file.Hosts {
		if f.Hosts[h.Name], err = file.State(h.Name); err != nil {
			return predict.Fabric{}, err
		}
	}
	return f, nil
}

func (b *bench) judge(r Row) (Judged, error) {
	j := Judged{Table: b.table.Name, Row: r, Verdict: Unknown}
	w, err := whatif.Parse(r.With)
	if err != nil {
		return j, fmt.Errorf("with: %w", err)
	}
	f, m, _, err := w.Apply(b.fabric, fabric.Measure{Streams: []int{r.Streams}, Ports: r.Ports})
	if err != nil {
		return j, fmt.Errorf("with: %w", err)
	}
	t := predict.TrafficOf(fabric.Path{From: r.From, To: r.To}, m, r.Direction, r.Streams)
	t.Window, t.ChosenOnly = time.Duration(b.table.Duration), m.Ports != predict.PortsKernel
	column := r.From + " " + r.To + " " + string(r.Direction)
	if r.Calibrates {
		c, err := calibrate.FromRow(f, calibrate.Measured{Traffic: t, Rate: r.Published})
		if err != nil {
			j.Why = err.Error()
			return j, nil
		}
		b.learned[column], j.Learned = c, c.Why
	}
	p, err := b.learned[column].Predict(f, t)
	if err != nil {
		j.Why = err.Error()
		return j, nil
	}
	j.fill(p)
	b.rates[r.Step] = p.Rate
	j.compare(b.rates[r.Of])
	return j, nil
}

func (j *Judged) fill(p predict.Prediction) {
	j.Predicted, j.Low, j.High, j.Ceiling = p.Rate, p.RateLow, p.RateHigh, p.Ceiling
	j.Bound = p.Limit
	j.Why = p.Limits[0].Why
	for _, l := range p.Links {
		if l.Transmit && l.Load > 0 && (l.Way == j.Direction || j.Direction == flow.Both && l.Way == flow.Forward) {
			j.Used++
		}
	}
}

// middle is the middle of the predicted range, or the rate that is certain.
func (j *Judged) middle() unit.BitRate {
	if j.Low > 0 && j.High > 0 {
		return (j.Low + j.High) / 2
	}
	return j.Predicted
}

// compare sets the error and the verdict; first is the prediction of the row
// that a ratio is of.
func (j *Judged) compare(first unit.BitRate) {
	low, high := j.Predicted, j.Predicted
	if j.Low > 0 {
		low = j.Low
	}
	if j.High > 0 {
		high = j.High
	}
	j.Covered = j.Published >= low && j.Published <= high
	switch j.Kind {
	case KindClaim:
		j.Error = float64(j.Predicted/j.Published) - 1
	case KindRatio:
		if first > 0 {
			j.PredictedRatio = float64(j.Predicted / first)
		}
		j.Error = j.PredictedRatio/j.Ratio - 1
	case KindRange:
		j.Error = float64(j.middle()/j.Published) - 1
	case KindBurst:
		j.Error = float64(high/j.Published) - 1
	default:
		j.Error = float64(j.Predicted/j.Published) - 1
	}
	j.Verdict = j.verdict()
}

func (j *Judged) verdict() Verdict {
	named := (j.Limit == "" || j.Limit == j.Bound) && (j.Links == 0 || j.Links == j.Used)
	impossible := j.Ceiling > 0 && j.Published > j.Ceiling
	switch {
	case j.Calibrates:
		return Calibrates
	case j.Kind == KindClaim && impossible:
		return Impossible
	case j.Kind == KindClaim && named:
		return Possible
	case j.Kind == KindClaim:
		return OtherLimit
	case math.Abs(j.Error) > j.Within && j.Kind == KindRange && j.Covered && named:
		return InRange
	case math.Abs(j.Error) > j.Within:
		return Off
	case !named:
		return OtherLimit
	}
	return Within
}
