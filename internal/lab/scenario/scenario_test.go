package scenario

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// two is a network of two hosts; what is behind it is indented below scenario.
const two = `linerate: v1
hosts:
  a: {network: {version: 2, ethernets: {eth0: {addresses: [10.9.0.1/24]}}}, hardware: {links: {eth0: {speed: 10G}}}}
  b: {network: {version: 2, ethernets: {eth0: {addresses: [10.9.0.2/24]}}}, hardware: {links: {eth0: {speed: 10G}}}}
paths: [{between: [a, b], rtt: 8ms}]
scenario:
`

func parse(t *testing.T, text string) Scenario {
	t.Helper()
	s, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBuiltin: every scenario of the program's own can be read, built as a star
// and predicted, row by row, at its scale: nothing predicted is above the
// ceiling, and no ceiling below what was published as a steady rate.
func TestBuiltin(t *testing.T) {
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2 {
		t.Fatalf("%d scenarios", len(all))
	}
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] || s.Title == "" || s.Source == "" {
			t.Errorf("%s: there twice, or without title or source", s.Name)
		}
		seen[s.Name] = true
		f := s.Scaled(func(h string) string { return "netns:" + h }, nil)
		state := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: f.Paths}
		for _, h := range f.Hosts {
			if state.Hosts[h.Name], err = f.State(h.Name); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range s.Steps[0].Measure {
			for i, n := range m.Streams {
				p, err := predict.Predict(state, predict.Traffic{From: m.From, To: m.To, Direction: m.Direction, Streams: n, Ports: m.Ports})
				if err != nil {
					t.Fatalf("%s: %v", s.Name, err)
				}
				if p.Rate > p.Ceiling || len(m.Published) > 0 && m.Kinds[i] == Rate && p.Ceiling*unit.BitRate(s.Scale) < m.Published[i] {
					t.Errorf("%s: %s to %s, %d streams: predicted %v, ceiling %v, published %v", s.Name, m.From, m.To, n, p.Rate, p.Ceiling, m.Published)
				}
			}
		}
	}
}

// TestCeilingIsEthernets: a lab's shaper passes what the declared line would: the
// ceiling at the published scale is the line's own.
func TestCeilingIsEthernets(t *testing.T) {
	s, _, err := Named("ip-alias")
	if err != nil {
		t.Fatal(err)
	}
	for mtu, want := range map[int]float64{1500: 1448.0 / 1538, 9000: 8948.0 / 9038} {
		f := s.Scaled(func(h string) string { return "netns:" + h }, map[Port]int{{"sender", "eth0"}: mtu, {"receiver", "eth0"}: mtu})
		h, _ := f.Host("sender")
		l := h.Hardware.Links["eth0"]
		payload := float64(l.Speed) * s.Scale * float64(mtu-52) / float64(mtu+14) / 1e9
		if l.Framing != netstate.FramingL2 || payload/want < 0.9999 || payload/want > 1.0001 {
			t.Errorf("MTU %d: payload %.5f Gbit/s of one, want %.5f", mtu, payload, want)
		}
	}
}

// TestPlainFabric: a file without a scenario is measured as it says.
func TestPlainFabric(t *testing.T) {
	s := parse(t, strings.TrimSuffix(two, "scenario:\n")+"measure: {streams: [3], directions: [both], ports: kernel}\n")
	m := s.Steps[0].Measure
	if s.Scale != 1 || len(m) != 1 || m[0].Direction != flow.Both || m[0].Streams[0] != 3 || m[0].Ports != "kernel" || m[0].Kinds[0] != Rate {
		t.Errorf("%+v", s)
	}
}

