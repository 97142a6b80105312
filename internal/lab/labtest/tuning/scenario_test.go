package tuning

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// scenario is a network of two hosts as somebody found it. Rates are a
// two hundredth of the published ones or less, since one emulated processor
// carries both ends: windows are divided by what is left after the round trip
// was stretched, so that the same thing limits.
type scenario struct {
	name  string
	title string         // what was published, or what is shown
	rates []unit.BitRate // of each link, as a shaper counts
	// bond joins each host's links; else each is an interface with a subnet of
	// its own.
	bond       bool
	mode       netstate.BondMode
	policy     netstate.HashPolicy // of the hosts' bonds, as found
	switchHash netstate.HashPolicy // of the switch's
	near, far  int                 // addresses of each host on its bond or its only link
	mtu        int                 // the largest that the switch takes
	rtt        time.Duration       // that the network adds
	loss       float64             // of packets, each way
	windows    int                 // what the kernel's buffer sizes are divided by
	// article is what the publication did; nil where it did nothing.
	article *setting
}

// What the kernel starts with, until 6.15.
const (
	usualRmem = 6 * unit.MiB
	usualWmem = 4 * unit.MiB
	usualMTU  = 1500
	jumbo     = 9000
)

// scenarios in the order of the proof's parts.
func scenarios() []scenario {
	const m = unit.Mbps
	lacp := scenario{bond: true, mode: netstate.LACP, policy: netstate.Layer2, switchHash: netstate.Layer34, near: 1, far: 1, mtu: jumbo, windows: 1}
	plain := scenario{near: 1, far: 1, mtu: jumbo, windows: 1}
	with := func(s scenario, change func(*scenario)) scenario { change(&s); return s }
	guide := &setting{policy: netstate.Layer34, mtu: jumbo, rmem: 32 * unit.MiB, wmem: 32 * unit.MiB, streams: 4}
	return []scenario{
		with(plain, func(s *scenario) {
			s.name, s.title = "ibm-vpc", "two shaped interfaces a host, a lane each (16 Gb/s as 50 Mbit/s)"
			s.rates, s.rtt, s.windows = []unit.BitRate{50 * m, 50 * m}, 50*time.Millisecond, 16
			s.article = &setting{mtu: jumbo, rmem: usualRmem, wmem: usualWmem, buffer: 8 * unit.MiB, streams: 8}
		}),
		with(plain, func(s *scenario) {
			s.name, s.title = "45drives-2", "balance-rr bond of two ports (10 Gb/s as 50 Mbit/s)"
			s.bond, s.mode, s.rates, s.rtt = true, netstate.BalanceRR, []unit.BitRate{50 * m, 50 * m}, 4*time.Millisecond
			s.article = &setting{mtu: jumbo, rmem: usualRmem, wmem: usualWmem, streams: 1}
		}),
		with(plain, func(s *scenario) {
			s.name, s.title = "45drives-3", "balance-rr bond of three ports (10 Gb/s as 33 Mbit/s)"
			s.bond, s.mode, s.rates, s.rtt = true, netstate.BalanceRR, []unit.BitRate{33 * m, 33 * m, 33 * m}, 4*time.Millisecond
			s.article = &setting{mtu: jumbo, rmem: usualRmem, wmem: usualWmem, streams: 1}
		}),
		with(plain, func(s *scenario) {
			s.name, s.title = "ip-alias", "one port, a switch of 1500 bytes: nothing to gain (1 Gb/s as 50 Mbit/s)"
			s.rates, s.rtt, s.near, s.mtu = []unit.BitRate{50 * m}, 2*time.Millisecond, 8, usualMTU
			s.article = &setting{mtu: usualMTU, rmem: usualRmem, wmem: usualWmem, streams: 8}
		}),
		with(lacp, func(s *scenario) {
			s.name, s.title = "ovh-vrack", "LACP of two ports, a window of a ninth of the path (25 Gb/s as 100 Mbit/s)"
			s.rates, s.rtt, s.windows, s.article = []unit.BitRate{50 * m, 50 * m}, 72*time.Millisecond, 32, guide
		}),
		with(lacp, func(s *scenario) {
			s.name, s.title = "nfs-lacp", "LACP of two ports by layer2, few flows, a switch of layer2+3 (10 Gb/s as 50 Mbit/s)"
			s.rates, s.rtt, s.far, s.switchHash = []unit.BitRate{50 * m, 50 * m}, 2*time.Millisecond, 2, netstate.Layer23
			s.article = &setting{policy: netstate.Layer23, mtu: usualMTU, rmem: usualRmem, wmem: usualWmem, streams: 2}
		}),
		with(lacp, func(s *scenario) {
			s.name, s.title = "backup-etherchannel", "static EtherChannel of two ports, sessions to one address (10 Gb/s as 50 Mbit/s)"
			s.mode, s.rates, s.rtt = netstate.BalanceXOR, []unit.BitRate{50 * m, 50 * m}, 2*time.Millisecond
			s.article = &setting{policy: netstate.Layer34, mtu: usualMTU, rmem: usualRmem, wmem: usualWmem, streams: 4}
		}),
		with(plain, func(s *scenario) {
			s.name, s.title = "long-fat", "one link, 50 ms, 0.01 % loss"
			s.rates, s.rtt, s.loss = []unit.BitRate{50 * m}, 50*time.Millisecond, 1e-4
		}),
		with(plain, func(s *scenario) {
			s.name, s.title = "unequal", "two interfaces, one twice as fast as the other"
			s.rates, s.rtt = []unit.BitRate{30 * m, 60 * m}, 4*time.Millisecond
		}),
		with(lacp, func(s *scenario) {
			s.name, s.title = "four-links", "LACP of four ports"
			s.rates, s.rtt, s.article = []unit.BitRate{25 * m, 25 * m, 25 * m, 25 * m}, 4*time.Millisecond, guide
		}),
		with(lacp, func(s *scenario) {
			s.name, s.title = "receive-side", "LACP of two ports, a switch of layer2: what hosts cannot mend"
			s.rates, s.rtt, s.switchHash, s.article = []unit.BitRate{50 * m, 50 * m}, 4*time.Millisecond, netstate.Layer2, guide
		}),
	}
}

