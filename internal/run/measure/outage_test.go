package measure

import (
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

func TestWatchedLink(t *testing.T) {
	up, none := agentapi.LinkState{Carrier: true, Changes: 1}, agentapi.LinkState{Changes: 2}
	port := func(carrier, active bool) agentapi.LinkState {
		return agentapi.LinkState{Carrier: carrier, Port: &agentapi.PortState{Up: carrier, Active: active}}
	}
	type seen = []string
	for _, c := range []struct {
		name string
		lacp bool
		in   []agentapi.LinkState
		want seen // after each state
	}{
		{"steady", false, []agentapi.LinkState{up, up, up}, seen{"", "", ""}},
		{"down and up", false, []agentapi.LinkState{up, none, none, {Carrier: true, Changes: 3}}, seen{"", "down", "", "up"}},
		{"down from the start", false, []agentapi.LinkState{none, none, up}, seen{"", "", "up"}},
		{"between two samples", false, []agentapi.LinkState{up, {Carrier: true, Changes: 3}, {Carrier: true, Changes: 3}}, seen{"", "down up", ""}},
		{"no counter", false, []agentapi.LinkState{{Carrier: true}, {Carrier: true}}, seen{"", ""}},
		{"a backup port takes over", false, []agentapi.LinkState{port(true, false), port(true, true), port(true, false)}, seen{"", "", ""}},
		{"LACP leaves a port out", true, []agentapi.LinkState{port(true, true), port(true, false), port(true, false), port(true, true)}, seen{"", "down", "", "up"}},
		{"LACP takes its time", true, []agentapi.LinkState{port(true, true), port(false, false), port(true, false), port(true, true)}, seen{"", "down", "up", ""}},
		{"left out, then cut", true, []agentapi.LinkState{port(true, true), port(true, false), port(false, false), port(true, false), port(true, true)}, seen{"", "down", "", "up", ""}},
	} {
		w := watchedLink{lacp: c.lacp}
		var got seen
		for _, s := range c.in {
			words := ""
			for _, ev := range w.see(s) {
				if words != "" {
					words += " "
				}
				words += ev.word()
			}
			got = append(got, words)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// cut is a trial of two streams over two links of 500 Mbit/s, 1 MB each 20 ms,
// whose first link is gone from gone to back (samples): the first stream stands
// still for a while, and goes on at half the rate over the other link until it
// is back and used again, late samples after.
func cut(mode netstate.BondMode, gone, still, back, late, samples int) *trial {
	n := networkOf(bonded("alpha", 2, 1, 1), bonded("beta", 2, 1, 101), "")
	for i := range n.Fabric.Hosts["alpha"].Links {
		if l := &n.Fabric.Hosts["alpha"].Links[i]; l.Bond != nil {
			l.Bond.Mode, l.Bond.Active = mode, "eth0"
		} else if l.Port != nil && mode == netstate.ActiveBackup {
			l.Port.Active = l.Name == "eth0"
		}
	}
	w := way{name: flow.Forward, from: "alpha", to: "beta", streams: 2, lanes: []flow.Lane{{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.101")}}}
	sink := &end{host: "beta", way: w, opened: 5}
	source := &end{host: "alpha", way: w, opened: 5, sending: true, links: []string{"eth0", "eth1"}}
	bytes := []uint64{0, 0}
	for k := range samples {
		rate := []uint64{1_000_000, 1_000_000}
		if k > gone && k <= back+late {
			rate = []uint64{500_000, 500_000}
		}
		if k > gone && k <= gone+still {
			rate[0] = 0
		}
		bytes[0], bytes[1] = bytes[0]+rate[0], bytes[1]+rate[1]
		at := time.Duration(k) * failPoll
		away := k >= gone && k < back
		changes := uint64(1)
		if k >= gone {
			changes++
		}
		if k >= back {
			changes++
		}
		states := []agentapi.LinkCount{
			{Link: "eth0", State: &agentapi.LinkState{Carrier: !away, Changes: changes, Port: &agentapi.PortState{Up: !away, Active: k < gone || k >= back+late}}},
			{Link: "eth1", State: &agentapi.LinkState{Carrier: true, Changes: 1, Port: &agentapi.PortState{Up: true, Active: mode == netstate.LACP || k >= gone}}},
		}
		retransmits := uint64(0)
		if k > gone {
			retransmits = 7
		}
		tcp := []agentapi.TCPCount{{Present: true, Retransmits: retransmits}, {Present: true}}
		sink.samples = append(sink.samples, agentapi.Sample{At: at, Bytes: []uint64{bytes[0], bytes[1]}})
		source.samples = append(source.samples, agentapi.Sample{At: at + time.Hour, Bytes: []uint64{bytes[0], bytes[1]}, Links: states, TCP: tcp})
	}
	// Source ports that layer3+4 puts on eth0 and eth1.
	streams := make([]agentapi.Stream, 2)
	for sport := uint16(40000); streams[0].Sport == 0 || streams[1].Sport == 0; sport++ {
		s := agentapi.Stream{Lane: w.lanes[0], Sport: sport, Dport: 5201}
		at := place(n, way{name: w.name, from: "alpha", to: "beta"}, flow.Tuple{Proto: flow.TCP, Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: s.Dport})
		if i := map[string]int{"eth0": 0, "eth1": 1}[at]; streams[i].Sport == 0 {
			streams[i] = s
		}
		if mode == netstate.ActiveBackup && streams[0].Sport != 0 {
			streams[1] = s
		}
	}
	return &trial{
		cfg: Config{Network: n}, spec: Spec{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 2, Fail: &Failing{Host: "alpha", Link: "eth0"}},
		ends: ends{sink, source}, streams: map[flow.Direction][]agentapi.Stream{flow.Forward: streams},
	}
}

// TestJoinedEvents: what the two ends of one wire saw is one event, and what
// happened to others, or later, is not.
func TestJoinedEvents(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	event := func(host, link string, up bool, after, at int) linkEvent {
		return linkEvent{linkName: linkName{host, link}, up: up, after: ms(after), at: ms(at)}
	}
	with := func(ev linkEvent, host, link string) linkEvent { ev.peer = linkName{host, link}; return ev }
	down, up := event("a", "ut0", false, 1000, 1020), event("a", "ut0", true, 1500, 1520)
	farDown, farUp := event("b", "ut0", false, 1010, 1030), event("b", "ut0", true, 1490, 1510)
	for _, c := range []struct {
		name string
		fail *Failing
		in   []linkEvent
		want []linkEvent
	}{
		{"one end alone", nil, []linkEvent{down, up}, []linkEvent{down, up}},
		{"both ends", nil, []linkEvent{down, farDown, up}, []linkEvent{with(down, "b", "ut0"), up}},
		{"both ends, back the other way round", nil, []linkEvent{down, farDown, farUp, up}, []linkEvent{
			with(down, "b", "ut0"), with(event("a", "ut0", true, 1490, 1510), "b", "ut0")}},
		{"the end that the run took down", &Failing{Host: "b", Link: "ut0"}, []linkEvent{down, farDown}, []linkEvent{with(event("b", "ut0", false, 1000, 1020), "a", "ut0")}},
		{"another moment", nil, []linkEvent{down, event("b", "ut0", false, 1200, 1220)}, []linkEvent{down, event("b", "ut0", false, 1200, 1220)}},
		{"two links of one host", nil, []linkEvent{down, event("a", "ut1", false, 1000, 1020)}, []linkEvent{down, event("a", "ut1", false, 1000, 1020)}},
	} {
		tr := &trial{spec: Spec{Fail: c.fail}}
		if got := tr.joined(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestOutageOfBothEnds: the far end's carrier loss neither counts twice nor
// says otherwise than the near end's.
func TestOutageOfBothEnds(t *testing.T) {
	tr := cut(netstate.LACP, 60, 6, 160, 50, 300)
	sink, source := tr.ends[0], tr.ends[1]
	sink.links = source.links
	for k := range sink.samples {
		sink.samples[k].Links = source.samples[k].Links
	}
	out := record.Trial{Direction: flow.Forward}
	tr.addOutages(&out)
	if len(out.Outages) != 2 || len(out.Notes) != 2 || out.Outages[0].Host != "alpha" || out.Outages[0].Event != "down" || out.Outages[1].Event != "up" {
		t.Fatalf("%d outages, %q; want one down and one up", len(out.Outages), out.Notes)
	}
	if !strings.Contains(out.Notes[0], "eth0 of alpha (and with it eth0 of beta) went down") {
		t.Errorf("%q does not say both ends", out.Notes[0])
	}
}

func TestOutages(t *testing.T) {
	links := []record.LinkUse{{Host: "alpha", Link: "eth0", Ceiling: 400e6}, {Host: "alpha", Link: "eth1", Ceiling: 400e6}}
	for _, c := range []struct {
		name string
		in   *trial
		want []record.Outage
	}{
		{"LACP", cut(netstate.LACP, 60, 6, 160, 50, 300), []record.Outage{
			{Host: "alpha", Link: "eth0", Event: "down", At: 1.2, Stalled: []float64{0.12, 0}, Recovered: 0.08, Retransmits: 7, Moved: []int{0}, Resolution: 0.02, Asked: true},
			{Host: "alpha", Link: "eth0", Event: "up", At: 3.2, Stalled: []float64{0, 0}, Recovered: 0.98, Moved: []int{0}, Resolution: 0.02, Asked: true},
		}},
		{"active-backup, both lanes on the active link", cut(netstate.ActiveBackup, 60, 1, 160, 1000, 300), []record.Outage{
			{Host: "alpha", Link: "eth0", Event: "down", At: 1.2, Stalled: []float64{0.02, 0}, Recovered: 0, Retransmits: 7, Moved: []int{0, 1}, Resolution: 0.02, Asked: true},
			{Host: "alpha", Link: "eth0", Event: "up", At: 3.2, Stalled: []float64{0, 0}, Recovered: -1, Resolution: 0.02, Asked: true},
		}},
		{"never back", cut(netstate.LACP, 60, 500, 500, 0, 200), []record.Outage{
			{Host: "alpha", Link: "eth0", Event: "down", At: 1.2, Stalled: []float64{2.78, 0}, Recovered: -1, Retransmits: 7, Resolution: 0.02, Asked: true},
		}},
		{"nothing happened", cut(netstate.LACP, 500, 0, 500, 0, 100), nil},
	} {
		out := record.Trial{Direction: flow.Forward, Links: links}
		c.in.addOutages(&out)
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 0.03 })
		if diff := cmp.Diff(c.want, out.Outages, near); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		if len(out.Notes) != len(c.want) {
			t.Errorf("%s: notes %q", c.name, out.Notes)
		}
	}
}