// TestComplaints: what is wrong is said with its line and column.
func TestComplaints(t *testing.T) {
	const ok = "  name: n\n  steps:\n"
	for name, c := range map[string]struct{ text, want string }{
		"no name":          {"  steps: []\n", `7:3: missing key "name" in scenario`},
		"no step":          {"  name: n\n  steps: []\n", "8:10: scenario: steps: there is none"},
		"unknown key":      {ok + "    - {nam: s, measure: []}\n", `9:8: unknown key "nam" in scenario.steps[0] (nearest: name)`},
		"alias of a key":   {ok + "    - {name: s, tests: []}\n", `unknown key "tests" in scenario.steps[0] (nearest: measure)`},
		"slow":             {"  name: n\n  scale: 2\n  slow: 3\n  steps: [{name: a, measure: [{tool: iperf3, from: a, to: b}]}]\n", `9:9: scenario: slow: 3 is more than the scale, of which it is a part`},
		"scale":            {"  name: n\n  scale: 0\n  steps: []\n", `8:10: scenario.scale: "0" is not from 1 to 1000`},
		"bad name":         {"  name: a b\n  steps: []\n", `"a b" is no name`},
		"unknown host":     {ok + "    - {name: s, measure: [{tool: iperf3, from: a, to: c}]}\n", `9:55: scenario: host "c" is not under hosts`},
		"same host":        {ok + "    - {name: s, measure: [{tool: iperf3, from: a, to: a}]}\n", "9:55: scenario: from and to are the same host"},
		"tool":             {ok + "    - {name: s, measure: [{tool: iperf4, from: a, to: b}]}\n", `"iperf4" is not known (nearest: iperf3)`},
		"step twice":       {ok + "    - {name: s, measure: []}\n    - {name: s, measure: []}\n", `10:14: scenario: step "s" is there already`},
		"too few numbers":  {ok + "    - {name: s, measure: [{tool: iperf3, from: a, to: b, streams: [1, 2], published: 5G}]}\n", "published: 1 numbers for 2 rows"},
		"streams of ping":  {ok + "    - {name: s, measure: [{tool: ping, from: a, to: b, streams: 2}]}\n", "a ping has no streams"},
		"rate of ping":     {ok + "    - {name: s, measure: [{tool: ping, from: a, to: b, published: 2G}]}\n", "a ping has no rate"},
		"rtt of iperf3":    {ok + "    - {name: s, measure: [{tool: iperf3, from: a, to: b, published_rtt: 2ms}]}\n", "published_rtt is of a ping"},
		"aliases, iperf3":  {ok + "    - {name: s, measure: [{tool: iperf3, from: a, to: b, aliases: 2}]}\n", "aliases are measured with"},
		"ratio without of": {ok + "    - {name: s, measure: [{tool: iperf3, from: a, to: b, published_ratio: 2}]}\n", `missing key "of"`},
		"of nothing":       {ok + "    - {name: s, measure: [{tool: iperf3, from: a, to: b, published_ratio: 2, of: r}]}\n", `no step above is "r"`},
		"of another pair":  {ok + "    - {name: r, measure: [{tool: iperf3, from: b, to: a}]}\n    - {name: s, measure: [{tool: iperf3, from: a, to: b, published_ratio: 2, of: r}]}\n", `step "r" measures nothing like it`},
		"with":             {ok + "    - {name: s, with: 'mtu=big', measure: []}\n", "9:23: scenario: with: mtu=big"},
		"with streams":     {ok + "    - {name: s, with: 'streams=4', measure: []}\n", "streams is not changed in a lab that stands"},
		"links of nothing": {ok + "    - {name: s, with: 'links=4', measure: []}\n", "9:23: scenario: links=4: no host has a bond"},
		"no such ports":    {ok + "    - {name: s, ports: [eth0], measure: []}\n", "9:24: scenario: ports: no host has a bond"},
		"a port nowhere":   {"  name: n\n  switches: [{name: x, ports: [a.eth0]}]\n  steps: [{name: s, measure: []}]\n", "switches: b.eth0 is in none"},
		"a port twice":     {"  name: n\n  switches: [{name: x, ports: [a.eth0, b.eth0, b.eth0]}]\n  steps: [{name: s, measure: []}]\n", "switches: b.eth0 is in a switch already"},
		"no such port":     {"  name: n\n  switches: [{name: x, ports: [a.eth0, b.eth9]}]\n  steps: [{name: s, measure: []}]\n", `"b.eth9" is no port of a host (nearest: b.eth0)`},
		"kernel of host":   {"  name: n\n  back_end: host\n  kernel: \"5.10\"\n  steps: [{name: s, measure: []}]\n", "9:11: scenario: kernel: back end host has one kernel only"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(two+c.text))
			var all yamldoc.Problems
			if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			for _, p := range all {
				if p.Line == 0 || p.Column == 0 {
					t.Errorf("no place: %v", p)
				}
			}
		})
	}
}

