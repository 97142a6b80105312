// Package live says what limits the traffic that a host has already. It must
// never have anything sent to find out: what was seen decides, or it is unknown.
package live

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Report is what limits the traffic that a host has already.
type Report struct {
	// Answer is the whole in one or two sentences.
	Answer string `json:"answer"`
	Flows  []Flow `json:"flows"`
	Links  []Link `json:"links"`
	// Unanswered are peers that answer nothing.
	Unanswered []livetraffic.Unanswered `json:"unanswered,omitempty"`
}

// Flow is the connections of one program with one peer that the same
// limits.
type Flow struct {
	Program livetraffic.Program `json:"program"`
	Peer    netip.Addr          `json:"peer"`
	// Sends: the payload goes to the peer; else it comes from there.
	Sends       bool           `json:"sends"`
	Rate        unit.BitRate   `json:"rate_bps"`
	Connections []Conn         `json:"connections"`
	Finding     record.Finding `json:"finding"`

	way string // the interface of its route
}

// Conn is one connection and the link it uses.
type Conn struct {
	flow.Tuple
	Rate unit.BitRate `json:"rate_bps"`
	// Link is the port that its packets leave by; "" where nobody can say or
	// there is no one port, and Why says why.
	Link string `json:"link,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Links are the links that the connections use, each once, in order.
func (f Flow) Links() []string {
	var all []string
	for _, c := range f.Connections {
		if c.Link != "" && !slices.Contains(all, c.Link) {
			all = append(all, c.Link)
		}
	}
	slices.Sort(all)
	return all
}

// From what on something of live traffic counts.
const (
	// fullShare is the share at which a link is full: a shaped one that TCP
	// fills carries 95 to 100 % of it over some seconds, half of which a
	// single flow may spend finding its share again.
	fullShare = 0.90
	// roomShare is the share up to which another link of the bond has room
	// that would be felt.
	roomShare = 0.75
	// pacedShare is how much of its cap a paced connection reaches: the cap
	// counts headers, and the pacer rounds.
	pacedShare = 0.85
	// starvedShare is the share of the looks in which nothing waited to be
	// sent, from which on the program is what is waited for.
	starvedShare = 0.5
	// idleShare is the share of the time with nothing to send.
	idleShare = 0.3
	// limitedShare is the share of the time that TCP says it waited for a
	// window or a buffer.
	limitedShare = 0.3
	// busyShare is a thread or core that has no time left: counted in ticks,
	// over seconds.
	busyShare = 0.9
	// throttledShare is the share of the time that a quota stopped a program,
	// from which on it is felt.
	throttledShare = 0.1
	// lossShare is the share of repeated bytes that costs rate on most paths.
	lossShare = 1e-3
	// queueRatio is how many times its least a round trip is, from which on
	// packets wait in a queue.
	queueRatio = 1.5
	// readerShare is the part of window over round trip that a connection
	// moves at least when the window is the limit; far below it is the
	// reader's pace.
	readerShare = 0.5
)

// Judge says what limits each connection that was watched. The findings' From
// is this host, To the peer's address; payload that comes in is Reverse.
func Judge(w livetraffic.Watched) Report {
	v := newView(w)
	report := Report{Flows: []Flow{}, Links: v.report(), Unanswered: w.Unanswered}
	for _, f := range w.Flows {
		report.add(v.judge(f))
	}
	slices.SortStableFunc(report.Flows, func(a, b Flow) int { return cmp.Compare(b.Rate, a.Rate) })
	for i := range report.Flows {
		report.Flows[i].finish(v)
	}
	report.Answer = answer(report)
	return report
}

// Findings are those of all flows, in the order of the flows.
func (r Report) Findings() []record.Finding {
	all := []record.Finding{}
	for _, f := range r.Flows {
		all = append(all, f.Finding)
	}
	return all
}

// add puts a judged connection to those of the same program, peer and cause.
func (r *Report) add(one Flow) {
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.Peer == one.Peer && f.Sends == one.Sends && f.Finding.Cause == one.Finding.Cause && f.Finding.Remedy == one.Finding.Remedy &&
			f.Program.PID == one.Program.PID && f.Program.Name == one.Program.Name &&
			f.Program.Kernel == one.Program.Kernel && f.Program.UID == one.Program.UID {
			f.Connections = append(f.Connections, one.Connections...)
			f.Rate += one.Rate
			f.Finding.Expected += one.Finding.Expected
			return
		}
	}
	r.Flows = append(r.Flows, one)
}

// finish fills the finding's numbers from the whole group.
func (f *Flow) finish(v *view) {
	found := &f.Finding
	found.From, found.To, found.Direction = v.host(), f.Peer.String(), flow.Forward
	if !f.Sends {
		found.Direction = flow.Reverse
	}
	found.Streams, found.Rate = len(f.Connections), f.Rate
	if links := v.reachable(*f); f.Sends && len(links) > 0 {
		found.Ceiling = v.most(links)
		// Together they cannot gain more than their links have.
		if found.Ceiling > 0 {
			found.Expected = min(found.Expected, found.Ceiling)
		}
	}
	if most := v.mostIn(*f); !f.Sends && most > 0 {
		found.Expected = min(found.Expected, most)
	}
	if rest, ok := strings.CutPrefix(found.Summary, "a program"); ok {
		found.Summary = "A program" + rest
	}
	if found.Expected <= f.Rate {
		found.Expected = 0
	} else if f.Rate > 0 {
		found.Gain = float64(found.Expected/f.Rate) - 1
	}
	if found.Evidence == nil {
		found.Evidence = []record.Evidence{}
	}
}

// reachable are the links that a flow uses, or could use once its limit goes:
// where flows share a link of a bond, the bond's others too.
func (v *view) reachable(f Flow) []string {
	links := f.Links()
	switch f.Finding.Cause {
	case record.HashImbalance, record.SingleLink, record.LACPDown:
	default:
		return links
	}
	for _, name := range f.Links() {
		l, _ := v.watched.Host.Link(name)
		if l.Port == nil {
			continue
		}
		more := v.others(l.Port.Bond, name)
		if f.Finding.Cause == record.LACPDown {
			more = append(more, v.outside(l.Port.Bond)...)
		}
		for _, other := range more {
			if !slices.Contains(links, other) {
				links = append(links, other)
			}
		}
	}
	return links
}

// mostIn is what the links that a flow may come by carry at most, together; zero where
// one of them is not known.
func (v *view) mostIn(f Flow) (sum unit.BitRate) {
	ports, _, _ := v.watched.Host.Below(f.way)
	for _, l := range ports {
		if v.links[l.Name].inCeiling == 0 {
			return 0
		}
		sum += v.links[l.Name].inCeiling
	}
	return sum
}

func (v *view) host() string {
	if v.watched.Host.Name == "" {
		return "this host"
	}
	return v.watched.Host.Name
}

// judge says what limits one connection, and which link it uses.
func (v *view) judge(f livetraffic.Flow) Flow {
	one := Flow{Program: f.Program, Peer: f.Dst, Sends: f.Outgoing(), Rate: f.Rate(), way: f.Way.Link}
	at := v.place(f)
	one.Connections = []Conn{{Tuple: f.Tuple, Rate: f.Rate(), Link: at.link, Why: at.why}}
	if one.Sends {
		one.Finding = v.sending(f, at)
	} else {
		one.Finding = v.receiving(f)
	}
	return one
}

// answer is the whole in a sentence or two: what to change if something
// is to change, else that the heaviest traffic has all there is.
func answer(r Report) string {
	if len(r.Flows) == 0 && len(r.Unanswered) > 0 {
		return "No connection moves anything to speak of: " + Waiting(r.Unanswered[0]) + "."
	}
	if len(r.Flows) == 0 {
		return "No connection moves anything to speak of."
	}
	heaviest := worthAnswering(r)
	links := ""
	if names := heaviest.Links(); len(names) > 0 && heaviest.Sends {
		links = " by " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s moves %v%s: %s", Who(heaviest.Program), heaviest.Rate, links, heaviest.Finding.Summary)
}

// Waiting says what is known of a peer that answers nothing, and what to look at.
func Waiting(u livetraffic.Unanswered) string {
	verb := "waits"
	if u.Connections > 1 {
		verb = "wait"
	}
	return fmt.Sprintf("%s %s for %v, which has answered nothing, not even the first packet (SYN): a firewall, a wrong route or MAC address, a link of a bond that leads nowhere, or a server that accepts no more; `ping %v`, and `linerate inspect` on both ends", unit.Counted(u.Connections, "connection"), verb, u.Peer, u.Peer.Addr())
}

// worthAnswering is the flow that gains most when its limit goes, where one
// gains something to be felt; else the heaviest.
func worthAnswering(r Report) Flow {
	best := r.Flows[0]
	if best.Finding.Cause == record.HashImbalance || best.Finding.Cause == record.SingleLink {
		return best
	}
	for _, f := range r.Flows {
		if (f.Finding.Cause == record.HashImbalance || f.Finding.Cause == record.SingleLink || f.Finding.Cause == record.LACPDown) && f.Finding.Gain > 0 {
			return f
		}
	}
	return best
}
