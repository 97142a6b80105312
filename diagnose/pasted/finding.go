package pasted

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/cards"
	"github.com/linerate/linerate/diagnose/pasted/channels"
	"github.com/linerate/linerate/diagnose/pasted/hosts"
	"github.com/linerate/linerate/diagnose/pasted/overlays"
	"github.com/linerate/linerate/diagnose/pasted/paths"
	"github.com/linerate/linerate/diagnose/pasted/runs"
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
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
	for _, r := range slices.Concat(channels.Rules(), cards.Rules(), hosts.Rules(), overlays.Rules(), runs.Rules(), paths.Rules(), []scene.Rule{hostFindings, runs.FilledLine}) {
		r(v)
	}
	doubtWell(v)
	doubtTold(v)
	slices.SortStableFunc(v.Findings, func(x, y scene.Finding) int { return cmp.Compare(y.Confidence, x.Confidence) })
	var a scene.Answer
	type about struct {
		cause record.Cause
		where string
	}
	told, causes := make(map[about]bool), make(map[record.Cause]bool)
	for _, f := range v.Findings {
		again := causes[f.Cause] && strings.HasSuffix(f.Where, scene.NothingHere)
		if one := (about{f.Cause, f.Where}); f.Confidence >= scene.LeastSure && !told[one] && !again {
			told[one], causes[f.Cause] = true, true
			a.Findings = append(a.Findings, f)
		}
	}
	if len(a.Findings) == 0 || a.Findings[0].Confidence < scene.Decided {
		a.Missing = missing(v)
	}
	if len(a.Findings) == 0 {
		a.Findings = []scene.Finding{unknown(v, a.Missing)}
	}
	for i := range a.Findings {
		f := &a.Findings[i]
		if more := len(f.Evidence) - mostEvidence; more > 1 {
			f.Evidence = append(slices.Clone(f.Evidence[:mostEvidence]), record.Evidence{What: "and", Value: fmt.Sprintf("%d more like these", more), Source: f.Evidence[mostEvidence].Source})
		}
		f.Text = text(*f)
	}
	return a
}

// mostEvidence is how many pieces of evidence a finding shows: an answer is a screen.
const mostEvidence = 12

// text is a finding in full.
func text(f scene.Finding) string {
	var out strings.Builder
	out.WriteString(f.Summary)
	for _, e := range f.Evidence {
		fmt.Fprintf(&out, "\n  %s: %s (%s)", e.What, e.Value, e.Source)
	}
	if f.Remedy != "" {
		out.WriteString("\n" + f.Remedy)
	}
	return out.String()
}
