package predicting

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// setup is a network of two hosts and the traffic between them.
type setup struct {
	rates []unit.BitRate // of each link, as a shaper counts
	// bond joins each host's links; else each is an interface with a subnet of
	// its own.
	bond       bool
	mode       netstate.BondMode
	policy     netstate.HashPolicy // of the hosts' bonds
	switchHash netstate.HashPolicy // of the switch's
	addresses  int                 // of each host on its bond
	v6         bool
	mtu        int
	rtt        time.Duration // that the network adds
	loss       float64       // of packets, each way
	path, host unit.BitRate  // shapers between the switches, and on the sender; zero is none
	rmem, wmem unit.Bytes    // the largest of tcp_rmem and tcp_wmem
	buffer     unit.Bytes    // that sockets ask for; zero is none
	pace       unit.BitRate  // of each stream; zero is none
	congestion string
	streams    int
	ports      string
	direction  flow.Direction
}

// Linux's own, until 6.15.
const (
	usualRmem = 6 * unit.MiB
	usualWmem = 4 * unit.MiB
)

func (s setup) String() string {
	var b strings.Builder
	if s.bond {
		fmt.Fprintf(&b, "%v", s.mode)
		if s.mode.Hashes() {
			fmt.Fprintf(&b, " %v (switch %v)", s.policy, s.switchHash)
		}
		fmt.Fprint(&b, ", ")
	}
	fmt.Fprintf(&b, "%d x %s", len(s.rates), brief(s.rates[0]))
	for _, r := range s.rates[1:] {
		if r != s.rates[0] {
			fmt.Fprintf(&b, " %v", s.rates)
			break
		}
	}
	fmt.Fprintf(&b, ", MTU %d, RTT %v, %s, %d streams %s", s.mtu, s.rtt, s.direction, s.streams, s.congestion)
	add := func(on bool, form string, v any) {
		if on {
			fmt.Fprintf(&b, form, v)
		}
	}
	add(s.v6, ", IPv%d", 6)
	add(s.addresses > 1, ", %d addresses", s.addresses)
	add(s.ports == predict.PortsKernel, ", ports by the %s", s.ports)
	add(s.rmem != usualRmem, ", rmem %s", s.rmem)
	add(s.wmem != usualWmem, ", wmem %s", s.wmem)
	add(s.buffer > 0, ", buffers of %s", s.buffer)
	add(s.loss > 0, ", loss %.2g", s.loss)
	add(s.path > 0, ", path %s", s.path)
	add(s.host > 0, ", sender %s", s.host)
	add(s.pace > 0, ", paced at %s", s.pace)
	return b.String()
}

func brief(r unit.BitRate) string { return fmt.Sprintf("%.0fM", float64(r)/1e6) }

// What one emulated processor moves without being the limit itself, on a machine
// that has other things to do.
const (
	mostRate   = 250 * unit.Mbps // of all links, in one direction or in two
	pacedTime  = 5 * time.Millisecond
	mostSingly = 8000.0 // packets a second that are not joined
)

// draw is the configuration of a number; the same seed gives the same.
func draw(seed, number uint64) setup {
	random := rand.New(rand.NewPCG(seed, number))
	for {
		if s := (dice{random}).setup(); s.fits() {
			return s
		}
	}
}

type dice struct{ *rand.Rand }

func (d dice) chance(p float64) bool { return d.Float64() < p }

// between is log-uniform, three digits.
func (d dice) between(low, high float64) float64 {
	v := low * math.Pow(high/low, d.Float64())
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return math.Round(v/unit) * unit
}

