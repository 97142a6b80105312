package scenario

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// bonds is two, each host with a bond.
var bonds = strings.NewReplacer(
	"{eth0: {addresses: [10.9.0.1/24]}}", "{eth0: {}, eth1: {}}, bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.1/24]}}",
	"{eth0: {addresses: [10.9.0.2/24]}}", "{eth0: {}, eth1: {}}, bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.2/24]}}",
	"{eth0: {speed: 10G}}", "{eth0: {speed: 10G}, eth1: {speed: 10G}}",
).Replace(two)

// TestStepNeeds: what a step is left out for the scenario can do without; what
// it needs and does not name it cannot.
func TestStepNeeds(t *testing.T) {
	const step = "  name: n\n  steps: [{name: s, %measure: [{tool: linerate, from: a, to: b, protocol: mptcp}]}]\n"
	for with, want := range map[string]bool{"": true, "needs: nfsd, ": true, "needs: mptcp, ": false, "needs: [nfsd, mptcp], ": false} {
		s := parse(t, bonds+strings.Replace(step, "%", with, 1))
		if got := slices.Contains(s.Needs(), MPTCP); got != want {
			t.Errorf("%q: needs %v", with, s.Needs())
		}
		if slices.Contains(s.Needs(), NFSServer) {
			t.Errorf("%q: the scenario needs what only the step does: %v", with, s.Needs())
		}
	}
	s := parse(t, bonds+strings.Replace(step, "%", "needs: nfs, ", 1))
	if !slices.Equal(s.Wants(), []Feature{NFSClient}) {
		t.Errorf("wants %v", s.Wants())
	}
	if lacp, _, err := Named("backup-lacp"); err != nil || slices.Contains(lacp.Needs(), MPTCP) || !slices.Contains(lacp.Steps[len(lacp.Steps)-1].Needs, MPTCP) {
		t.Errorf("backup-lacp needs %v, %v", lacp.Needs(), err)
	}
}

func TestMPTCPComplaints(t *testing.T) {
	for measure, want := range map[string]string{
		"{tool: iperf3, from: a, to: b, protocol: mptcp}":                 "9:68: scenario: protocol: MPTCP is measured with linerate",
		"{tool: linerate, from: a, to: b, aliases: 2, protocol: mptcp}":   "protocol: MPTCP is measured with linerate",
		"{tool: linerate, from: a, to: b, protocol: sctp}":                `"sctp" is not known`,
		"{tool: linerate, from: a, to: b, fail: a.eth0, protocol: mptcp}": "while nothing fails",
	} {
		_, err := Parse("x.yaml", []byte(bonds+"  name: n\n  steps:\n    - {name: s, measure: ["+measure+"]}\n"))
		var all yamldoc.Problems
		if !errors.As(err, &all) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", measure, err, want)
		}
	}
	const step = "    - {name: %, measure: [{tool: linerate, from: a, to: b, protocol: mptcp}]}\n"
	_, err := Parse("x.yaml", []byte(two+"  name: n\n  steps:\n"+step))
	if err == nil || !strings.Contains(err.Error(), "a has no bond") {
		t.Errorf("no bond: %v", err)
	}
	ratio := "  name: n\n  steps:\n    - {name: r, needs: mptcp, measure: [{tool: linerate, from: a, to: b}]}\n" +
		"    - {name: s, measure: [{tool: linerate, from: a, to: b, published_ratio: 2, of: r}]}\n"
	if _, err = Parse("x.yaml", []byte(two+ratio)); err == nil || !strings.Contains(err.Error(), `of: step "r" is left out where`) {
		t.Errorf("a ratio to what may be left out: %v", err)
	}
}

// TestLeftOutText: a line each, within the table's width, on the page too.
func TestLeftOutText(t *testing.T) {
	out := []LeftOut{{"one session by MPTCP", "this kernel lacks mptcp (socket(IPPROTO_MPTCP): protocol not supported; " + strings.Repeat("x", 80)}, {strings.Repeat("s", 90), "w"}}
	text := LeftOutText(out)
	if strings.Count(text, "\n") != 2 || !strings.HasPrefix(text, "left out: one session by MPTCP: this kernel lacks mptcp (") || LeftOutText(nil) != "" {
		t.Errorf("%s", text)
	}
	page := Page([]Outcome{{Scenario: "x", LeftOut: out}})
	if !strings.Contains(page, text) {
		t.Errorf("not on the page:\n%s", page)
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > tableWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
