package trial

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestAgreesWithPrediction: a trial that comes out as predicted is limited by
// what the prediction named.
func TestAgreesWithPrediction(t *testing.T) {
	seen := make(map[record.Cause]int)
	check := func(what string, p pair, d flow.Direction, n int) {
		t.Helper()
		f := p.fabric()
		predicted, err := predict.Predict(f, predict.Traffic{From: "a", To: "b", Direction: d, Streams: n, Ports: predict.PortsChosen})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		got := Judge(f, synthesised(f, predicted))
		seen[got.Cause]++
		if got.Cause != predicted.Limit {
			t.Errorf("%s: diagnosed %s, predicted %s (%v of %v)\n%s\n%v", what, got.Cause, predicted.Limit, predicted.Rate, predicted.Ceiling, got.Summary, predicted.Limits[0])
		}
	}
	for _, links := range []int{1, 2, 4} {
		for _, policy := range []netstate.HashPolicy{netstate.Layer2, netstate.Layer23, netstate.Layer34} {
			for _, sw := range []string{"layer2", "layer2+3", "layer3+4", "unknown"} {
				for _, rate := range []unit.BitRate{0, 300e6, 500e6, 970e6} {
					for _, rtt := range []time.Duration{time.Millisecond, 200 * time.Millisecond} {
						for _, d := range flow.Directions() {
							for _, n := range []int{1, 2, 4, 8} {
								what := fmt.Sprintf("%d links, %s, switch %s, path %v, %v, %s, %d streams", links, policy, sw, rate, rtt, d, n)
								check(what, pair{end: end{links: links, policy: policy}, switchHash: sw, rate: rate, rtt: rtt}, d, n)
							}
						}
					}
				}
			}
		}
	}
	for _, mode := range []netstate.BondMode{netstate.ActiveBackup, netstate.BalanceXOR, netstate.BalanceTLB, netstate.BalanceALB} {
		for _, n := range []int{1, 2, 8} {
			check(fmt.Sprintf("%s, %d streams", mode, n), pair{end: end{links: 2, mode: mode, policy: netstate.Layer34}, switchHash: "layer3+4"}, forward, n)
		}
	}
	for _, n := range []int{1, 2, 8} {
		check(fmt.Sprintf("one of three outside, %d streams", n), pair{end: end{links: 3, policy: netstate.Layer34, outside: 1}}, forward, n)
	}
	for _, c := range []record.Cause{record.LineRate, record.SingleLink, record.Shaper, record.ReceiveWindow, record.LACPDown} {
		if seen[c] == 0 {
			t.Errorf("no case was %s: the table does not test it", c)
		}
	}
}

// TestSwitchToo: where a switch is known to be between two bonds, and it, too, takes no
// notice of ports, the host's policy alone wins nothing: the remedy has both.
func TestSwitchToo(t *testing.T) {
	for _, c := range []struct {
		name    string
		partner string
		hash    string
		arrive  []unit.BitRate
		want    int // steps
	}{
		{"a switch that nobody declares", "02:00:00:00:00:99", "unknown", rates(one, 0), 2},
		{"one that is declared so", "02:00:00:00:00:99", "layer2", rates(one, 0), 2},
		{"one that spreads", "02:00:00:00:00:99", "unknown", rates(one/2, one/2), 1},
		{"no LACP to tell of one", "", "unknown", rates(one, 0), 1},
		{"the bonds are each other's partner", "02:00:00:00:00:02", "unknown", rates(one, 0), 1},
	} {
		f := pair{end: end{links: 2, policy: netstate.Layer23}, switchHash: c.hash}.fabric()
		for name, own := range map[string]string{"a": "02:00:00:00:00:01", "b": "02:00:00:00:00:02"} {
			h := f.Hosts[name].Clone()
			bond := slices.IndexFunc(h.Links, func(l netstate.Link) bool { return l.Bond != nil })
			h.Links[bond].MAC, _ = flow.ParseMAC(own)
			if c.partner != "" {
				partner, _ := flow.ParseMAC(c.partner)
				h.Links[bond].Bond.AD = &netstate.Aggregator{Ports: 2, PartnerMAC: partner}
			}
			f.Hosts[name] = h
		}
		got := Judge(f, sent(8, rates(one, 0), c.arrive))
		if got.Cause != record.SingleLink || len(got.Ways[0]) != c.want {
			t.Errorf("%s: %s, %d steps, want %d: %s", c.name, got.Cause, len(got.Ways[0]), c.want, got.Remedy)
		}
	}
}

// TestAliases: streams of several pairs of addresses under layer2+3.
func TestAliases(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer23}}.fabric()
	trial := sent(4, rates(one, 0), rates(one, 0))
	if got := Judge(f, trial); got.Cause != record.SingleLink {
		t.Errorf("one pair of addresses: %s, want single-link", got.Cause)
	}
	for i := range trial.Lanes {
		if i%2 == 1 {
			trial.Lanes[i].Src = trial.Lanes[i].Src.Next().Next()
		}
	}
	if got := Judge(f, trial); got.Cause != record.HashImbalance {
		t.Errorf("two pairs of addresses on one link: %s, want hash-imbalance", got.Cause)
	}
}
