package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/unit"
)

// FailureKind is how a link fails.
type FailureKind string

// The kinds. A silent failure keeps the carrier: the switch drops what passes.
const (
	Loud   FailureKind = "loud"
	Silent FailureKind = "silent"
)

// Failure is a link that fails while something is measured over it. The zero
// Failure is none.
type Failure struct {
	Port Port
	// At is the time into the window, For how long it stays away.
	At, For time.Duration
}

// IsZero reports that nothing fails.
func (f Failure) IsZero() bool { return f == Failure{} }

// The times where none are given, as measure --fail-link has them; and what
// there must be of the window when the link is back.
const (
	failAt    = 2 * time.Second
	failFor   = 3 * time.Second
	failAfter = time.Second
	// failRest is the rest of the window where it has no length: enough for LACP
	// to take the link back.
	failRest = 6 * time.Second
)

// String is what parseFailure reads.
func (f Failure) String() string { return fmt.Sprintf("%s@%v,%v", f.Port, f.At, f.For) }

// failure reads HOST.LINK[@AT[,FOR]].
func failure() fabric.Scalar[Failure] {
	return fabric.Parsed("HOST.LINK, HOST.LINK@2s or HOST.LINK@2s,3s", parseFailure)
}

func parseFailure(text string) (Failure, error) {
	name, times, timed := strings.Cut(text, "@")
	host, link, ok := strings.Cut(name, ".")
	if !ok || host == "" || link == "" {
		return Failure{}, fmt.Errorf("%q is no port", name)
	}
	f := Failure{Port: Port{host, link}, At: failAt, For: failFor}
	if !timed {
		return f, nil
	}
	at, long, both := strings.Cut(times, ",")
	var err error
	if f.At, err = unit.ParseDuration(at); err == nil && both {
		f.For, err = unit.ParseDuration(long)
	}
	if err == nil && (f.At <= 0 || f.For <= 0) {
		err = fmt.Errorf("%q has no time above zero", text)
	}
	return f, err
}

// failing checks a measurement's failure and fills in what it leaves out.
func (c checker) failing(at func(...any) []any, m *Measurement) {
	if m.Fail.IsZero() {
		if m.FailKind != "" {
			c.wrong("fail_how: nothing fails", "fail: HOST.LINK", at("fail_how")...)
		}
		return
	}
	if m.FailKind == "" {
		m.FailKind = Loud
	}
	if c.s.Slow > 1 {
		c.wrong("fail: bonds and TCP look at clocks that do not go slower", "leave slow out", at("fail")...)
	}
	if m.Duration == 0 {
		m.Duration = m.Fail.At + m.Fail.For + failRest
	}
	var names []string
	for _, p := range Ports(c.s.Fabric) {
		names = append(names, p.String())
	}
	switch {
	case m.Tool != Linerate || len(m.Aliases) > 0:
		c.wrong("fail: what streams feel is measured with linerate, by streams", "tool: linerate", at("fail")...)
	case !slices.Contains(names, m.Fail.Port.String()):
		c.wrong(fmt.Sprintf("fail: %q is no port of a host%s", m.Fail.Port, yamldoc.Nearest(m.Fail.Port.String(), names)), "write HOST.LINK", at("fail")...)
	case m.Fail.Port.Host != m.From && m.Fail.Port.Host != m.To:
		c.wrong(fmt.Sprintf("fail: %s is of neither host of the measurement", m.Fail.Port), fmt.Sprintf("write a port of %s or %s", m.From, m.To), at("fail")...)
	case m.FailKind == Silent && c.shared(m.Fail.Port):
		c.wrong(fmt.Sprintf("fail: %s is on a card that ports share, which a lab lets fail loudly only", m.Fail.Port), "fail_how: loud", at("fail_how")...)
	case m.Duration < m.Fail.At+m.Fail.For+failAfter:
		c.wrong(fmt.Sprintf("fail: the link comes back %v into a window of %v, want at least %v after it", m.Fail.At+m.Fail.For, m.Duration, failAfter), "leave duration out, or make it longer", at("fail")...)
	}
}

// shared reports a port of a card that ports share: the lab's switch diverts
// what passes it, where a silent failure would drop it.
func (c checker) shared(p Port) bool {
	h, known := c.s.Fabric.Host(p.Host)
	state, err := c.s.Fabric.State(p.Host)
	return known && err == nil && slices.ContainsFunc(SharedCards(h, state), func(card SharedCard) bool { return slices.Contains(card.Ports, p.Link) })
}

// Outage is what a row's failure did, rates at the published scale.
type Outage struct {
	Port string      `json:"port"`
	How  FailureKind `json:"how"`
	// Gap is the longest that a stream stood still, and GapLow to GapHigh what
	// was predicted of it, with the reason.
	Gap float64 `json:"gap_ms"`
	// Resolution is the time between the samples that the gap is told by.
	Resolution float64 `json:"resolution_ms"`
	GapLow     float64 `json:"predicted_gap_low_ms"`
	GapHigh    float64 `json:"predicted_gap_high_ms"`
	Why        string  `json:"why"`
	// Moved are the flows that went on over another link.
	Moved       int    `json:"moved_count"`
	Retransmits uint64 `json:"retransmits_count"`
	// The rates before it failed, while it was away and after it was back; zero
	// where the window is too short to tell.
	Before          unit.BitRate `json:"before_bps"`
	During          unit.BitRate `json:"during_bps"`
	PredictedDuring unit.BitRate `json:"predicted_during_bps"`
	After           unit.BitRate `json:"after_bps"`
	// Back is how long after its return the rate was what it had been; negative
	// when it was not in the window.
	Back float64 `json:"back_ms"`
}

// AsPredicted reports whether the gap is within what was predicted, as far as
// samples tell: it lacks the parts of two of them that it begins and ends in.
func (o Outage) AsPredicted() bool {
	return o.Gap+2*o.Resolution >= o.GapLow && o.Gap <= o.GapHigh
}

// text is the outage in lines below its row.
func (o Outage) text() string {
	within := "as predicted"
	if !o.AsPredicted() {
		within = "predicted"
	}
	return fmt.Sprintf("    %s fails (%s): stood still %s; %s %s to %s\n      %s\n", o.Port, o.How, inMilliseconds(o.Gap), within, inMilliseconds(o.GapLow), inMilliseconds(o.GapHigh), o.Why) +
		fmt.Sprintf("    %d flows moved; before %s, away %s (predicted %s), after %s\n", o.Moved, short(o.Before), short(o.During), short(o.PredictedDuring), short(o.After))
}

func inMilliseconds(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
