package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/trial/without"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const fromCarrier = "IFLA_CARRIER and IFLA_CARRIER_CHANGES, over the common window"

// outage: a link failed or returned while the trial ran, so its figure is of
// two states and of neither. One that cost nothing is no cause.
func (v *wayView) outage() (hypothesis, bool) {
	all := v.trial.Outages
	if !slices.ContainsFunc(all, cost) || diagnose.Fraction(v.trial.Goodput, v.trial.Ceiling) >= atCeiling || v.heldThroughout() {
		return hypothesis{}, false
	}
	f := hypothesis{cause: record.Unknown, seen: true, nothingToWin: true, remedy: record.ByHand("measure again while every link stays up")}
	var said []string
	for i, o := range all {
		if words := v.failed(i); words != "" {
			said = append(said, words)
		}
		f.evidence = append(f.evidence, record.Evidence{What: fmt.Sprintf("%s of %s", o.Link, o.Host), Value: felt(o), Source: fromCarrier})
		if v.leftBond(o) && !slices.ContainsFunc(all[i+1:], func(later record.Outage) bool {
			return later.Host == o.Host && later.Link == o.Link && later.Event == "up"
		}) {
			f.cause, f.sure, f.nothingToWin = record.LACPDown, 0.9, false
			f.remedy = record.ByHand(fmt.Sprintf("bring %s of %s up again (cable, optic, switch port), and measure again", o.Link, o.Host))
		}
	}
	if o, times := v.flaps(); times > 1 {
		f.cause, f.sure, f.nothingToWin = record.LACPDown, 0.85, false
		f.remedy = record.ByHand(fmt.Sprintf("look at %s of %s (cable, optic, switch port): it went down %d times", o.Link, o.Host, times))
	}
	f.evidence = append(f.evidence, v.loads()...)
	f.summary = strings.Join(said, "; ") + ": the figure is not that of a steady path."
	if slices.ContainsFunc(all, func(o record.Outage) bool { return o.Asked }) {
		f.summary = strings.Join(said, "; ") + ", as the run was told to: the figure is not that of a steady path."
		if f.cause == record.Unknown {
			f.remedy = record.ByHand("measure without `--fail-link` for the steady rate")
		}
	}
	return f, true
}

// flaps is the bonds' port that went down most often by itself, and how often.
func (v *wayView) flaps() (worst record.Outage, times int) {
	count := make(map[[2]string]int)
	for _, o := range v.trial.Outages {
		if o.Asked || !v.leftBond(o) {
			continue
		}
		count[[2]string{o.Host, o.Link}]++
		if n := count[[2]string{o.Host, o.Link}]; n > times {
			worst, times = o, n
		}
	}
	return worst, times
}

// heldThroughout reports a trial that never, while all links were up or with
// those that stayed, came near what they carry: something else holds it, and
// the outage took the rest.
func (v *wayView) heldThroughout() bool {
	if len(v.trial.Blocks) < 5 || v.trial.Direction != v.way {
		return false
	}
	if clear := v.undisturbed(); len(clear) > 1 && v.ceiling() > 0 {
		return slices.Max(clear) < v.ceiling()*roomLink
	}
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		stayed := slices.DeleteFunc(slices.Clone(side), func(l linkLoad) bool {
			return slices.ContainsFunc(v.trial.Outages, func(o record.Outage) bool { return o.Host == l.host && o.Link == l.link })
		})
		if most := total(stayed); most == 0 || slices.Max(v.trial.Blocks) >= most*roomLink {
			return false
		}
	}
	return true
}

// undisturbed are the rates of the blocks that ended before the first outage
// began; none where a link was down from the start.
func (v *wayView) undisturbed() []unit.BitRate {
	t := v.trial
	if len(t.Outages) == 0 || t.Outages[0].Event != "down" {
		return nil
	}
	n := int(sound((t.Outages[0].At - t.WarmUp) / sound(t.BlockLength)))
	return t.Blocks[:min(n, len(t.Blocks))]
}

// cost reports an outage that the streams felt. Within two samples nothing is
// told apart.
func cost(o record.Outage) bool {
	least := 2 * o.Resolution
	return len(o.Stalled) == 0 || o.LongestStall() > least || o.Recovered < 0 || o.Recovered > least || len(o.Moved) > 0
}

// failed is an outage in words, "" for a return that is part of an earlier one.
func (v *wayView) failed(i int) string {
	all := v.trial.Outages
	o := all[i]
	same := func(other record.Outage) bool { return other.Host == o.Host && other.Link == o.Link }
	if o.Event == "up" {
		if slices.ContainsFunc(all[:i], func(e record.Outage) bool { return same(e) && e.Event == "down" }) {
			return ""
		}
		return fmt.Sprintf("%s of %s was down and came back in this window", o.Link, o.Host)
	}
	for _, later := range all[i+1:] {
		if same(later) && later.Event == "up" {
			if away := later.At - o.At; away > o.Resolution {
				return fmt.Sprintf("%s of %s failed for %.1f s in this window", o.Link, o.Host, away)
			}
			return fmt.Sprintf("%s of %s failed for a moment in this window", o.Link, o.Host)
		}
	}
	return fmt.Sprintf("%s of %s failed in this window and did not come back", o.Link, o.Host)
}

// felt is what the streams felt of an outage.
func felt(o record.Outage) string {
	return fmt.Sprintf("%s %.2f s after the start, a stream stood still for up to %.2f s", o.Event, o.At, o.LongestStall())
}

// leftBond reports a failure that took a port out of a bond that uses all its ports.
func (v *wayView) leftBond(o record.Outage) bool {
	h := v.fabric.Hosts[o.Host]
	l, ok := h.Link(o.Link)
	if !ok || l.Port == nil || o.Event != "down" {
		return false
	}
	bond, ok := h.Link(l.Port.Bond)
	return ok && bond.Bond != nil && without.UsesAll(bond.Bond.Mode)
}
