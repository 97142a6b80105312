package report

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// findingView is one cause with its evidence.
type findingView struct {
	Phase, Cause, Meaning string
	Label                 string // tells it apart from the page's others
	Pair, Where           string
	Summary               string
	Evidence              []record.Evidence
	Remedy, Words         string // Words are rate, expectation and confidence
	Good                  bool
	Others                []otherFinding
	Beyond                []fact
}

// otherFinding is a further result with the same cause.
type otherFinding struct{ Where, Rate, Share, Summary string }

func findingViewOf(g findingGroup) findingView {
	v := findingView{Phase: string(g.Phase), Cause: string(g.Cause), Meaning: Meaning(g.Cause), Pair: orUnknown(g.From) + " → " + orUnknown(g.To), Where: g.where(),
		Summary: g.Lead.Summary, Evidence: wholeEvidence(g.Lead.Evidence), Remedy: g.Lead.Remedy, Words: findingWords(g.Lead), Good: g.Cause == record.LineRate, Beyond: beyond(g.Lead)}
	v.Label = strings.TrimSpace(v.Cause + ", " + v.Pair + ", " + v.Where + " " + v.Phase)
	if len(g.All) < 2 {
		return v
	}
	for _, f := range g.All {
		v.Others = append(v.Others, otherFinding{string(f.Direction) + ", " + unit.Counted(f.Streams, "stream"), counted(f.Rate), percent(f.Rate, f.Ceiling), f.Summary})
	}
	return v
}

// findingWords are a finding's rate, what to expect of the remedy, and how sure it
// is; what is not known is left out.
func findingWords(f record.Finding) string {
	words := joinWith(", ", counted(f.Rate), ofTheCeiling(percent(f.Rate, f.Ceiling)))
	if positive(float64(f.Ceiling)) && float64(f.Expected) > worthExpecting*float64(f.Rate) {
		words += " · with the remedy: " + rate(f.Expected)
	}
	if positive(f.Confidence) {
		words += " · confidence " + confidence(f)
	}
	return words
}

func wholeEvidence(in []record.Evidence) []record.Evidence {
	out := make([]record.Evidence, len(in))
	for i, e := range in {
		out[i] = record.Evidence{What: orUnknown(e.What), Value: orUnknown(e.Value), Source: orUnknown(e.Source)}
	}
	return out
}

// stepView is one change that was tried.
type stepView struct {
	Number                  int
	Change, Why, Verdict    string
	Before, After, Gain     string
	BeforeWidth, AfterWidth float64
	Kept                    bool
	Commands                string
}

func stepViewOf(n int, s record.Step) stepView {
	v := stepView{Number: n, Change: orUnknown(s.Change), Why: s.Why, Verdict: s.Verdict, Before: rate(s.Before), After: rate(s.After),
		Gain: change(s.Before, s.After), Kept: s.Kept, Commands: strings.Join(s.Commands, "\n")}
	if top := max(amount(s.Before), amount(s.After)); top > 0 {
		v.BeforeWidth, v.AfterWidth = tenth(100*amount(s.Before)/top), tenth(100*amount(s.After)/top)
	}
	return v
}

// trialView is one trial with all that was recorded of it.
type trialView struct {
	Number         int
	Phase, Step    string
	Way, Streams   string
	Goodput, Share string
	Cause          string
	Facts          []fact
	Lanes          [][]string
	Links          [][]string
	Ports          [][]string // of switches
	CPU            [][]string
	Notes          []string
	Time           *timeline
	Finding        *findingView
}

func trialViewOf(n int, t record.Trial) trialView {
	v := trialView{Number: n, Phase: string(t.Phase), Step: t.Step, Way: orUnknown(t.From) + " → " + orUnknown(t.To) + " " + string(t.Direction),
		Streams: unit.Counted(t.Streams, "stream"), Goodput: goodput(&t), Share: ofCeiling(&t, t.Ceiling), Cause: string(cause(&t)), Notes: t.Notes}
	v.Facts = trialFacts(t)
	if l, ok := timelineOf(fmt.Sprintf("trial-%d-time", n), t); ok {
		v.Time = &l
	}
	for _, l := range t.Lanes {
		v.Lanes = append(v.Lanes, laneRow(l))
	}
	for _, u := range t.Links {
		v.Links = append(v.Links, linkRow(u))
	}
	v.Ports = portRows(t)
	for _, c := range t.CPU {
		v.CPU = append(v.CPU, cpuRow(c))
	}
	if t.Finding != nil {
		f := *t.Finding
		view := findingViewOf(findingGroup{Phase: t.Phase, Cause: cause(&t), From: t.From, To: t.To, Lead: f, All: []record.Finding{f}})
		view.Label += fmt.Sprintf(", trial %d", n)
		v.Finding = &view
	}
	return v
}

