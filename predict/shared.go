package predict

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// qdiscs are the shapers on devices above the sender's ports, each for the
// legs that pass it.
func (w *way) qdiscs() []sharedLimit {
	var all []sharedLimit
	for n, l := range w.legs {
		for _, s := range l.shapers {
			where := w.sender.Name + ": " + s.link
			i := slices.IndexFunc(all, func(known sharedLimit) bool { return known.where == where })
			if i < 0 {
				i = len(all)
				all = append(all, sharedLimit{cause: record.Shaper, group: "root qdiscs", where: where,
					what: "a root qdisc on " + s.link, total: estimate{rate: s.rate}})
			}
			all[i].legs = append(all[i].legs, n)
		}
	}
	return all
}

// used are the legs that carry a flow.
func (w *way) used() []int {
	var legs []int
	for n := range min(w.flows(), len(w.legs)) {
		legs = append(legs, n)
	}
	return legs
}

// together turns shared limits into limits of all that the given legs carry.
// Members of a group add up, and bound the whole only where they cover it.
func (w *way) together(shared []sharedLimit, legs []int) []Limit {
	var all []Limit
	var done []string
	for _, s := range shared {
		if s.group == "" {
			if l, ok := w.sumOf([]sharedLimit{s}, legs); ok {
				all = append(all, l)
			}
			continue
		}
		if slices.Contains(done, s.group) {
			continue
		}
		done = append(done, s.group)
		var members []sharedLimit
		for _, m := range shared {
			if m.group == s.group {
				members = append(members, m)
			}
		}
		if l, ok := w.sumOf(members, legs); ok {
			all = append(all, l)
		}
	}
	return all
}

// sumOf adds a group's members that any of the legs pass; false where a leg
// passes none.
func (w *way) sumOf(members []sharedLimit, legs []int) (Limit, bool) {
	for _, n := range legs {
		if !slices.ContainsFunc(members, func(m sharedLimit) bool { return m.covers(n) }) {
			return Limit{}, false
		}
	}
	members = slices.DeleteFunc(slices.Clone(members), func(m sharedLimit) bool {
		return !slices.ContainsFunc(legs, m.covers)
	})
	if len(members) == 0 {
		return Limit{}, false
	}
	l := Limit{Cause: members[0].cause}
	for i, m := range members {
		e := m.total.times(w.shareOf(m))
		l.Rate += e.rate
		l.Low, l.High = l.Low+e.at(lowest), l.High+e.at(highest)
		if i > 0 {
			l.Where, l.Why = l.Where+", ", l.Why+"; "
		}
		l.Where += m.where
		what := m.what
		if i > 0 && what == members[0].what {
			what = "the same"
		}
		l.Why += fmt.Sprintf("%s: %s%s", what, m.total.rate, w.counted(m, e.rate))
	}
	if len(members) > 1 {
		l.Why += fmt.Sprintf("; %s in all", l.Rate)
	}
	return l.settled(), true
}

// shareOf is the part of what a shared limit counts that is payload.
func (w *way) shareOf(s sharedLimit) float64 {
	if s.payload {
		return 1
	}
	return w.shaperShare()
}

func (w *way) counted(s sharedLimit, rate unit.BitRate) string {
	if s.payload {
		return ""
	}
	seg := w.fullest()
	return fmt.Sprintf(" x %d/%d (payload of a full frame, counted from the Ethernet header) = %s",
		seg.Payload(), seg.Frame(netstate.FramingL2, 0), rate)
}
