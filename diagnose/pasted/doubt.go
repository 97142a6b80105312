package pasted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// mostDoubted is how sure an answer may be that nothing is wrong, where something is odd.
const mostDoubted = 0.5

// manyRepeated is the part of what a run carried that it sent again, from which nobody
// calls it well.
const manyRepeated = 0.02

// mostOddities is how many are told in one sentence.
const mostOddities = 4

// doubtWell lowers answers that nothing is wrong where the text shows what is odd, and
// says that.
func doubtWell(v *scene.View) {
	but, evidence := oddities(v)
	if len(but) == 0 {
		return
	}
	if more := len(but) - mostOddities; more > 0 {
		but, evidence = append(but[:mostOddities], fmt.Sprintf("and %d more are odd", more)), evidence[:mostOddities]
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Cause != record.LineRate && f.Cause != Healthy || !strings.HasPrefix(f.Summary, "Nothing is wrong") {
			continue
		}
		_, rest, _ := strings.Cut(f.Summary, ": ")
		f.Summary = strings.TrimSpace(rest + " But " + strings.Join(but, "; ") + ".")
		f.Confidence = min(f.Confidence, mostDoubted)
		f.Evidence = append(f.Evidence, evidence...)
	}
}

// oddities are what speaks against that nothing is wrong.
func oddities(v *scene.View) (but []string, evidence []record.Evidence) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			now := scene.SpeedOf(h, name)
			x, ok := h.Get("link "+name, "speed_max")
			if could := piece.Speed(x.Text); ok && now > 0 && could >= 2*now {
				but = append(but, fmt.Sprintf("%s of %s runs at %v and can do %v: the other end's port, the cable or the module holds it", name, scene.NameOf(h), now, could))
				evidence = append(evidence, scene.Saw("fastest mode of "+name, could.String(), x.Source))
			}
		}
	}
	for _, r := range v.Case.Runs {
		sent := float64(r.Rate) / 8 * r.Seconds
		again := float64(r.Retransmits) * 1448
		if r.Retransmits > 0 && sent > 0 && again > manyRepeated*sent {
			but = append(but, fmt.Sprintf("%s had to send %.0f %% again", r.Tool, 100*again/sent))
			evidence = append(evidence, scene.Saw("segments sent again", fmt.Sprintf("%d, about %v", r.Retransmits, unit.Bytes(again)), r.Source))
		}
	}
	return but, evidence
}

// Of causes that sentences alone tell: how sure one may be where another sentence tells a
// second cause that is nearly as sure, and from where on the second counts.
const (
	mostTold  = 0.6
	leastTold = 0.5
)

// doubtTold lowers causes that sentences alone tell, where they tell several: no output
// says which of them it is, and one of them may be what was tried in vain.
func doubtTold(v *scene.View) {
	denyTold(v)
	causes := make(map[record.Cause]bool)
	for _, f := range v.Findings {
		if f.Confidence >= leastTold && onlyTold(f) {
			causes[f.Cause] = true
		}
	}
	for i := range v.Findings {
		if f := &v.Findings[i]; len(causes) > 1 && onlyTold(*f) {
			f.Confidence = min(f.Confidence, mostTold)
		}
	}
}

// Of a cause that sentences alone tell: how sure one may be where another sentence excludes
// it. A remedy that was tried in vain leaves nothing; a processor that is idle, or a disk
// that is fast, may be another than the one that counts.
const (
	mostExcluded = 0.3
	mostPartly   = 0.42
)

// exclusions are what sentences exclude, by the fact that tells it.
var exclusions = []struct {
	key, but string // but a sentence that tells the contrary
	causes   []record.Cause
	most     float64
}{
	{"not_mtu", "mtu_helps", []record.Cause{record.MTU}, mostExcluded},
	{"not_cpu", "cpu_full", []record.Cause{record.SenderCPU, record.ReceiverCPU}, mostPartly},
	{"not_disk", "", []record.Cause{record.Application}, mostPartly},
	{"not_window", "window_helps", []record.Cause{record.ReceiveWindow, record.SendBuffer}, mostExcluded},
}

// denyTold lowers causes that sentences alone tell and others exclude.
func denyTold(v *scene.View) {
	for _, e := range exclusions {
		if !v.Said(e.key) || e.but != "" && v.Said(e.but) {
			continue
		}
		for i := range v.Findings {
			if f := &v.Findings[i]; slices.Contains(e.causes, f.Cause) && onlyTold(*f) {
				f.Confidence = min(f.Confidence, e.most)
			}
		}
	}
}

// onlyTold reports a finding that rests on sentences alone.
func onlyTold(f scene.Finding) bool {
	return len(f.Evidence) > 0 && !slices.ContainsFunc(f.Evidence, func(e record.Evidence) bool { return !strings.HasPrefix(e.What, "said") && e.What != "rates" })
}
