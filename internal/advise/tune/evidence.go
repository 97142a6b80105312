package tune

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// byEvidence lists what the newest trial of the state asks for and the
// prediction knows nothing of: the cause of its finding first, then the others
// that the evidence allows, then what is worth a try when nobody can say. Of a
// trial that reached the target only what would be cheaper.
func byEvidence(s State) []Proposal {
	t, ok := newest(s, s.Traffic.Direction)
	if !ok || len(t.Lanes) == 0 {
		return nil
	}
	var out []Proposal
	if s.Thorough {
		out = unsure(s, moveNamed(Buffers), nil)
	}
	if s.reached(t) {
		return append(out, cheaper(s)...)
	}
	s = s.learn()
	if s.Tried[MTU] { // larger frames did not bring what they must: something else is in the way of all
		out = append(out, together(s, t, joint(s)[:1])...)
	}
	for _, bounces := range []bool{false, true} {
		for _, cause := range causesOf(t, s.rate()) {
			if s.Traffic.SocketBuffer > 0 && (cause == record.ReceiveWindow || cause == record.SendBuffer) {
				continue // they wait for what they ask for, as they should
			}
			for _, m := range moves() {
				if s.bounces(m) != bounces || !slices.Contains(m.causes, cause) || m.name == Streams && noCoreLeft(t) {
					continue // more streams cost a full processor more
				}
				out = unsure(s, m, out)
			}
		}
	}
	if len(out) == 0 {
		out = together(s, t, joint(s))
	}
	return append(out, cheaper(s)...)
}

// reached reports a trial that carries the target's share of the ceiling beyond
// its noise, of at most what a gain counts from, and about what is expected of
// it: one that only seems to, or falls short, might be improved on.
func (s State) reached(t record.Trial) bool {
	target := s.Target
	if target <= 0 {
		target = DefaultTarget
	}
	return t.Ceiling > 0 && float64(max(low(t), t.Goodput*(1-leastGain))) >= target*float64(t.Ceiling) && float64(t.Goodput) >= asExpected*float64(s.rate())
}

// allowedCause is how likely a cause must be for its remedies to be tried.
const allowedCause = 0.15

// asExpected is the share of what full links are expected to carry that leaves
// nothing to look for but noise.
const asExpected = 0.985

// causesOf are the causes that a trial's evidence allows, most likely first;
// links that are full ask for nothing. Links that are called full and carry
// less than was expected of them, zero unknown, are not.
func causesOf(t record.Trial, expected unit.BitRate) []record.Cause {
	var out []record.Cause
	if t.Finding != nil {
		out = append(out, t.Finding.Cause)
	}
	if t.Finding != nil && t.Finding.Cause == record.LineRate && float64(t.Goodput) >= asExpected*float64(expected) {
		return out
	}
	if waited, _ := waitedFor(t); waited >= limitedShare && !slices.Contains(out, record.ReceiveWindow) {
		out = append(out, record.ReceiveWindow)
	}
	if t.Finding == nil {
		return append(out, record.Unknown)
	}
	for _, also := range t.Finding.Also {
		if also.Confidence >= allowedCause && !slices.Contains(out, also.Cause) {
			out = append(out, also.Cause)
		}
	}
	if !slices.Contains(out, record.Unknown) {
		out = append(out, record.Unknown)
	}
	return out
}

// noCoreLeft reports a host whose cores are all full.
func noCoreLeft(t record.Trial) bool {
	return slices.ContainsFunc(t.CPU, func(c record.CPUUse) bool { return c.Cores > 0 && c.Busy >= fullCore*float64(c.Cores) })
}

// unsure appends the options of a move that are not there yet: of streams one
// larger number.
func unsure(s State, m move, out []Proposal) []Proposal {
	for _, o := range s.left(m) {
		if m.name == Streams && o.load.Traffic.Streams < moreStreams(s.Traffic.Streams) {
			continue
		}
		if !slices.ContainsFunc(out, func(p Proposal) bool { return p.Key == o.key }) {
			p, _ := proposalOf(s, []pick{{m, o}})
			p.Unsure = true
			out = append(out, p)
		}
		if m.name == Streams {
			break
		}
	}
	return out
}

// moreStreams is how many are tried, at least, where nobody can say how many
// help: so many more that it shows whether any do. What they can do without is
// taken away again, see cheaper.
func moreStreams(now int) int { return max(2*now, min(4*now, severalStreams)) }

// severalStreams share a link well enough: one that has lost a packet is a small
// part of them.
const severalStreams = 8

// cheaper is half the streams, where there are more than links, and the
// prediction does not expect them to carry less.
func cheaper(s State) []Proposal {
	n := s.Traffic.Streams / 2
	key := Name(fmt.Sprintf("%s=%d", Streams, n))
	if n < width(s) || n < 1 || s.Tried[key] || s.Tried[Streams] {
		return nil
	}
	o := option{key: key, load: s.Load}
	o.load.Traffic.Streams = n
	if now := s.rate(); now <= 0 || s.rateOf(o.load) < now*(1-leastGain) {
		return nil
	}
	o.change = fmt.Sprintf("%s instead of %s", unit.Counted(n, "stream"), unit.Counted(s.Traffic.Streams, "stream"))
	o.why = "fewer streams cost less, if they carry as much"
	p, _ := proposalOf(s, []pick{{moveNamed(Streams), o}})
	p.Cheaper = true
	return []Proposal{p}
}