func one[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

func (d dice) setup() setup {
	s := setup{
		mtu: one(d, 1500, 1500, 4000, 9000), congestion: one(d, "cubic", "cubic", "cubic", "reno"), ports: predict.PortsChosen,
		streams: one(d, 1, 1, 2, 3, 4, 8), direction: one(d, flow.Forward, flow.Forward, flow.Reverse, flow.Both),
		rmem: usualRmem, wmem: usualWmem, addresses: 1, v6: d.chance(0.12),
	}
	d.links(&s)
	if d.chance(0.75) {
		s.rtt = time.Duration(d.between(1e6, 50e6))
	}
	d.buffers(&s)
	d.caps(&s)
	if d.chance(0.3) {
		s.loss = d.between(1e-5, 1e-2)
	}
	return s
}

func (d dice) links(s *setup) {
	n := one(d, 1, 2, 2, 3, 4)
	rate := one[unit.BitRate](d, 30, 40, 60, 80, 120) * unit.Mbps
	for range n {
		s.rates = append(s.rates, rate)
	}
	if s.bond = n > 1 && d.chance(0.7); s.bond {
		s.mode = one(d, netstate.LACP, netstate.LACP, netstate.LACP, netstate.BalanceXOR, netstate.BalanceXOR,
			netstate.BalanceRR, netstate.BalanceRR, netstate.ActiveBackup, netstate.BalanceTLB, netstate.BalanceALB)
		s.policy = one(d, netstate.Layer2, netstate.Layer23, netstate.Layer34, netstate.Layer34, netstate.VLANSrcMAC)
		s.switchHash = one(d, netstate.Layer2, netstate.Layer23, netstate.Layer34, netstate.Layer34)
		s.addresses = one(d, 1, 1, 2, 4)
		if d.chance(0.2) && s.streams >= 4*n {
			s.ports = predict.PortsKernel
		}
	} else if n > 1 && d.chance(0.4) {
		s.rates[n-1] = one[unit.BitRate](d, 30, 40, 60) * unit.Mbps
	}
}

func (d dice) buffers(s *setup) {
	size := func(low, high float64) unit.Bytes {
		return unit.Bytes(math.Round(d.between(low, high)/4096)) * 4096
	}
	switch d.IntN(6) {
	case 0, 1:
		s.rmem = size(48<<10, 1.5*(1<<20))
	case 2:
		s.wmem = size(48<<10, 1.5*(1<<20))
	case 3:
		if d.chance(0.5) {
			s.buffer = size(32<<10, 1<<20)
		}
	}
}

func (d dice) caps(s *setup) {
	all := float64(s.sum())
	round := func(v float64) unit.BitRate { return unit.BitRate(math.Round(v/1e6)) * unit.Mbps }
	switch d.IntN(10) {
	case 0, 1:
		s.path = round(all * (0.2 + 0.7*d.Float64()))
	case 2:
		if s.bond || len(s.rates) == 1 {
			s.host = round(all * (0.2 + 0.7*d.Float64()))
		}
	case 3:
		// TCP hands a paced link two segments at once or more, and an emulated
		// processor's timer is late by up to a millisecond or two.
		apart := float64(2*s.mtu*8) / pacedTime.Seconds()
		s.pace = unit.BitRate(min(all/float64(s.streams)*(0.1+0.7*d.Float64()), apart))
		s.pace = max(100*unit.Kbps, s.pace-unit.BitRate(math.Mod(float64(s.pace), 1e5)))
	}
}

// straight: each of near's links leads to one of far's, and to no other.
func (s setup) straight() bool { return !s.bond || s.mode == netstate.BalanceRR }

func (s setup) sum() (all unit.BitRate) {
	for _, r := range s.rates {
		all += r
	}
	return all
}

// fits reports whether the lab can show what the setup has: its one processor
// is not the limit, and where loss is, some hundred losses can be waited for.
func (s setup) fits() bool {
	rate := s.sum()
	if s.direction == flow.Both {
		rate *= 2
	}
	if rate > mostRate || s.bond && s.mode == netstate.BalanceRR && (s.direction == flow.Both || s.path > 0) {
		return false
	}
	if s.loss == 0 {
		return true
	}
	singly := float64(rate) / 8 / float64(s.mtu)
	if singly > mostSingly || s.rtt < time.Millisecond {
		return false
	}
	return s.lossRate() > 1.5*float64(s.sum()) || s.lossRate() < 0.7*float64(s.sum()) && s.losses() > leastLosses/float64(longWindow/time.Second)
}

const (
	leastLosses = 200.0
	longWindow  = 20 * time.Second
	lossyWindow = 8 * time.Second
	window      = 3 * time.Second
	glance      = 2 * time.Second // enough to see a rate rise
)

// lossRate is what loss lets the streams reach by Mathis, roughly.
func (s setup) lossRate() float64 {
	return float64(s.streams) * float64(s.mtu) * 8 / s.rtt.Seconds() * 1.22 / math.Sqrt(s.loss)
}

// losses are those a second at that rate.
func (s setup) losses() float64 { return s.lossRate() / 8 / float64(s.mtu) * s.loss }

// window is how long the setup must be watched.
func (s setup) window() time.Duration {
	if s.loss == 0 {
		return window
	}
	return min(longWindow, max(lossyWindow, time.Duration(2*leastLosses/s.losses()*float64(time.Second))))
}

// balances reports a bond that moves flows from link to link by their load.
func (s setup) balances() bool {
	return s.bond && (s.mode == netstate.BalanceTLB || s.mode == netstate.BalanceALB)
}

// quick: built and steady within a moment.
func (s setup) quick() bool {
	return s.loss == 0 && s.rtt < 10*time.Millisecond && !s.balances() && !s.striped() && !(s.bond && s.mode == netstate.LACP)
}

// TestDraw: the same numbers give the same networks, and among as many as the
// proof has everything is there.
func TestDraw(t *testing.T) {
	seen := map[string]int{}
	for n := range uint64(configurations) {
		s := draw(floor.Number(t, "PROVE_SEED", 1), n)
		if again := draw(floor.Number(t, "PROVE_SEED", 1), n); s.String() != again.String() {
			t.Fatalf("%d: %v, then %v", n, s, again)
		}
		t.Log(n, s)
		for what, is := range map[string]bool{
			"lacp": s.bond && s.mode == netstate.LACP, "xor": s.bond && s.mode == netstate.BalanceXOR, "rr": s.bond && s.mode == netstate.BalanceRR,
			"plain": !s.bond && len(s.rates) > 1, "single": len(s.rates) == 1, "four": len(s.rates) == 4,
			"loss": s.loss > 0, "path": s.path > 0, "host": s.host > 0, "paced": s.pace > 0, "rmem": s.rmem != usualRmem, "wmem": s.wmem != usualWmem,
			"buffer": s.buffer > 0, "v6": s.v6, "both": s.direction == flow.Both, "far": s.rtt > 20*time.Millisecond, "near": s.rtt == 0,
			"jumbo": s.mtu == 9000, "one stream": s.streams == 1, "eight": s.streams == 8, "reno": s.congestion == "reno", "aliases": s.addresses > 1,
		} {
			if is {
				seen[what]++
			} else {
				seen[what] += 0
			}
		}
	}
	for what, n := range seen {
		if n == 0 {
			t.Errorf("no configuration has %q: %v", what, seen)
		}
	}
}