func (s scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.name, s.title)
	if s.bond {
		fmt.Fprintf(&b, "; %v", s.mode)
		if s.mode.Hashes() {
			fmt.Fprintf(&b, " %v, switch %v", s.policy, s.switchHash)
		}
	}
	fmt.Fprintf(&b, "; RTT %v, windows / %d", s.rtt, s.windows)
	return b.String()
}

// sum of the links, in one direction.
func (s scenario) sum() (all unit.BitRate) {
	for _, r := range s.rates {
		all += r
	}
	return all
}

// ceiling is the payload that all links carry in both directions at once at
// the largest frames that get through: l2 framing, IPv4 and TCP with
// timestamps.
func (s scenario) ceiling() unit.BitRate {
	const headers, ethernet = 20 + 32, 14
	return 2 * s.sum() * unit.BitRate(s.mtu-headers) / unit.BitRate(s.mtu+ethernet)
}

// bdp is what all links hold in flight.
func (s scenario) bdp() unit.Bytes { return unit.Bytes(float64(s.sum()) / 8 * s.rtt.Seconds()) }

// straight: each of near's links leads to one of far's, and to no other.
func (s scenario) straight() bool { return !s.bond || s.mode == netstate.BalanceRR }

// hashes reports whether the hosts have a policy to set.
func (s scenario) hashes() bool { return s.bond && s.mode.Hashes() }

// named finds a scenario.
func named(name string) (scenario, bool) {
	all := scenarios()
	i := slices.IndexFunc(all, func(s scenario) bool { return s.name == name })
	if i < 0 {
		return scenario{}, false
	}
	return all[i], true
}

// mostRate is what one emulated processor moves each way without being the
// limit itself.
const mostRate = 100 * unit.Mbps

// TestScenarios: names are words of a proof's lines, and the lab can carry
// every scenario.
func TestScenarios(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios() {
		if seen[s.name] || strings.ContainsAny(s.name, " ;:") || s.sum() > mostRate || s.near < 1 || s.far < 1 {
			t.Errorf("scenario %v: named twice, or more than the lab carries", s)
		}
		seen[s.name] = true
		if n := len(grid(s)); n != pointsOf(s) {
			t.Errorf("%s: a grid of %d points, want %d", s.name, n, pointsOf(s))
		}
	}
	if len(seen) < leastScenarios {
		t.Errorf("%d scenarios, want %d", len(seen), leastScenarios)
	}
}

// pointsOf is 96, halved for each axis that a scenario has only one point of.
func pointsOf(s scenario) int {
	n := 96
	if !s.hashes() {
		n /= 2
	}
	if s.mtu < jumbo {
		n /= 2
	}
	return n
}
