package trial

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// rule is one trial and what must be said of it.
type rule struct {
	name      string
	fabric    predict.Fabric
	trial     record.Trial
	cause     record.Cause
	summary   string // part of it
	remedy    string // part of it
	not       string // in neither summary nor remedy
	source    string // of some evidence
	leastSure float64
	mostSure  float64      // zero is 1
	expected  unit.BitRate // zero is none
}

func (r rule) check(t *testing.T) {
	t.Helper()
	got := Judge(r.fabric, r.trial)
	if got.Cause != r.cause {
		t.Fatalf("cause %s, want %s: %s", got.Cause, r.cause, got.Summary)
	}
	most := r.mostSure
	if most == 0 {
		most = 1
	}
	if got.Confidence < r.leastSure || got.Confidence > most {
		t.Errorf("confidence %v, want %v to %v", got.Confidence, r.leastSure, most)
	}
	if !strings.Contains(got.Summary, r.summary) {
		t.Errorf("summary %q lacks %q", got.Summary, r.summary)
	}
	if !strings.Contains(got.Remedy, r.remedy) || got.Remedy == "" {
		t.Errorf("remedy %q lacks %q", got.Remedy, r.remedy)
	}
	if r.not != "" && strings.Contains(got.Summary+got.Remedy, r.not) {
		t.Errorf("%q in: %s / %s", r.not, got.Summary, got.Remedy)
	}
	found := r.source == ""
	for _, e := range got.Evidence {
		if e.What == "" || e.Value == "" || e.Source == "" {
			t.Errorf("evidence without all its parts: %+v", e)
		}
		found = found || strings.Contains(e.Source, r.source)
	}
	if len(got.Evidence) == 0 || !found {
		t.Errorf("no evidence from %q: %+v", r.source, got.Evidence)
	}
	if share := float64(got.Expected) / (float64(r.expected) + 1); share > 1.01 || share < 0.99 && r.expected > 0 {
		t.Errorf("expected %v, want %v", got.Expected, r.expected)
	}
	if got.From != "a" || got.To != "b" || got.Rate != r.trial.Goodput || got.Streams != r.trial.Streams {
		t.Errorf("finding is not of the trial: %+v", got)
	}
}

// with is the trial after a change.
func with(t record.Trial, change func(*record.Trial)) record.Trial {
	t.Lanes = append([]record.Lane(nil), t.Lanes...)
	change(&t)
	return t
}

// tcpOf changes what TCP said of every stream.
func tcpOf(t record.Trial, change func(*record.TCP)) record.Trial {
	return with(t, func(t *record.Trial) {
		for i := range t.Lanes {
			change(&t.Lanes[i].TCP)
		}
	})
}

// asking is the trial with what its run asked of every socket.
func asking(t record.Trial, s record.Socket) record.Trial {
	return with(t, func(t *record.Trial) {
		for i := range t.Lanes {
			t.Lanes[i].Asked = &s
		}
	})
}

func cpu(t record.Trial, use ...record.CPUUse) record.Trial { t.CPU = use; return t }

