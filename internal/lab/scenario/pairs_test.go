package scenario

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// three is two with a third host.
var three = strings.Replace(two, "paths:", "  c: {network: {version: 2, ethernets: {eth0: {addresses: [10.9.0.3/24]}}}, hardware: {links: {eth0: {speed: 10G}}}}\npaths:", 1)

func TestPairs(t *testing.T) {
	const step = "  name: n\n  steps: [{name: s, measure: [{tool: linerate, from: %, to: [a]}]}]\n"
	for text, want := range map[string]struct {
		pairs []Pair
		from  string
	}{
		"b":      {[]Pair{{"b", "a"}}, "b"},
		"[b]":    {[]Pair{{"b", "a"}}, "b"},
		"[c, b]": {[]Pair{{"c", "a"}, {"b", "a"}}, "c,b"},
	} {
		m := parse(t, three+strings.Replace(step, "%", text, 1)).Steps[0].Measure[0]
		from, to := m.Names()
		if !slices.Equal(m.Pairs(), want.pairs) || from != want.from || to != "a" || m.Several() != (len(want.pairs) > 1) || m.Rows() != 1 {
			t.Errorf("%s: %v, from %q to %q, %d rows", text, m.Pairs(), from, to, m.Rows())
		}
	}
	each := Measurement{Senders: []string{"a", "b"}, Receivers: []string{"c", "d"}}
	if got := each.Pairs(); !slices.Equal(got, []Pair{{"a", "c"}, {"a", "d"}, {"b", "c"}, {"b", "d"}}) {
		t.Errorf("each sender with each receiver: %v", got)
	}
}

// TestPairsComplaints: what several pairs at once cannot be, with its place.
func TestPairsComplaints(t *testing.T) {
	for measure, want := range map[string]string{
		"{tool: linerate, from: [b, d], to: a}":                      `10:54: scenario: host "d" is not under hosts`,
		"{tool: linerate, from: [b, b], to: a}":                      "10:54: scenario: from: b is there already",
		"{tool: linerate, from: [a, b], to: [c, b]}":                 "10:66: scenario: to: b is among those that send",
		"{tool: linerate, from: [b], to: b}":                         "10:59: scenario: from and to are the same host",
		"{tool: linerate, from: [], to: b}":                          "10:50: scenario: from: there is no host",
		"{tool: iperf3, from: [b, c], to: a}":                        "10:34: scenario: several pairs at once are measured with linerate",
		"{tool: ping, from: a, to: [b, c]}":                          "several pairs at once are measured with linerate",
		"{tool: linerate, from: [b, c], to: a, aliases: 4}":          "several pairs at once are measured with linerate, by streams",
		"{tool: linerate, from: [b, c], to: a, fail: a.eth0}":        "while nothing fails",
		"{tool: linerate, from: [b, c], to: a, published: [1G, 2G]}": "published: 2 numbers for 1 rows",
	} {
		_, err := Parse("x.yaml", []byte(three+"  name: n\n  steps:\n    - {name: s, measure: ["+measure+"]}\n"))
		var all yamldoc.Problems
		if !errors.As(err, &all) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", measure, err, want)
		}
	}
	// Ratios are of the same pairs.
	step := func(name, from, more string) string {
		return "    - {name: " + name + ", measure: [{tool: linerate, from: " + from + ", to: a" + more + "}]}\n"
	}
	const head = "  name: n\n  steps:\n"
	if _, err := Parse("x.yaml", []byte(three+head+step("r", "[b, c]", "")+step("s", "[b, c]", ", published_ratio: 2, of: r"))); err != nil {
		t.Error(err)
	}
	if _, err := Parse("x.yaml", []byte(three+head+step("r", "b", "")+step("s", "[b, c]", ", published_ratio: 2, of: r"))); err == nil || !strings.Contains(err.Error(), "measures nothing like it") {
		t.Errorf("a ratio to one of the pairs alone: %v", err)
	}
}

// TestFanIn: what the built-in file says of its clients: by the last bytes of
// MAC addresses, which client has which link.
func TestFanIn(t *testing.T) {
	s, _, err := Named("fan-in")
	if err != nil {
		t.Fatal(err)
	}
	state := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: s.Fabric.Paths}
	for _, h := range s.Fabric.Hosts {
		if state.Hosts[h.Name], err = s.Fabric.State(h.Name); err != nil {
			t.Fatal(err)
		}
	}
	const line = 10e9 * 1448 / 1538
	var rows []Measurement
	for _, step := range s.Steps {
		rows = append(rows, step.Measure...)
	}
	for i, want := range []struct {
		lines float64 // worth of payload, of all
		host  string
		links []float64 // lines on each
	}{
		{1, "store", []float64{0, 0, 1, 0}},
		{1, "store", []float64{0, 0, 1, 0}},
		{3, "store", []float64{0, 1, 1, 1}},
		{4, "store", []float64{1, 1, 1, 1}},
		{1, "twin", []float64{1, 0}},
		{2, "twin", []float64{1, 1}},
	} {
		m := rows[i]
		var all []predict.Traffic
		for _, p := range m.Pairs() {
			all = append(all, predict.Traffic{From: p.From, To: p.To, Direction: m.Direction, Streams: m.Streams[len(m.Streams)-1], Ports: m.Ports})
		}
		joints, err := predict.Together(state, all)
		if err != nil {
			t.Fatal(err)
		}
		sum, links := 0.0, map[string]float64{}
		for _, j := range joints {
			sum += float64(j.Together)
			for _, l := range j.TogetherLinks {
				if l.Host == want.host {
					links[l.Link] += float64(l.Load)
				}
			}
		}
		near := func(got, want float64) bool { return got/line > want-0.001 && got/line < want+0.001 }
		if !near(sum, want.lines) {
			t.Errorf("row %d: %.2f lines, want %v", i, sum/line, want.lines)
		}
		for k, w := range want.links {
			if name := "eth" + string(rune('0'+k)); !near(links[name], w) {
				t.Errorf("row %d: %.2f lines on %s of %s, want %v", i, links[name]/line, name, want.host, w)
			}
		}
	}
}
