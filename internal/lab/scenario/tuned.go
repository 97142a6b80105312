package scenario

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Tuned is what linerate's own tune made of the hosts, rates at the published
// scale. The row's measured rate is that of the last look, its ceiling that of
// the largest frames that get through.
type Tuned struct {
	// Before is the rate of the hosts and traffic as they were found.
	Before unit.BitRate `json:"before_bps"`
	// Forward and Reverse are the two ways of the last look; zero where it was of
	// one way.
	Forward unit.BitRate `json:"forward_bps,omitempty"`
	Reverse unit.BitRate `json:"reverse_bps,omitempty"`
	// Share is how much of the ceiling was reached.
	Share      float64 `json:"ceiling_ratio"`
	CeilingMTU int     `json:"ceiling_mtu_bytes"`
	// Changes are those that were kept, in words; sizes in them are the lab's.
	Changes []string `json:"changes"`
	// LimitedBy is the cause that limits the rate below the ceiling and that no setting
	// removes, at LimitedAt, by the last measurement; "" where nothing does.
	LimitedBy record.Cause `json:"held_by,omitempty"`
	LimitedAt unit.BitRate `json:"held_at_bps,omitempty"`
	// Stopped says why the search ended, Windows and Traffic what it cost.
	Stopped string  `json:"stopped"`
	Windows int     `json:"measurements_count"`
	Traffic float64 `json:"traffic_s"`
}

// What a tune is to reach.
const (
	// leastShare is the least share of the ceiling.
	leastShare = 0.97
	// leastHeld is that of a lower limit that no setting removes: it holds a rate that
	// comes as near as any rate is held to. A stream that loses packets at it is
	// some percent below.
	leastHeld = 1 - usualWithin
	// mostShare is where a rate above the ceiling is a mistake of the
	// measurement.
	mostShare = 1.02
)

// mostLook is the longest look of a tune: a host puts back by itself what nobody
// has confirmed in three minutes.
const mostLook = 30 * time.Second

// judgeTuned fills in the verdict of a row of kind best. What was published is
// the best of others: where it lies above what is said to hold the rate, it does
// not hold it.
func (r *Row) judgeTuned() {
	t := r.Tuned
	if t == nil || r.Ceiling <= 0 {
		r.Verdict = Off
		return
	}
	t.Share = float64(r.Measured / r.Ceiling)
	within := func(least float64, limit unit.BitRate) bool {
		return float64(r.Measured) >= least*float64(limit) && float64(r.Measured) <= mostShare*float64(limit)
	}
	switch {
	case within(leastShare, r.Ceiling):
		r.Verdict = Reached
	case t.LimitedBy != "" && t.LimitedAt < r.Ceiling && within(leastHeld, t.LimitedAt) && (r.Published == nil || *r.Published <= t.LimitedAt):
		r.Verdict = Limited
	default:
		r.Verdict = Off
	}
}

// way is the rate of the last look in one direction; zero where it is not known.
func (r Row) way(d flow.Direction) unit.BitRate {
	switch {
	case r.Direction == d:
		return r.Measured
	case r.Tuned != nil && r.Direction == flow.Both && d == flow.Forward:
		return r.Tuned.Forward
	case r.Tuned != nil && r.Direction == flow.Both && d == flow.Reverse:
		return r.Tuned.Reverse
	}
	return 0
}

// Words are what the tune came to, a sentence each.
func (t Tuned) Words() []string {
	all := []string{fmt.Sprintf("%s before, then %.1f %% of the ceiling at MTU %d", short(t.Before), 100*t.Share, t.CeilingMTU)}
	if t.LimitedBy != "" {
		all = append(all, fmt.Sprintf("limited by %s at %s", t.LimitedBy, short(t.LimitedAt)))
	}
	if len(t.Changes) == 0 {
		return append(all, "nothing was kept")
	}
	for _, c := range t.Changes {
		all = append(all, "kept: "+strings.Join(strings.Fields(c), " "))
	}
	return all
}

// text is the tune in lines below its row.
func (t Tuned) text() string {
	var b strings.Builder
	for _, words := range t.Words() {
		for i, line := range broken(words, tableWidth-8) {
			fmt.Fprintf(&b, "      %s%s\n", strings.Repeat("  ", min(i, 1)), line)
		}
	}
	return b.String()
}

// broken is a text in lines of so many columns at most; a word that is longer is
// cut.
func broken(s string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(s) {
		word = cut(word, columns)
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// tuning checks what tune takes, and fills in what is left out.
func (c checker) tuning(at func(...any) []any, i int, m *Measurement) {
	if m.Tool != Tune {
		if m.Keep {
			c.wrong("keep is of tune", "tool: tune", at("keep")...)
		}
		for _, kind := range m.Kinds {
			if kind == Best {
				c.wrong("kind: best is what tune comes to", "tool: tune", at("kind")...)
			}
		}
		return
	}
	for _, key := range []struct {
		name  string
		given bool
	}{
		{"streams", len(m.Streams) > 0}, {"aliases", len(m.Aliases) > 0}, {"ports", m.Ports != ""}, {"socket_buffer", m.Buffer > 0}, {"no_delay", m.NoDelay}, {"fail", !m.Fail.IsZero()},
		{"published_ratio", len(m.Ratios) > 0}, {"within", m.Within > 0},
	} {
		if key.given {
			c.wrong(key.name+": tune finds what to send by itself, and is compared with the ceiling", "leave it out", at(key.name)...)
		}
	}
	for _, kind := range m.Kinds {
		if kind != Best {
			c.wrong(fmt.Sprintf("kind: %s is none of tune's", kind), "leave it out", at("kind")...)
		}
	}
	if m.Duration > mostLook {
		c.wrong(fmt.Sprintf("duration: a measurement of a tune is %v at most, not %v", mostLook, m.Duration), "leave it out", at("duration")...)
	}
	if m.Direction == "" {
		m.Direction = flow.Both
	}
	if !m.Keep {
		return
	}
	for _, later := range c.s.Steps[i+1:] {
		if later.Rebuilds() {
			c.wrong(fmt.Sprintf("keep: step %q builds the network anew", later.Name), "leave keep out, or write that step first", at("keep")...)
			break
		}
	}
}
