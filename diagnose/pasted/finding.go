package pasted

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/pasted/channels"
	"github.com/linerate/linerate/diagnose/pasted/hosts"
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// What an answer is made of.
type (
	Finding = scene.Finding
	Missing = scene.Missing
	Answer  = scene.Answer
)

// Healthy is the cause of an answer that has nothing to blame.
const Healthy = scene.Healthy

// Judge is the answer to a case.
func Judge(c piece.Case) scene.Answer {
	v := scene.ViewOf(&c)
	for _, r := range slices.Concat(channels.Rules(), hosts.Rules(), []scene.Rule{hostFindings}) {
		r(v)
	}
	doubtWell(v)
	var a scene.Answer
	for _, f := range v.Findings {
		if f.Confidence >= scene.LeastSure && !slices.ContainsFunc(a.Findings, func(g scene.Finding) bool { return g.Cause == f.Cause && g.Where == f.Where }) {
			a.Findings = append(a.Findings, f)
		}
	}
	slices.SortStableFunc(a.Findings, func(x, y scene.Finding) int {
		switch {
		case x.Confidence > y.Confidence:
			return -1
		case x.Confidence < y.Confidence:
			return 1
		}
		return 0
	})
	if len(a.Findings) == 0 || a.Findings[0].Confidence < scene.Decided {
		a.Missing = missing(v)
	}
	if len(a.Findings) == 0 {
		a.Findings = []scene.Finding{unknown(v, a.Missing)}
	}
	for i := range a.Findings {
		a.Findings[i].Text = text(a.Findings[i])
	}
	return a
}

// text is a finding in full.
func text(f scene.Finding) string {
	out := f.Summary
	for _, e := range f.Evidence {
		out += fmt.Sprintf("\n  %s: %s (%s)", e.What, e.Value, e.Source)
	}
	if f.Remedy != "" {
		out += "\n" + f.Remedy
	}
	return out
}