func trialFacts(t record.Trial) []fact {
	out := []fact{{"95 % interval", orUnknown(interval(&t))}, {"On the wire", rate(t.Wire)}, {"Ceiling", rate(t.Ceiling) + ", MTU " + mtu(t.CeilingMTU)},
		{"Predicted", predicted(t)}, {"Window", seconds(t.Window) + " after " + seconds(t.WarmUp) + " of warm-up" + stopWords(t.Stop)},
		{"Traffic", orUnknown(t.Protocol) + " by " + orUnknown(t.Tool) + ", ports " + orUnknown(t.Ports)}, {"MTU", mtu(t.MTU)},
		{"Congestion control", orUnknown(t.Congest)}, {"Started", instant(t.Started)}}
	if positive(float64(t.Forward)) || positive(float64(t.Reverse)) {
		out = append(out, fact{"Each way", rate(t.Forward) + " forward, " + rate(t.Reverse) + " reverse"})
	}
	if m := t.Method; m != (record.Method{}) {
		words := orUnknown(m.Send) + " to " + orUnknown(m.Receive)
		if m.Copied {
			words += ", copied by the kernel after all"
		}
		out = append(out, fact{"Moved by", words})
	}
	return out
}

func predicted(t record.Trial) string {
	w := rate(t.Predicted)
	if t.Limit != "" {
		w += ", limit " + string(t.Limit)
	}
	return w
}

// stopWords say what ended a trial's window.
func stopWords(stop string) string {
	switch stop {
	case "":
		return ""
	case "interval":
		return ", ended when the interval was narrow enough"
	case "duration":
		return ", as long as asked for"
	case "maximum":
		return ", ended at the longest allowed"
	}
	return ", ended by " + stop
}

// laneHeads name what laneRow gives.
func laneHeads() []string {
	return []string{"way", "source", "destination", "ports", "out by", "in by", "goodput", "retransmits", "busy", "receive window", "send buffer", "RTT", "least RTT", "MSS"}
}

func laneRow(l record.Lane) []string {
	tcp := l.TCP
	// Without a round trip and a segment size nothing was read of the socket.
	seen := positive(tcp.RTTMS) || tcp.SndMSS > 0
	ratio := func(v float64) string {
		if !seen {
			return unknown
		}
		return share(v)
	}
	size := unknown
	if tcp.SndMSS > 0 {
		size = fmt.Sprintf("%d B", tcp.SndMSS)
	}
	return []string{orUnknown(string(l.Way)), address(l.Src), address(l.Dst), port(l.Sport) + " → " + port(l.Dport), orUnknown(l.EgressLink), orUnknown(l.IngressLink),
		counted(l.Goodput), unit.Counted(l.Retransmits, "segment"), ratio(tcp.BusyRatio), ratio(tcp.RwndLimited), ratio(tcp.SndbufLimited),
		milliseconds(tcp.RTTMS), milliseconds(tcp.MinRTTMS), size}
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return unknown
	}
	return a.String()
}

func port(n uint16) string {
	if n == 0 {
		return unknown
	}
	return fmt.Sprint(n)
}

// linkHeads name what linkRow gives.
func linkHeads() []string {
	return []string{"host", "link", "out", "in", "out, payload", "in, payload", "ceiling each way", "of ceiling out", "of ceiling in", "drops"}
}

func linkRow(u record.LinkUse) []string {
	tx, rx := txLoad(u), rxLoad(u)
	return []string{orUnknown(u.Host), orUnknown(u.Link), counted(u.Tx), counted(u.Rx), payload(tx), payload(rx), rate(u.Ceiling),
		percent(tx.carried, u.Ceiling), percent(rx.carried, u.Ceiling), unit.Counted(u.Drops+u.QdiscDrops, "packet")}
}

func payload(l load) string {
	if l.wire {
		return unknown
	}
	return counted(l.carried)
}

// cpuHeads name what cpuRow gives.
func cpuHeads() []string {
	return []string{"host", "busy", "of", "in softirq", "busiest core", "busiest stream thread", "shared with the other host"}
}

func cpuRow(c record.CPUUse) []string {
	all, shared, thread := unknown, "no", unknown
	if c.Cores > 0 {
		all = unit.Counted(c.Cores, "core")
	}
	if c.Shared {
		shared = "yes"
	}
	if positive(c.BusiestThread) {
		thread = share(c.BusiestThread) + " of a core"
	}
	return []string{orUnknown(c.Host), cores(c.Busy), all, cores(c.Softirq), share(c.Busiest), thread, shared}
}