// TestNotBuildable: what a lab would have to guess is asked for, with its place.
func TestNotBuildable(t *testing.T) {
	const step = "  name: n\n  steps: [{name: s, measure: []}]\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"no speed":   {", hardware: {links: {eth0: {speed: 10G}}}}\n  b", "}\n  b", "x.yaml:3:6: hosts.a: eth0 has no speed"},
		"no network": {"a: {network: {version: 2, ethernets: {eth0: {addresses: [10.9.0.1/24]}}}, hardware", "a: {reach: 'local:', hardware", "x.yaml:3:6: hosts.a has no network"},
		"a switch":   {"paths:", "  switch: {network: {version: 2, ethernets: {eth0: {addresses: [10.9.0.3/24]}}}, hardware: {links: {eth0: {speed: 10G}}}}\npaths:", "x.yaml:5:11: hosts.switch has the name of the lab's own switch"},
		"a match":    {"{eth0: {addresses: [10.9.0.1/24]}}", "{lan: {match: {name: 'en*'}, addresses: [10.9.0.1/24]}, eth0: {}}", "x.yaml:3:16: hosts.a: a lab cannot build it"},
	} {
		for _, end := range []string{"scenario:\n" + step, ""} {
			text := strings.Replace(strings.TrimSuffix(two, "scenario:\n"), c.old, c.new, 1) + end
			_, err := Parse("x.yaml", []byte(text))
			var all yamldoc.Problems
			if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		}
	}
}

// TestRateOnTwoUplinks: a path's shaper is one.
func TestRateOnTwoUplinks(t *testing.T) {
	text := strings.NewReplacer("{eth0: {addresses", "{eth1: {}, eth0: {addresses", "{eth0: {speed: 10G}}", "{eth0: {speed: 10G}, eth1: {speed: 10G}}", "rtt: 8ms", "rtt: 8ms, rate: 5G").Replace(two)
	text += "  name: n\n  switches: [{name: x, ports: [a.eth0, b.eth0]}, {name: y, ports: [a.eth1, b.eth1]}]\n  steps: [{name: s, measure: []}]\n"
	if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "a is in 2, and its paths have a rate") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse("x.yaml", []byte(strings.Replace(text, ", rate: 5G", "", 1))); err != nil {
		t.Error(err)
	}
}

// TestStar: round trips of a star are taken apart, others refused.
func TestStar(t *testing.T) {
	star := func(between ...any) (map[string]Uplink, error) {
		var f fabric.Fabric
		for _, n := range []string{"a", "b", "c", "d"} {
			f.Hosts = append(f.Hosts, fabric.Host{Name: n})
		}
		for i := 0; i < len(between); i += 3 {
			f.Paths = append(f.Paths, fabric.Path{From: between[i].(string), To: between[i+1].(string), RTT: between[i+2].(time.Duration), Rate: 5 * unit.Gbps})
		}
		return Star(f)
	}
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	got, err := star("a", "b", ms(8.9), "a", "c", ms(10.6), "b", "c", ms(3.8))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]time.Duration{"a": ms(7.85), "b": ms(1.05), "c": ms(2.75), "d": 0} {
		if d := got[host].RTT - want; d < -10*time.Microsecond || d > 10*time.Microsecond {
			t.Errorf("%s: %v, want %v", host, got[host].RTT, want)
		}
	}
	if got["a"].Rate != 5*unit.Gbps || got["d"].Rate != 0 {
		t.Errorf("rates %v and %v", got["a"].Rate, got["d"].Rate)
	}
	if got, err = star("a", "b", ms(9)); err != nil || got["a"].RTT != ms(4.5) || got["b"].RTT != ms(4.5) {
		t.Errorf("two hosts: %v, %v", got, err)
	}
	// A triangle's long side is no longer than the others together.
	if _, err = star("a", "b", ms(1), "a", "c", ms(1), "b", "c", ms(9)); err == nil {
		t.Error("a triangle that is none was taken")
	}
	if _, err = star("a", "b", ms(10), "b", "c", ms(10), "c", "d", ms(10), "a", "d", ms(30)); err == nil {
		t.Error("a ring that is no star was taken")
	}
}

