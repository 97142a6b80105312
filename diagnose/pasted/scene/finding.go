package scene

import (
	"cmp"
	"fmt"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// Healthy is the cause of an answer that has nothing to blame.
const Healthy record.Cause = "healthy"

// Finding is what limits, or that nothing does.
type Finding struct {
	record.Finding
	Hosts []string `json:"hosts"`
	// Where is what it is about: a link, a bond, a switch's port.
	Where string `json:"where"`
	// Text is the finding as people read it, with its evidence and remedy.
	Text string `json:"text"`
	// Ask are the outputs that would make sure of it; nil what its cause needs.
	Ask []Missing `json:"-"`
}

// Missing is an output that would decide.
type Missing struct {
	Command string `json:"command"`
	Host    string `json:"host"` // "" nobody named it
	Why     string `json:"why"`
}

// On is the host that a command is for, in a sentence.
func (m Missing) On() string { return cmp.Or(m.Host, "the host") }

// Answer is what a case comes to: findings, the surest first, at least one.
type Answer struct {
	Findings []Finding
	Missing  []Missing
}

// Rule is one cause's, or one of its signs'.
type Rule func(*View)

// LeastSure is how sure a finding must be to be one.
const LeastSure = 0.35

// NothingHere ends the place of a finding that words alone make: it is not said again
// beside one of the same cause that was read at its place.
const NothingHere = "(nothing of it is here)"

// Decided is how sure a finding must be for nothing to be missing.
const Decided = 0.8

// Add notes a finding.
func (v *View) Add(cause record.Cause, sure float64, host *piece.Host, where, summary, remedy string, evidence ...record.Evidence) *Finding {
	f := Finding{Where: where}
	f.Cause, f.Confidence, f.Summary, f.Remedy, f.Evidence = cause, min(sure, 0.97), summary, remedy, evidence
	f.Rate = v.Best()
	if host != nil && host.Name != "" {
		f.Hosts = []string{host.Name}
	}
	v.Findings = append(v.Findings, f)
	return &v.Findings[len(v.Findings)-1]
}

// Saw is one piece of evidence.
func Saw(what, value string, at piece.Source) record.Evidence {
	return record.Evidence{What: what, Value: value, Source: at.String()}
}

// Headline is a finding's first line: what it says with the cause, the place and how
// sure that is; of an unknown one what it says.
func (f Finding) Headline() string {
	if f.Cause == record.Unknown {
		return f.Summary
	}
	return fmt.Sprintf("%s (%s at %s, confidence %.0f %%)", f.Summary, f.Cause, f.Where, 100*f.Confidence)
}

// Gain is what the remedy should gain; "" nobody can say.
func (f Finding) Gain() string {
	if f.Expected <= 0 {
		return ""
	}
	return "about " + f.Expected.String() + " with several flows"
}

// String is the command, for whom it is and why.
func (m Missing) String() string {
	return fmt.Sprintf("`%s` on %s: %s", m.Command, m.On(), m.Why)
}

// Ask is what to send next: of a cause that is named but not decided the most telling
// outputs, three at most. An unknown cause's remedy names them itself.
func (a Answer) Ask() []Missing {
	if a.Findings[0].Confidence >= Decided || a.Findings[0].Cause == record.Unknown {
		return nil
	}
	return a.Missing[:min(len(a.Missing), 3)]
}
