package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate/linerate/unit"
)

// Share is how what a host sends, or receives, spreads over its links.
type Share struct {
	Host string `json:"host"`
	// Receives is false for what it sends.
	Receives bool `json:"receives"`
	// Chance: luck decides which links the streams take, and what was predicted
	// is the mean.
	Chance bool        `json:"chance,omitempty"`
	Links  []LinkShare `json:"links"`
}

// LinkShare is one link's part: payload, and what share it is of all that the
// host's links carry that way; zero where they carry nothing.
type LinkShare struct {
	Link           string       `json:"link"`
	Measured       unit.BitRate `json:"measured_bps"`
	MeasuredShare  float64      `json:"measured_ratio"`
	Predicted      unit.BitRate `json:"predicted_bps"`
	PredictedShare float64      `json:"predicted_ratio"`
}

// sharesWithin is how far a link's share may be off what was predicted: a
// window's edges, and what other than streams passes.
const sharesWithin = 0.03

// Settle fills in the shares from the rates.
func (s *Share) Settle() {
	var measured, predicted unit.BitRate
	for _, l := range s.Links {
		measured, predicted = measured+l.Measured, predicted+l.Predicted
	}
	for i := range s.Links {
		l := &s.Links[i]
		if measured > 0 {
			l.MeasuredShare = float64(l.Measured / measured)
		}
		if predicted > 0 {
			l.PredictedShare = float64(l.Predicted / predicted)
		}
	}
}

// AsPredicted reports whether every link has the share that was predicted. Of
// what luck decides it says nothing.
func (s Share) AsPredicted() bool {
	return !slices.ContainsFunc(s.Links, func(l LinkShare) bool { return math.Abs(l.MeasuredShare-l.PredictedShare) > sharesWithin })
}

// even reports links that all were to have the same.
func (s Share) even() bool {
	return !slices.ContainsFunc(s.Links, func(l LinkShare) bool { return math.Abs(l.PredictedShare*float64(len(s.Links))-1) > sharesWithin })
}

// text is the shares in a line below their row.
func (s Share) text() string {
	var names []string
	var measured, predicted []float64
	for _, l := range s.Links {
		names, measured, predicted = append(names, l.Link), append(measured, l.MeasuredShare), append(predicted, l.PredictedShare)
	}
	verb, judged := "sends", "as predicted"
	if s.Receives {
		verb = "receives"
	}
	switch {
	case s.Chance:
		judged = "by chance, in the mean " + percents(predicted)
	case !s.AsPredicted():
		judged = "predicted " + percents(predicted)
	}
	return fmt.Sprintf("    %s\n", cut(fmt.Sprintf("%s %s %s %% over %s; %s", cut(s.Host, 16), verb, percents(measured), cut(strings.Join(names, " "), 28), judged), tableWidth-4))
}

func percents(ratios []float64) string {
	var all []string
	for _, r := range ratios {
		all = append(all, fmt.Sprintf("%.0f", 100*r))
	}
	return strings.Join(all, " ")
}

// spreads are the row's shares that say something in a table: those of several
// pairs at once, and, unless luck decides, those that are uneven by design and
// those that are not as they should be.
func spreads(r Row) string {
	var b strings.Builder
	for _, s := range r.Shares {
		if r.Pairs > 1 || !s.Chance && !(s.even() && s.AsPredicted()) {
			b.WriteString(s.text())
		}
	}
	return b.String()
}