func TestLinkRules(t *testing.T) {
	const l2, l34 = netstate.Layer2, netstate.Layer34
	two := func(p netstate.HashPolicy) predict.Fabric { return pair{end: end{links: 2, policy: p}}.fabric() }
	four := pair{end: end{links: 4, policy: l34}}.fabric()
	single := pair{end: end{links: 1}}.fabric()
	down := pair{end: end{links: 2, policy: l34, outside: 1}}.fabric()
	cable := pair{end: end{links: 2, policy: l34, outside: 1}}.fabric()
	port, _ := cable.Hosts["a"].Link("eth1")
	port.Port.MIIUp = false
	held := pair{end: end{links: 2, policy: l34, speed: 1e9}}.fabric()
	for i := range 2 {
		held.Hosts["a"].Links[i].Qdiscs = []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: 500e6}}
	}
	outsideAndHeld := pair{end: end{links: 2, policy: l34, speed: 1e9, outside: 1}}.fabric()
	for i := range 2 {
		outsideAndHeld.Hosts["a"].Links[i].Qdiscs = []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: 250e6}}
	}
	for _, r := range []rule{
		{name: "one link full", fabric: single, trial: sent(1, rates(one), rates(one)), cause: record.LineRate, summary: "one link in use", source: fromCounters, leastSure: 0.9},
		{name: "one link as full as one greedy stream makes it", fabric: single, trial: sent(1, rates(0.94*one), rates(0.94*one)), cause: record.LineRate, leastSure: 0.9},
		{name: "two links full", fabric: two(l34), trial: sent(2, rates(one, one), rates(one, one)), cause: record.LineRate, summary: "Both links", leastSure: 0.9},
		{name: "two links nearly full", fabric: two(l34), trial: sent(2, rates(0.94*one, 0.94*one), rates(0.94*one, 0.94*one)), cause: record.LineRate},
		{name: "the receiver's links alone were counted", fabric: two(l34), trial: own(sent(2, nil, rates(one, one)), 2*one), cause: record.LineRate, summary: "Both links"},
		{name: "layer2, many streams", fabric: two(l2), trial: sent(8, rates(one, 0), rates(one/2, one/2)), cause: record.SingleLink,
			summary: "eth1 carried 0.0 %", remedy: "on a: `ip link set dev bond0 type bond xmit_hash_policy layer3+4`", source: diagnose.FromBond, leastSure: 0.9, expected: 2 * one},
		{name: "layer2, other traffic on the second link", fabric: two(l2), trial: own(sent(8, rates(0.96*one, 0.3*one), rates(0.6*one, 0.6*one)), 0.96*one),
			cause: record.SingleLink, summary: "eth1 carried 30.0 %", expected: 2 * one},
		{name: "one stream on layer3+4", fabric: two(l34), trial: sent(1, rates(one, 0), rates(0, one)), cause: record.SingleLink,
			summary: "One stream", remedy: "at least 2 streams", not: "transmit hash policy", leastSure: 0.9, expected: 2 * one},
		{name: "one stream on layer2", fabric: two(l2), trial: sent(1, rates(one, 0), rates(one, 0)), cause: record.SingleLink,
			summary: "One stream", remedy: "xmit_hash_policy layer3+4`; then use at least 2 streams", expected: 2 * one},
		{name: "two streams on four links", fabric: four, trial: sent(2, rates(one, one, 0, 0), rates(one, one, 0, 0)), cause: record.SingleLink,
			summary: "2 of 4 links", remedy: "at least 4 streams", expected: 4 * one},
		{name: "chance", fabric: two(l34), trial: sent(4, rates(one, 0), rates(one, 0)), cause: record.HashImbalance,
			summary: "the ports fell that way", remedy: "use 16 streams", source: diagnose.FromBond, leastSure: 0.8, expected: 2 * one},
		{name: "chance, half a link left", fabric: two(l34), trial: sent(3, rates(0.95*one, 0.5*one), rates(one, 0.45*one)), cause: record.HashImbalance, expected: 2 * one},
		{name: "balance-tlb receives on one link", fabric: pair{end: end{links: 2, mode: netstate.BalanceTLB, policy: l34}}.fabric(),
			trial: sent(4, rates(one/2, one/2), rates(one, 0)), cause: record.SingleLink, summary: "balance-tlb receives", remedy: "mode of bond0 on b", source: "IFLA_BOND_MODE", expected: 2 * one},
		{name: "active-backup is its one link", fabric: pair{end: end{links: 2, mode: netstate.ActiveBackup}}.fabric(),
			trial: sent(4, rates(one, 0), rates(one, 0)), cause: record.SingleLink, summary: "The one link", remedy: "the mode of bond0", not: "`ip link", source: fromPorts, expected: 2 * one},
		{name: "a port outside the aggregator", fabric: down, trial: sent(4, rates(one, 0), rates(one, 0)), cause: record.LACPDown,
			summary: "bond0 of a has 1 of its 2 ports", remedy: "LACP", source: "AGGREGATOR", leastSure: 0.9, expected: 2 * one},
		{name: "a port without link, and streams that are paced", fabric: cable, trial: asking(sent(4, rates(one, 0), rates(one, 0)), record.Socket{Pacing: 0.4 * one}),
			cause: record.LACPDown, expected: 1.6 * one},
		{name: "a port without link, and a program that paces", fabric: cable, trial: tcpOf(sent(4, rates(one, 0), rates(one, 0)), func(c *record.TCP) { c.MaxPacing = 0.3 * one }),
			cause: record.LACPDown, expected: 1.2 * one},
		{name: "a port without link, and a rate that the run keeps to", fabric: cable, trial: with(sent(4, rates(one, 0), rates(one, 0)), func(t *record.Trial) { t.RateLimit = 1.5 * one }),
			cause: record.LACPDown, expected: 1.5 * one},
		{name: "a port without link", fabric: cable, trial: sent(4, rates(one, 0), rates(one, 0)), cause: record.LACPDown, remedy: "bring eth1 of a up", expected: 2 * one},
		{name: "a port outside is no limit below the other's rate", fabric: down, trial: sent(4, rates(one/2, 0), rates(one/2, 0)), cause: record.Unknown},
		{name: "root qdiscs", fabric: held, trial: sent(2, rates(one, one), rates(one, one)), cause: record.Shaper, summary: "root qdisc", remedy: "tc qdisc", source: "RTM_GETQDISC", expected: 4 * one},
		{name: "root qdisc of the one port that is in", fabric: outsideAndHeld, trial: with(sent(2, rates(one/2, 0), rates(one/2, 0)), func(t *record.Trial) {
			t.Links[0].Ceiling, t.Links[1].Ceiling, t.Links[2].Ceiling, t.Links[3].Ceiling = one/2, one/2, 2*one, 2*one
		}), cause: record.Shaper, summary: "root qdisc", expected: 2 * one},
		{name: "path rate", fabric: pair{end: end{links: 2, policy: l34}, rate: 300e6}.fabric(), trial: sent(2, rates(0.3*one, 0.3*one), rates(0.3*one, 0.3*one)),
			cause: record.Shaper, summary: "300 Mbit/s", remedy: "provider", source: "fabric file", leastSure: 0.8, expected: 2 * one},
		{name: "path rate not in force", fabric: pair{end: end{links: 2, policy: l34}, rate: 300e6}.fabric(), trial: sent(2, rates(one, one), rates(one, one)), cause: record.LineRate},
	} {
		t.Run(r.name, r.check)
	}
}

