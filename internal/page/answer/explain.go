// Package answer is what the page in the browser says: an answer to pasted text with a
// picture of its hosts, the links that flows take, and the rates of a fabric file. It
// puts into documents what diagnose/pasted, steer and predict say, and must never judge
// by itself: the page and the commands say the same.
package answer

import (
	"github.com/linerate/linerate/diagnose/pasted"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// Explained is the answer to a pasted text. Lines count from 1.
type Explained struct {
	// Error and Hint say that nothing was recognised, and what to paste; the rest is
	// empty then.
	Error    string    `json:"error,omitempty"`
	Hint     string    `json:"hint,omitempty"`
	Findings []Finding `json:"findings"`
	Ask      []Command `json:"ask"`
	Summary  string    `json:"summary"`
	Read     []Span    `json:"read"`
	NotRead  []Span    `json:"not_read"`
	Markdown string    `json:"markdown"`
	// Picture is an SVG document; "" where no host's links were read.
	Picture string `json:"picture,omitempty"`
}

// Finding is what limits, as people read it.
type Finding struct {
	// Headline is Summary with the cause, the place and how sure that is.
	Headline   string            `json:"headline"`
	Summary    string            `json:"summary"`
	Cause      record.Cause      `json:"cause"`
	Where      string            `json:"where"`
	Confidence float64           `json:"confidence_ratio"`
	Evidence   []record.Evidence `json:"evidence"`
	Remedy     string            `json:"remedy,omitempty"`
	Gain       string            `json:"gain,omitempty"`
}

// Command is an output to send next.
type Command struct {
	Command string `json:"command"`
	On      string `json:"on"`
	Why     string `json:"why"`
}

// Span is a run of lines, and what it is or why nobody read it.
type Span struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	What string `json:"what"`
}

// Explain answers a text.
func Explain(text string) Explained {
	c := paste.Parse([]piece.Text{{Bytes: []byte(text)}})
	if !paste.Answerable(c) {
		return Explained{Error: paste.Nothing, Hint: paste.Wanted}
	}
	a := pasted.Judge(c)
	out := Explained{Summary: pasted.ReadText(c), Markdown: pasted.Markdown(a), Picture: Picture(c), Ask: []Command{}, Read: []Span{}, NotRead: []Span{}}
	for _, f := range a.Findings {
		out.Findings = append(out.Findings, Finding{f.Headline(), f.Summary, f.Cause, f.Where, f.Confidence, f.Evidence, f.Remedy, f.Gain()})
	}
	for _, m := range a.Missing {
		out.Ask = append(out.Ask, Command{m.Command, m.On(), m.Why})
	}
	for _, r := range c.Read {
		what := r.Kind
		if r.Host != "" {
			what += " of " + r.Host
		}
		out.Read = append(out.Read, Span{r.From, r.To, what})
	}
	for _, n := range c.NotRead {
		out.NotRead = append(out.NotRead, Span{n.From, n.To, n.Why})
	}
	return out
}
