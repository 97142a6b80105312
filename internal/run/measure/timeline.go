package measure

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// linkName is a link of a host.
type linkName struct{ host, link string }

// linkEvent is a link that failed or returned, times since the window opened.
type linkEvent struct {
	linkName
	up    bool
	brief bool // it went and came between two samples
	// after is the last sample that does not show it, at the first that does.
	after, at time.Duration
	// peer is the link at the other end that did the same at that moment: one
	// wire's two ends. The zero linkName is none.
	peer linkName
}

func (ev linkEvent) word() string {
	if ev.up {
		return "up"
	}
	return "down"
}

// since is a sample's time since the window opened, by its end's own clock.
func (e *end) since(s agentapi.Sample) time.Duration { return s.At - e.samples[e.opened].At }

// events are what the window's samples say of the end's links.
func (e *end) events(h netstate.Host) []linkEvent {
	var out []linkEvent
	for i, name := range e.links {
		watched := watchedLink{lacp: inLACP(h, name)}
		for k := e.opened; k < len(e.samples); k++ {
			s := e.samples[k]
			if i >= len(s.Links) || s.Links[i].Link != name || s.Links[i].State == nil {
				continue
			}
			for _, ev := range watched.see(*s.Links[i].State) {
				ev.linkName, ev.at = linkName{e.host, name}, e.since(s)
				ev.after = e.since(e.samples[max(k-1, e.opened)])
				out = append(out, ev)
			}
		}
	}
	return out
}

// joined makes one event of two that the ends of one wire saw: what a carrier
// does at one end it does at the other, within what the samples resolve. The
// link that the run itself took down stays, else the first to be seen down.
func (t *trial) joined(events []linkEvent) []linkEvent {
	var out []linkEvent
	for _, ev := range events {
		i := slices.IndexFunc(out, func(o linkEvent) bool {
			return o.host != ev.host && o.up == ev.up && o.peer == (linkName{}) &&
				o.after <= ev.at+(ev.at-ev.after) && ev.after <= o.at+(o.at-o.after)
		})
		if i < 0 {
			out = append(out, ev)
			continue
		}
		first := &out[i]
		first.peer, first.brief = ev.linkName, ev.brief && first.brief
		f := t.spec.Fail
		asked := f != nil && ev.linkName == (linkName{f.Host, f.Link})
		fell := slices.ContainsFunc(out, func(o linkEvent) bool { return o.up != ev.up && o.linkName == ev.linkName && o.peer == first.linkName })
		if asked || fell {
			first.linkName, first.peer = first.peer, first.linkName
		}
	}
	return out
}

// inLACP reports whether a link is a port that its bond uses only while the
// partner agrees.
func inLACP(h netstate.Host, name string) bool {
	l, ok := h.Link(name)
	if !ok {
		return false
	}
	bond, ok := h.Link(l.Master)
	return ok && bond.Bond != nil && bond.Bond.Mode == netstate.LACP
}

// watchedLink follows one link's states.
type watchedLink struct {
	lacp bool
	seen bool
	last agentapi.LinkState
	lost bool // no carrier, or not in use
	idle bool // lost with its carrier there: its bond does not use it
}

// see takes the next state and returns what happened since the last. A port
// that returns counts from its carrier on, not from when its bond uses it: what
// the bond takes to do so is part of what the streams feel.
func (w *watchedLink) see(s agentapi.LinkState) []linkEvent {
	was, first := w.last, !w.seen
	w.last, w.seen = s, true
	used := !w.lacp || s.Port == nil || s.Port.Active
	wasUsed := !w.lacp || was.Port == nil || was.Port.Active
	switch {
	case first:
		w.lost = !s.Carrier
	case !w.lost && !s.Carrier:
		w.lost, w.idle = true, false
		return []linkEvent{{}}
	case !w.lost && was.Carrier && s.Changes >= was.Changes+2:
		return []linkEvent{{brief: true}, {up: true, brief: true}}
	case !w.lost && wasUsed && !used:
		w.lost, w.idle = true, true
		return []linkEvent{{}}
	case w.lost && !s.Carrier:
		w.idle = false
	case w.lost && (!w.idle || used):
		w.lost, w.idle = false, false
		return []linkEvent{{up: true}}
	}
	return nil
}

