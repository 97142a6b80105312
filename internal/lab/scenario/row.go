package scenario

import (
	"math"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Row is one row of what a lab showed, at the published scale.
type Row struct {
	Step      string         `json:"step"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Streams   int            `json:"streams"`
	Direction flow.Direction `json:"direction"`
	Measured  unit.BitRate   `json:"measured_bps"`
	Predicted unit.BitRate   `json:"predicted_bps"`
	// Published is nil where nobody published the row.
	Published      *unit.BitRate `json:"published_bps"`
	PublishedRatio *float64      `json:"published_ratio"`
	MeasuredRatio  *float64      `json:"measured_ratio"`
	Ceiling        unit.BitRate  `json:"ceiling_bps"`
	Tool           string        `json:"tool"`
	Kind           Kind          `json:"kind"`
	CPUBound       bool          `json:"cpu_bound"`
	// Limit is what held the row, by the kernel's evidence; "" where nobody judged:
	// of pings, and of several pairs at once.
	Limit record.Cause `json:"limit,omitempty"`
	// Wire is what arrived where Measured is what the senders claim; zero
	// elsewhere.
	Wire unit.BitRate `json:"arrived_bps,omitempty"`
	// The round trips of a ping; zero elsewhere.
	MeasuredRTT  float64 `json:"measured_ms,omitempty"`
	PublishedRTT float64 `json:"published_ms,omitempty"`
	Verdict      Verdict `json:"verdict"`
	// Outage is what a link's failure did; nil where none failed.
	Outage *Outage `json:"outage,omitempty"`
	// Tuned is what tune did; nil of other tools.
	Tuned *Tuned `json:"tuned,omitempty"`
	// Pairs is how many pairs of hosts the row is the sum of, zero one; From and
	// To name the hosts of each side, with commas between, and Streams are each
	// pair's.
	Pairs int `json:"pairs_count,omitempty"`
	// Ports are those that the hosts' bonds have in the step, each HOST.LINK, sorted;
	// nil of hosts without a bond.
	Ports []string `json:"ports,omitempty"`
	// Shares are what each link carried of the hosts that could use several; nil
	// where linerate's own traffic was not measured.
	Shares []Share `json:"shares,omitempty"`
	// CPU is what iperf3 took of a processor; nil of other tools, and where both ends
	// send.
	CPU *CPUShares `json:"cpu_shares,omitempty"`
	// Trial is what was measured of a row that is off, at the lab's scale: what its
	// cause is looked for in. Nil of other rows.
	Trial *record.Trial `json:"trial,omitempty"`
}

// Verdict is how a row fares against what was published.
type Verdict string

// The verdicts.
const (
	Reproduced  Verdict = "reproduced"
	Off         Verdict = "off"
	Shown       Verdict = "shown"       // of a kind that is not scored
	Unpublished Verdict = "unpublished" // there is nothing to hold it against
	// Of what tune comes to: Reached is the ceiling, within 3 percent; Limited is
	// below it, by a limit that is named and that no setting removes.
	Reached Verdict = "reached"
	Limited Verdict = "held" // the word of the JSON
)

// What a row may be off by.
const (
	usualWithin = 0.10
	// leastRatio is the least share of a published ratio.
	leastRatio = 0.95
	// rttWithin and rttSlack: the lab's own kernel adds to a round trip.
	rttWithin = 0.05
	rttSlack  = 0.2 // ms
	// sureWithin is how sure a rate is, and so a ratio of two.
	sureWithin = 0.01
)

// Judge fills in the row's verdict. Links is how many of the sender's could
// carry it, which no ratio can exceed; zero is not known.
func (r *Row) Judge(within float64, links int) {
	if within == 0 {
		within = usualWithin
	}
	switch {
	case r.Kind == Best:
		r.judgeTuned()
	case r.PublishedRTT > 0:
		r.Verdict = verdict(math.Abs(r.MeasuredRTT-r.PublishedRTT) <= rttWithin*r.PublishedRTT+rttSlack)
	case r.Published == nil && r.PublishedRatio == nil:
		r.Verdict = Unpublished
	case r.Kind == Burst || r.Kind == Claim:
		r.Verdict = Shown
	case r.PublishedRatio != nil:
		r.Verdict = verdict(r.MeasuredRatio != nil && *r.MeasuredRatio >= leastRatio**r.PublishedRatio && (links == 0 || shown(*r.MeasuredRatio) <= float64(links)*(1+sureWithin)))
	default:
		r.Verdict = verdict(math.Abs(float64(r.Measured / *r.Published)-1) <= within)
	}
}

func verdict(holds bool) Verdict {
	if holds {
		return Reproduced
	}
	return Off
}

// shown is a ratio as it is printed, to two decimals: what was measured is no
// finer.
func shown(ratio float64) float64 { return math.Round(100*ratio) / 100 }

// Short reports whether the row is below what its links allow: a full processor
// held nothing in one that is not. Of a row with a failure the rates before it and
// while the link was away tell, of claims what arrived.
func (r Row) Short() bool {
	if o := r.Outage; o != nil {
		return o.Before > 0 && o.Before < leastShare*r.Ceiling || o.During < leastShare*o.PredictedDuring
	}
	carried := r.Measured
	if r.Wire > 0 {
		carried = r.Wire
	}
	return r.Ceiling == 0 || carried < leastShare*r.Ceiling
}
