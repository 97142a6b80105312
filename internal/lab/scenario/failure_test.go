package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
)

func TestFailureRead(t *testing.T) {
	const s = time.Second
	for text, want := range map[string]Failure{
		"a.eth0":         {Port{"a", "eth0"}, 2 * s, 3 * s},
		"a.eth0@5s":      {Port{"a", "eth0"}, 5 * s, 3 * s},
		"a.eth0.7@1s,9s": {Port{"a", "eth0.7"}, s, 9 * s},
	} {
		got, err := parseFailure(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := parseFailure(got.String()); err != nil || again != want {
			t.Errorf("%s came back as %+v, %v", got, again, err)
		}
	}
	for _, bad := range []string{"", "eth0", ".eth0", "a.", "a.eth0@", "a.eth0@2", "a.eth0@2s,", "a.eth0@0s", "a.eth0@-1s"} {
		if got, err := parseFailure(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, got)
		}
	}
}

// TestFailureChecked: a failure has a window that is long enough, and what
// cannot be is refused where it is written.
func TestFailureChecked(t *testing.T) {
	step := func(m string) string { return two + "  {name: x, steps: [{name: s, measure: [{" + m + "}]}]}\n" }
	s := parse(t, step("tool: linerate, from: a, to: b, fail: \"b.eth0@1s,4s\""))
	m := s.Steps[0].Measure[0]
	if m.FailKind != Loud || m.Duration != 5*time.Second+failRest || m.Fail.Port != (Port{"b", "eth0"}) {
		t.Errorf("read %+v", m)
	}
	if slices.Contains(s.Needs(), MatchAll) {
		t.Error("a loud failure needs no classifier")
	}
	if !slices.Contains(parse(t, step("tool: linerate, from: a, to: b, fail: b.eth0, fail_how: silent")).Needs(), MatchAll) {
		t.Error("a silent failure needs a classifier")
	}
	for text, want := range map[string]string{
		"tool: iperf3, from: a, to: b, fail: a.eth0":                    "measured with linerate",
		"tool: linerate, from: a, to: b, fail: a.eth1":                  "is no port of a host",
		"tool: linerate, from: a, to: b, fail: a.eth0, duration: 5s":    "comes back 5s into a window of 5s",
		"tool: linerate, from: a, to: b, fail_how: silent":              "nothing fails",
		"tool: linerate, from: a, to: b, fail: a.eth0, fail_how: quiet": "quiet",
	} {
		if _, err := Parse("x.yaml", []byte(step(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestParseBond(t *testing.T) {
	change, err := ParseBond(map[string]string{"lacp-rate": "fast", "mii-monitor-interval": "250", "down-delay": "500"})
	if err != nil {
		t.Fatal(err)
	}
	lacp, xor := netstate.Bond{Mode: netstate.LACP}, netstate.Bond{Mode: netstate.BalanceXOR}
	change(&lacp)
	change(&xor)
	if lacp.LACPRate != netstate.LACPFast || lacp.Miimon != 250*time.Millisecond || lacp.DownDelay != 500*time.Millisecond {
		t.Errorf("%+v", lacp)
	}
	if xor.LACPRate != netstate.LACPSlow || xor.Miimon != 250*time.Millisecond {
		t.Errorf("%+v", xor)
	}
	for key, value := range map[string]string{"mode": "802.3ad", "lacp-rate": "quick", "up-delay": "-1", "mii-monitor-interval": "1s"} {
		if _, err := ParseBond(map[string]string{key: value}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s=%s: %v", key, value, err)
		}
	}
}

// TestNeeds: what a network shows is needed, and nothing else.
func TestNeeds(t *testing.T) {
	plain := parse(t, two+"  {name: x, features: mptcp, steps: [{name: s, with: \"cc=bbr\", measure: []}]}\n")
	if got, want := plain.Needs(), []Feature{NetNS, Veth, Bridge, TBF, Netem, MPTCP, BBR}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	ovh, _, err := Named("ovh-vrack")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ovh.Needs(), []Feature{NetNS, Veth, Bridge, Bonding, VLAN, TBF, Netem}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := Parse("x.yaml", []byte(two+"  {name: x, features: [bonds], steps: [{name: s, measure: []}]}\n")); err == nil {
		t.Error("a feature that no kernel knows was read")
	}
}

// TestSharedCard: a lab with a card that ports share needs what diverts them,
// and has no silent failure of them; in slow motion there is no failure at all.
func TestSharedCard(t *testing.T) {
	text, err := Source("45drives-bond.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, string(text))
	for _, f := range []Feature{MatchAll, IFB} {
		if !slices.Contains(s.Needs(), f) {
			t.Errorf("needs %v, want %s too", s.Needs(), f)
		}
	}
	if lacp, _, err := Named("backup-lacp"); err != nil || slices.Contains(lacp.Needs(), IFB) {
		t.Errorf("%v: no card is shared, and it needs %v", err, lacp.Needs())
	}
	silent := "    - {name: x, measure: [{tool: linerate, from: client, to: server, fail: client.c0, fail_how: silent}]}\n"
	if _, err := Parse("x.yaml", append(slices.Clone(text), silent...)); err == nil || !strings.Contains(err.Error(), "clocks") {
		t.Errorf("in slow motion: %v", err)
	}
	text = []byte(strings.Replace(string(text), "  slow: 300\n", "", 1))
	for port, want := range map[string]string{"a0": "on a card that ports share", "c0": ""} {
		m := "    - {name: x, measure: [{tool: linerate, from: client, to: server, fail: client." + port + ", fail_how: silent}]}\n"
		_, err := Parse("x.yaml", append(slices.Clone(text), m...))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", port, err, want)
		}
	}
}
