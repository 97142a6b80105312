package measure

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What a trial counts as back to what the links allow, and over how long.
const (
	backShare  = 0.9
	backWindow = 100 * time.Millisecond
	// before is the traffic that an event is held against.
	before = time.Second
)

// addOutages adds the links that failed or returned in the window, and what
// the streams felt of it.
func (t *trial) addOutages(out *record.Trial) {
	var events []linkEvent
	for _, e := range t.ends {
		events = append(events, e.events(t.cfg.Network.Host(e.host))...)
	}
	slices.SortStableFunc(events, func(a, b linkEvent) int { return cmp.Compare(a.at, b.at) })
	events = t.silent.among(t.joined(events))
	line := timelineOf(t.ends)
	down := make(map[linkName]unit.BitRate) // links that are gone, and what ran before
	for i, ev := range events {
		gone := maps.Clone(down)
		run := line.rate(ev.after-before, ev.after)
		allowed := run
		if ev.up {
			delete(gone, ev.linkName)
			delete(gone, ev.peer)
			allowed = line.rate(line.end-before, line.end)
			if was := down[ev.linkName]; was > 0 {
				allowed = was
			}
		} else {
			gone[ev.linkName] = run
			if ev.peer != (linkName{}) {
				gone[ev.peer] = run
			}
		}
		if most := left(*out, ev.host, gone); most > 0 {
			allowed = min(allowed, most)
		}
		until := line.end
		for _, later := range events[i+1:] {
			if later.at > ev.at {
				until = later.after
				break
			}
		}
		o := line.felt(ev, until, allowed)
		o.Moved = t.moved(ev, o, until, maps.Keys(down), maps.Keys(gone))
		o.At = (ev.at + line.origin).Seconds()
		f := t.spec.Fail
		o.Asked = f != nil && f.Host == ev.host && f.Link == ev.link
		out.Outages = append(out.Outages, o)
		out.Notes = append(out.Notes, outageNote(o, ev))
		down = gone
	}
}

// left is what a host's links that still carry allow, in all directions of the
// trial; zero unknown.
func left(t record.Trial, host string, gone map[linkName]unit.BitRate) unit.BitRate {
	var sum unit.BitRate
	for _, l := range t.Links {
		if l.Host != host {
			continue
		}
		if l.Ceiling <= 0 {
			return 0
		}
		if _, is := gone[linkName{host, l.Link}]; !is {
			sum += l.Ceiling
		}
	}
	return sum * unit.BitRate(len(t.Direction.Ways()))
}

// felt is what the streams felt of an event until the next one.
func (l timeline) felt(ev linkEvent, until time.Duration, allowed unit.BitRate) record.Outage {
	o := record.Outage{Host: ev.host, Link: ev.link, Event: ev.word(), Recovered: -1, Resolution: (ev.at - ev.after).Seconds()}
	for _, lane := range l.lanes {
		o.Stalled = append(o.Stalled, lane.stalled(ev.after, until).Seconds())
		o.Retransmits += lane.retransmits(ev.after, until)
	}
	for _, at := range l.times(ev.at, until) {
		if at+backWindow > until {
			break
		}
		if l.rate(at, at+backWindow) >= backShare*allowed {
			o.Recovered = (at - ev.at).Seconds()
			break
		}
	}
	return o
}

// moved is the lanes that an event put on another link: where the sender's hash
// is known those whose place it changes; else, when a link failed, those that
// stood still and went on while it was gone.
func (t *trial) moved(ev linkEvent, o record.Outage, until time.Duration, was, is iter.Seq[linkName]) []int {
	earlier, later := t.without(was, ev.after), t.without(is, until)
	var out []int
	i := -1
	for _, sink := range t.ends {
		if sink.sending {
			continue
		}
		for stream, s := range t.streams[sink.way.name] {
			i++
			l := laneOf(sink, t.other(sink), stream)
			if l.grown(until-backWindow, until) == 0 {
				continue // it did not go on
			}
			tuple := flow.Tuple{Proto: flow.TCP, Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: s.Dport}
			a, b := place(earlier, sink.way, tuple), place(later, sink.way, tuple)
			switch {
			case sink.way.from == ev.host && a != "" && b != "":
				if a != b {
					out = append(out, i)
				}
			case !ev.up && i < len(o.Stalled) && o.Stalled[i] > 2*o.Resolution:
				out = append(out, i)
			}
		}
	}
	return out
}

// without is the network with links that carry nothing, its bonds as the
// samples show them at a moment.
func (t *trial) without(gone iter.Seq[linkName], moment time.Duration) Network {
	n := t.cfg.Network
	hosts := maps.Clone(n.Fabric.Hosts)
	for name := range gone {
		h := hosts[name.host].Clone()
		for i := range h.Links {
			l := &h.Links[i]
			if l.Name != name.link {
				continue
			}
			l.Carrier = false
			if l.Port != nil { // a clone shares it
				port := *l.Port
				port.MIIUp, port.Active = false, false
				l.Port = &port
			}
		}
		hosts[name.host] = h
	}
	for name, h := range hosts {
		hosts[name] = t.ends.asBonded(h.Clone(), name, moment)
	}
	n.Fabric.Hosts = hosts
	return n
}

// asBonded is a host whose active-backup bonds use the ports that the samples
// show at a moment.
func (es ends) asBonded(h netstate.Host, name string, moment time.Duration) netstate.Host {
	for i := range h.Links {
		b := h.Links[i].Bond
		if b == nil || b.Mode != netstate.ActiveBackup {
			continue
		}
		b.Active = es.activePort(name, *b, moment)
		for j := range h.Links {
			if l := &h.Links[j]; l.Port != nil && slices.Contains(b.Ports, l.Name) {
				port := *l.Port
				port.Active = l.Name == b.Active
				l.Port = &port
			}
		}
	}
	return h
}

// activePort is the one port of a bond that was not in the backup state at a
// moment; as it was observed before, where the samples do not say.
func (es ends) activePort(host string, b netstate.Bond, moment time.Duration) string {
	active := b.Active
	for _, e := range es {
		if e.host != host {
			continue
		}
		for _, s := range e.samples {
			if e.since(s) > moment {
				break
			}
			for _, l := range s.Links {
				if l.State != nil && l.State.Port != nil && l.State.Port.Active && slices.Contains(b.Ports, l.Link) {
					active = l.Link
				}
			}
		}
	}
	return active
}

// outageNote is an outage in one sentence.
func outageNote(o record.Outage, ev linkEvent) string {
	verb := "went down"
	switch {
	case ev.brief:
		verb = "lost its carrier for a moment"
	case ev.up:
		verb = "came back"
	}
	longest := o.LongestStall()
	back := fmt.Sprintf("the sum was back at what the links allow after %.2f s", o.Recovered)
	if o.Recovered < 0 {
		back = "the sum did not come back to what the links allow while it was watched"
	}
	where := fmt.Sprintf("%s of %s", o.Link, o.Host)
	if ev.peer != (linkName{}) {
		where += fmt.Sprintf(" (and with it %s of %s)", ev.peer.link, ev.peer.host)
	}
	note := fmt.Sprintf("%s %s %.2f s into the window: a stream stood still for up to %.2f s, %s, %d segments sent again",
		where, verb, ev.at.Seconds(), longest, back, o.Retransmits)
	if o.Resolution > coarse.Seconds() {
		note += fmt.Sprintf(" (samples are %.2f s apart: shorter is not seen)", o.Resolution)
	}
	return note
}

// coarse is a resolution that has to be said.
const coarse = 60 * time.Millisecond