// TestSwitch: the sender spreads well and the switch does not.
func TestSwitch(t *testing.T) {
	trial := sent(4, rates(one/2, one/2), rates(one, 0))
	trial.Links[0].RxPayload, trial.Links[1].RxPayload = 0, 0
	f := func(hash string) predict.Fabric {
		return pair{end: end{links: 2, policy: netstate.Layer34}, switchHash: hash}.fabric()
	}
	directed := f("")
	directed.Paths = []fabric.Path{{From: "b", To: "a", Directed: true, SwitchHash: "layer2"}, {From: "a", To: "b", Directed: true, SwitchHash: "layer3+4"}}
	for _, r := range []rule{
		{name: "layer2", fabric: f("layer2"), trial: trial, cause: record.SingleLink, summary: "reach b by eth0", remedy: "on the switch: let its hash toward b read addresses and ports", source: "switch_hash", leastSure: 0.9, expected: 2 * one},
		{name: "layer3+4", fabric: f("layer3+4"), trial: trial, cause: record.HashImbalance, summary: "reach b by eth0", remedy: "steer probe", source: "switch_hash", expected: 2 * one},
		{name: "unknown", fabric: f("unknown"), trial: trial, cause: record.HashImbalance, remedy: "steer probe", expected: 2 * one},
		{name: "the way back has another", fabric: directed, trial: trial, cause: record.HashImbalance, expected: 2 * one},
	} {
		t.Run(r.name, r.check)
	}
}

