package trial

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// TestLoweredEverywhere: where full packets get lost between several pairs of links, the
// remedy is of all of them, at the size that passes everywhere.
func TestLoweredEverywhere(t *testing.T) {
	t.Parallel()
	f := subnets()
	address := func(host string, link int) record.SizeProbe {
		return record.SizeProbe{Src: f.Hosts[host].Links[link].Addresses[0].Addr()}
	}
	trial := measured(sent(2, rates(0, 0), rates(0, 0)), func(c *record.TCP) { c.Timeouts = 4 })
	trial.Lanes[1].Src, trial.Lanes[1].Dst = address("a", 1).Src, address("b", 1).Src
	for i := range trial.Lanes {
		trial.Lanes[i].Goodput = 0
	}
	trial.Goodput = 0
	for link, passes := range []int{1404, 1400} {
		trial.Sizes = append(trial.Sizes, record.SizeProbe{From: "a", To: "b", Link: f.Hosts["a"].Links[link].Name, Src: address("a", link).Src, Dst: address("b", link).Src, MTU: 1500, Answers: true, Sent: 3, Passes: passes})
	}
	lines := func(sizes []record.SizeProbe) (out []string) {
		trial.Sizes = sizes
		got := Judge(f, trial)
		if got.Cause != record.MTU || len(got.Ways) == 0 {
			t.Fatalf("%s: %s: %q", got.Cause, got.Summary, got.Remedy)
		}
		for _, s := range got.Ways[0] {
			out = append(out, s.Host+": "+s.Line())
		}
		return out
	}
	want := []string{"a: ip link set dev eth0 mtu 1400", "b: ip link set dev eth0 mtu 1400", "a: ip link set dev eth1 mtu 1400", "b: ip link set dev eth1 mtu 1400"}
	both := trial.Sizes
	if got := lines(both); !slices.Equal(got, want) {
		t.Errorf("both ways lose them: %q", got)
	}
	well := slices.Clone(both)
	well[1].Passed = well[1].Sent
	want = []string{"a: ip link set dev eth0 mtu 1404", "b: ip link set dev eth0 mtu 1404"}
	if got := lines(well); !slices.Equal(got, want) {
		t.Errorf("one of two loses them: %q", got)
	}
	unlucky := slices.Clone(both)
	unlucky[1].Sent, unlucky[1].Passed = 24, 22
	if got := lines(unlucky); !slices.Equal(got, want) {
		t.Errorf("the other lost two of many by chance: %q", got)
	}
	unknown := slices.Clone(both)
	unknown[1].Passes = 0
	if got := lines(unknown); len(got) != 1 || got[0] != ": " {
		t.Errorf("nobody knows what passes by the other: %q", got)
	}
}

// TestFullInSpite: streams whose sender found out what passes fill their link, and the hole
// that makes each connection wait is told, with what mends it.
func TestFullInSpite(t *testing.T) {
	t.Parallel()
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	trial := measured(sent(2, rates(0.97*one, 0.97*one), rates(0.97*one, 0.97*one)), func(*record.TCP) {})
	if got := Judge(f, trial); got.Cause != record.LineRate || strings.Contains(got.Remedy, "mtu") {
		t.Fatalf("without a hole: %s: %s %s", got.Cause, got.Summary, got.Remedy)
	}
	trial.Sizes = stalled(record.Trial{}).Sizes
	got := Judge(f, trial)
	if got.Cause != record.LineRate || !strings.Contains(got.Summary, "none of 6 test packets of 9000 bytes") || !strings.Contains(got.Remedy, "`ip link set dev bond0 mtu 1500`") {
		t.Errorf("%s: %s %s", got.Cause, got.Summary, got.Remedy)
	}
	trial.Sizes[0].Sent, trial.Sizes[0].Passed = 24, 22
	if got := Judge(f, trial); strings.Contains(got.Summary, "test packets") {
		t.Errorf("two of many lost by chance: %s", got.Summary)
	}
}

// TestBeyondReceiver: TCP never asks for segments below its least, and the receiver's
// link takes less.
func TestBeyondReceiver(t *testing.T) {
	t.Parallel()
	small := func(mtu int) predict.Fabric {
		f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
		for i := range f.Hosts["b"].Links {
			f.Hosts["b"].Links[i].MTU = mtu
		}
		return f
	}
	trial := measured(sent(2, rates(0, 0.4*one), rates(0, 0.4*one)), func(c *record.TCP) { c.SndMSS = 244 })
	trial.Lanes[0].Goodput, trial.Lanes[0].Retransmits, trial.Goodput = 0, 2, 0.4*one
	got := Judge(small(291), trial)
	if got.Cause != record.MTU || got.Confidence < 0.85 || !strings.Contains(got.Summary, "packets of 296 bytes, and bond0 of b takes 291") || !strings.Contains(got.Remedy, "on b: `ip link set dev bond0 mtu 1500`") {
		t.Errorf("%s %.2f: %s %s", got.Cause, got.Confidence, got.Summary, got.Remedy)
	}
	if got := Judge(small(292), trial); strings.Contains(got.Summary, "takes 292") {
		t.Errorf("drivers take a tag's room more: %s", got.Summary)
	}
	trial.Lanes[0].Goodput, trial.Lanes[0].Retransmits = 0.4*one, 0
	if got := Judge(small(291), trial); strings.Contains(got.Summary, "takes 291") {
		t.Errorf("all of them get on: %s", got.Summary)
	}
}