func TestChanged(t *testing.T) {
	s := parse(t, two+"  name: n\n  scale: 10\n  steps: [{name: s, measure: []}]\n")
	c, hosts, err := s.Changed("mtu=9000,rate=5G,rmem=32Mi,rtt=2ms,speed=25G,cc=bbr,wmem=100K")
	if err != nil {
		t.Fatal(err)
	}
	if want := "mtu=9000,rmem=3355443,cc=bbr,wmem=65536"; hosts != want {
		t.Errorf("hosts are given %q, want %q", hosts, want)
	}
	h, _ := c.Fabric.Host("b")
	if p := c.Fabric.Paths[0]; p.Rate != 5*unit.Gbps || p.RTT != 2*time.Millisecond || h.Hardware.Links["eth0"].Speed != 25*unit.Gbps {
		t.Errorf("path %+v, host %+v", p, h.Hardware)
	}
	old, _ := s.Fabric.Host("b")
	if s.Fabric.Paths[0].Rate != 0 || old.Hardware.Links["eth0"].Speed != 10*unit.Gbps {
		t.Errorf("what was given was changed: %+v", s.Fabric.Paths[0])
	}
	for _, bad := range []string{"streams=4", "nonsense=1", "mtu"} {
		if err := CheckChange(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestScaledSysctl(t *testing.T) {
	for _, c := range [][3]string{
		{"net.ipv4.tcp_rmem", "4096 131072 6291456", "4096 262144 314572"},
		{"net.ipv4.tcp_rmem", "4096 131072 2097152", "4096 104857 104857"},
		{"net.ipv4.tcp_rmem", "8192 1048576 33554432", "8192 1048576 1677721"},
		{"net.ipv4.tcp_wmem", "8192\t1048576 \t33554432", "8192 1048576 1677721"},
		{"net.core.rmem_max", "33554432", "1677721"},
		{"net.core.rmem_max", "212992", "65536"}, // no less than two jumbo frames
		{"net.core.rmem_max", "1000", "1000"},
		{"net.core.somaxconn", "4096", "4096"},
		{"net.ipv4.tcp_rmem", "some words", "some words"},
	} {
		if got := ScaledSysctl(c[0], c[1], 20); got != c[2] {
			t.Errorf("%s = %q is scaled to %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestSlow: time that goes slower makes round trips longer and leaves windows as
// they are, so that a lab with less rate holds as many frames in flight.
func TestSlow(t *testing.T) {
	s, _, err := Named("ovh-vrack")
	if err != nil {
		t.Fatal(err)
	}
	s.Scale, s.Slow = 80, 4
	quick := s
	quick.Scale, quick.Slow = 20, 1
	reach := func(h string) string { return "netns:" + h }
	f, g := s.Scaled(reach, nil), quick.Scaled(reach, nil)
	if key := "net.ipv4.tcp_rmem"; s.Windows() != 20 || f.Hosts[0].Sysctl[key] != g.Hosts[0].Sysctl[key] {
		t.Errorf("windows divided by %v: %v, want %v", s.Windows(), f.Hosts[0].Sysctl[key], g.Hosts[0].Sysctl[key])
	}
	for i, p := range f.Paths {
		if p.RTT != 4*g.Paths[i].RTT || g.Paths[i].RTT != s.Fabric.Paths[i].RTT {
			t.Errorf("round trip of %v, and %v, of %v", p.RTT, g.Paths[i].RTT, s.Fabric.Paths[i].RTT)
		}
	}
	if f, g := s.SlowSysctls()[TSOLog], quick.SlowSysctls(); f != "11" || g != nil {
		t.Errorf("%s is %q in slow motion, want 11; else %v, want none", TSOLog, f, g)
	}
	if f.Hosts[0].Rate != g.Hosts[0].Rate/4 {
		t.Errorf("rate of %v, want a quarter of %v", f.Hosts[0].Rate, g.Hosts[0].Rate)
	}
}

func TestJudge(t *testing.T) {
	rate := func(v unit.BitRate) *unit.BitRate { return &v }
	number := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		row    Row
		within float64
		links  int
		want   Verdict
	}{
		"near":            {Row{Kind: Rate, Measured: 9.1, Published: rate(10)}, 0, 2, Reproduced},
		"far":             {Row{Kind: Rate, Measured: 11.2, Published: rate(10)}, 0, 2, Off},
		"not near enough": {Row{Kind: Rate, Measured: 9.4, Published: rate(10)}, 0.05, 2, Off},
		"nothing":         {Row{Kind: Rate, Measured: 9.4}, 0.05, 2, Unpublished},
		"burst":           {Row{Kind: Burst, Measured: 1, Published: rate(10)}, 0, 2, Shown},
		"claim":           {Row{Kind: Claim, Measured: 1, Published: rate(10)}, 0, 2, Shown},
		"ratio":           {Row{Kind: Ratio, MeasuredRatio: number(1.95), PublishedRatio: number(1.76)}, 0, 2, Reproduced},
		"low ratio":       {Row{Kind: Ratio, MeasuredRatio: number(1.66), PublishedRatio: number(1.76)}, 0, 2, Off},
		"too high ratio":  {Row{Kind: Ratio, MeasuredRatio: number(2.1), PublishedRatio: number(1.76)}, 0, 2, Off},
		"no ratio":        {Row{Kind: Ratio, PublishedRatio: number(1.76)}, 0, 2, Off},
		"round trip":      {Row{Kind: Rate, MeasuredRTT: 9.2, PublishedRTT: 8.9}, 0, 2, Reproduced},
		"long round trip": {Row{Kind: Rate, MeasuredRTT: 9.8, PublishedRTT: 8.9}, 0, 2, Off},
	} {
		c.row.Judge(c.within, c.links)
		if c.row.Verdict != c.want {
			t.Errorf("%s: %s, want %s", name, c.row.Verdict, c.want)
		}
	}
}

// TestText: the table fits 80 columns whatever names and numbers there are.
func TestText(t *testing.T) {
	p, ratio := 123.456*unit.Gbps, 1.76
	long := strings.Repeat("x", 100)
	rows := []Row{
		{Step: long, From: long, To: long, Direction: flow.Both, Streams: 16, Tool: "iperf3", Measured: p, Predicted: p, Ceiling: p, Published: &p, Verdict: Off},
		{Step: long, From: "a", To: "b", Direction: flow.Forward, Streams: 1, Tool: "iperf2", Measured: 920.5 * unit.Mbps, Published: &p, CPUBound: true, Wire: 917.3 * unit.Mbps},
		{Step: "two", From: "a", To: "b", Direction: flow.Reverse, MeasuredRTT: 8.94, PublishedRTT: 8.9, Tool: "ping"},
		{Step: "two", From: "a", To: "b", Direction: flow.Forward, MeasuredRatio: &ratio, PublishedRatio: &ratio, Verdict: Shown},
	}
	text := Text(rows)
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"123.46G", "920.5M", "  of it arrived meanwhile                      917.3M", "8.9 ", "x 1.76", "\n! off", "\nc the lab's", "\n~ a burst"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestSchema: the schema names every key of the tables.
func TestSchema(t *testing.T) {
	text := string(Schema())
	for _, want := range []string{`"published_ratio"`, `"keep"`, `"tune"`, `"scenario_step"`, `"switches"`, `"linerate scenario v1"`, `"hosts"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestDocumented: the example that docs/scenarios.md shows is one.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	if s := parse(t, text); s.Name != "my-network" || len(s.Steps) != 3 {
		t.Errorf("%+v", s)
	}
	for _, o := range []string{"`published_ratio`", "`burst`", "`scale`", "`switches`"} {
		if !strings.Contains(string(page), o) {
			t.Errorf("the page does not speak of %s", o)
		}
	}
}

func FuzzParse(f *testing.F) {
	all, err := Builtin()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range all {
		text, err := Source(s.Name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(two + "  name: n\n  steps: [{name: s, with: 'mtu=1,,=', measure: [{tool: ping, from: a, to: b}]}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("x.yaml", []byte(text))
		if err != nil {
			return
		}
		s.Scaled(func(h string) string { return "netns:" + h }, nil)
		for _, step := range s.Steps {
			if _, _, err := s.Changed(step.With); err != nil {
				_ = fmt.Sprint(err)
			}
			for _, m := range step.Measure {
				if len(m.Kinds) != m.Rows() {
					t.Fatalf("%d kinds of %d rows", len(m.Kinds), m.Rows())
				}
			}
		}
	})
}