// TestWrongLink: two plain links with an address each, and all traffic leaves
// by the first.
func TestWrongLink(t *testing.T) {
	f := pair{end: end{links: 1}}.fabric()
	for _, name := range []string{"a", "b"} {
		h := f.Hosts[name]
		second := h.Links[0]
		second.Name, second.Addresses = "eth1", second.Addresses[:0:0]
		for _, p := range h.Links[0].Addresses {
			second.Addresses = append(second.Addresses, netip.MustParsePrefix(p.Addr().Next().Next().String()+"/24"))
		}
		h.Links = append(h.Links, second)
		f.Hosts[name] = h
	}
	trial := sent(2, rates(one, 0), rates(one/2, one/2))
	trial.Lanes[1].Src, trial.Lanes[1].Dst = f.Hosts["a"].Links[1].Addresses[0].Addr(), f.Hosts["b"].Links[1].Addresses[0].Addr()
	rule{fabric: f, trial: trial, cause: record.AsymmetricRoute, summary: "wrong link", remedy: "route", leastSure: 0.8}.check(t)
}

// TestCauseEachWay: of two ways with a cause each, that whose end brings more is named,
// and the other way stays as it is.
func TestCauseEachWay(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	f.Paths = []fabric.Path{{From: "b", To: "a", Directed: true, Rate: 200e6}, {From: "a", To: "b", Directed: true}}
	trial := sent(2, rates(0.2*one, 0.2*one), rates(0.2*one, 0.2*one))
	trial.Direction, trial.Goodput = flow.Both, 0.5*one
	for i := range trial.Links {
		trial.Links[i].TxPayload, trial.Links[i].RxPayload = 0.2*one, 0.05*one
		if trial.Links[i].Host == "b" {
			trial.Links[i].TxPayload, trial.Links[i].RxPayload = 0.05*one, 0.2*one
		}
	}
	back := streams(2, flow.Reverse, 0.1*one)
	for i := range back {
		back[i].Asked = &record.Socket{Pacing: 0.05 * one}
		back[i].Granted = back[i].Asked
		back[i].TCP.BusyRatio = 1
	}
	trial = tcpOf(trial, func(c *record.TCP) { c.RwndLimited = 0.9 })
	trial.Lanes = append(trial.Lanes, back...)
	rule{fabric: f, trial: trial, cause: record.ReceiveWindow, summary: "from a", expected: 2.1 * one}.check(t)
}

// TestBothWays: the worse way is judged, whichever it is.
func TestBothWays(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	for _, worse := range flow.Both.Ways() {
		trial := sent(4, rates(one, one), rates(one, one))
		trial.Direction = flow.Both
		trial.Lanes = append(streams(4, worse, one), streams(4, map[flow.Direction]flow.Direction{flow.Forward: flow.Reverse, flow.Reverse: flow.Forward}[worse], 2*one)...)
		trial.Goodput = 3 * one
		full, half := []unit.BitRate{one, one}, []unit.BitRate{one, 0}
		tx, rx := half, full // of a
		if worse == flow.Reverse {
			tx, rx = full, half
		}
		for i := range 2 {
			trial.Links[i].TxPayload, trial.Links[i].RxPayload = tx[i], rx[i]
			trial.Links[2+i].TxPayload, trial.Links[2+i].RxPayload = rx[i], tx[i]
		}
		from := map[flow.Direction]string{flow.Forward: "from a leave", flow.Reverse: "from b leave"}[worse]
		rule{fabric: f, trial: trial, cause: record.HashImbalance, summary: from, expected: 4 * one}.check(t)
	}
}