// timeline is what arrived over time, all ends on one clock that starts when
// the window opens.
type timeline struct {
	sinks  []*end
	lanes  []laneline
	end    time.Duration
	origin time.Duration // from the first sample to the window's opening
}

// laneline is one stream over time, at both ends.
type laneline struct {
	sink, source *end
	stream       int
}

func laneOf(sink, source *end, stream int) laneline { return laneline{sink, source, stream} }

func timelineOf(es ends) timeline {
	l := timeline{end: -1}
	for _, e := range es {
		if e.sending {
			continue
		}
		l.sinks = append(l.sinks, e)
		shut := e.since(e.samples[len(e.samples)-1])
		if l.end < 0 || shut < l.end {
			l.end = shut
		}
		l.origin = max(l.origin, -e.since(e.samples[0]))
		source := e
		for _, other := range es {
			if other.sending && other.way.name == e.way.name {
				source = other
			}
		}
		for i := range e.way.streams {
			l.lanes = append(l.lanes, laneOf(e, source, i))
		}
	}
	return l
}

// times are the samples of the first receiving end within a span.
func (l timeline) times(from, to time.Duration) []time.Duration {
	var out []time.Duration
	if len(l.sinks) == 0 {
		return nil
	}
	for _, s := range l.sinks[0].samples {
		if at := l.sinks[0].since(s); at >= from && at <= to {
			out = append(out, at)
		}
	}
	return out
}

// rate is what arrived in all between two moments; what samples do not show is
// laid on a straight line between them.
func (l timeline) rate(from, to time.Duration) unit.BitRate {
	var sum float64
	for _, lane := range l.lanes {
		sum += lane.at(to) - lane.at(max(from, -l.origin))
	}
	return unit.FromBytes(sum, (to - max(from, -l.origin)).Seconds())
}

// at is the payload that had arrived at a moment.
func (l laneline) at(moment time.Duration) float64 {
	samples := l.sink.samples
	k, _ := slices.BinarySearchFunc(samples, moment, func(s agentapi.Sample, m time.Duration) int { return cmp.Compare(l.sink.since(s), m) })
	switch k {
	case 0:
		return float64(samples[0].Bytes[l.stream])
	case len(samples):
		return float64(samples[k-1].Bytes[l.stream])
	}
	a, b := samples[k-1], samples[k]
	share := 1.0
	if b.At > a.At {
		share = float64(moment-l.sink.since(a)) / float64(b.At-a.At)
	}
	return float64(a.Bytes[l.stream]) + share*float64(netstate.Grown(a.Bytes[l.stream], b.Bytes[l.stream]))
}

func (l laneline) grown(from, to time.Duration) float64 { return l.at(to) - l.at(from) }

// stalled is the longest time within a span in which nothing arrived.
func (l laneline) stalled(from, to time.Duration) time.Duration {
	var longest time.Duration
	var still *agentapi.Sample // the first that shows what the newest shows
	for i := range l.sink.samples {
		s := &l.sink.samples[i]
		if at := l.sink.since(*s); at < from || at > to {
			continue
		}
		if still == nil || s.Bytes[l.stream] != still.Bytes[l.stream] {
			still = s
		}
		longest = max(longest, s.At-still.At)
	}
	return longest
}

// retransmits is how many segments the sender sent again within a span.
func (l laneline) retransmits(from, to time.Duration) uint64 {
	first, last := -1, -1
	for i, s := range l.source.samples {
		at := l.source.since(s)
		if at <= from || first < 0 {
			first = i
		}
		if at <= to {
			last = i
		}
	}
	if first < 0 || last < first {
		return 0
	}
	a, b := tcpOf(l.source.samples[first], l.stream), tcpOf(l.source.samples[last], l.stream)
	return netstate.Grown32(a.Retransmits, b.Retransmits)
}
