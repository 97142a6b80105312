package explaining

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// form is how the hosts' links are used together.
type form int

const (
	bonded form = iota // one bond, at the switch too
	apart              // a subnet each
	twins              // all in one subnet, with a rule for each address
)

// network is two hosts that fill their links: what a fault is put into.
type network struct {
	form       form
	mode       netstate.BondMode
	policy     netstate.HashPolicy // of the hosts' bonds
	switchHash netstate.HashPolicy
	rates      []unit.BitRate // of each link, as a shaper counts
	aliases    int            // addresses of each host on its bond
	mtu        int
	rtt        time.Duration // that the network adds
	streams    int
	direction  flow.Direction
	congestion string
	ports      string
	rmem, wmem unit.Bytes // the largest of tcp_rmem and tcp_wmem
	// singly has segments travel one by one, so that what happens to packets
	// happens to one at a time.
	singly bool
	// agents: each host is a process of its own, reached by a stream.
	agents bool
	// saysRTT and saysHash: the fabric file declares them.
	saysRTT, saysHash bool
}

func (n network) String() string {
	var b strings.Builder
	switch n.form {
	case bonded:
		fmt.Fprintf(&b, "%v", n.mode)
		if n.mode.Hashes() {
			fmt.Fprintf(&b, " %v (switch %v)", n.policy, n.switchHash)
		}
		fmt.Fprint(&b, ", ")
	case twins:
		fmt.Fprint(&b, "one subnet with rules, ")
	}
	fmt.Fprintf(&b, "%d x %.0fM, MTU %d, RTT %v, %s, %d streams %s", len(n.rates), mega(n.rates[0]), n.mtu, n.rtt, n.direction, n.streams, n.congestion)
	if n.aliases > 1 {
		fmt.Fprintf(&b, ", %d addresses", n.aliases)
	}
	return b.String()
}

func mega[T ~float64](v T) float64 { return float64(v) / 1e6 }

func (n network) sum() (all unit.BitRate) {
	for _, r := range n.rates {
		all += r
	}
	return all
}

// perStream is a stream's part of the links.
func (n network) perStream() float64 { return float64(n.sum()) / float64(n.streams) }

// senders are the hosts whose streams are judged, receivers those they go to.
func (n network) senders() []string {
	switch n.direction {
	case flow.Forward:
		return []string{"near"}
	case flow.Reverse:
		return []string{"far"}
	}
	return []string{"near", "far"}
}

func (n network) receivers() (all []string) {
	for _, s := range n.senders() {
		all = append(all, other(s))
	}
	return all
}

func other(host string) string {
	if host == "near" {
		return "far"
	}
	return "near"
}

// dice draws.
type dice struct{ *rand.Rand }

func (d dice) chance(p float64) bool { return d.Float64() < p }

// even is uniform, between log-uniform.
func (d dice) even(low, high float64) float64    { return low + (high-low)*d.Float64() }
func (d dice) between(low, high float64) float64 { return low * math.Pow(high/low, d.Float64()) }

func one[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

const (
	// What one emulated processor moves with time to spare, on a machine that
	// has other things to do: bits in both directions, packets that are not
	// joined.
	mostRate   = 260 * unit.Mbps
	mostSingly = 9000.0
	// Linux's own, until 6.15.
	usualRmem = 6 * unit.MiB
	usualWmem = 4 * unit.MiB
)

// scale is the part of the usual rates that links have, PROVE_SCALE in percent: less than
// 100 is for a machine that is busy with other things.
func (d dice) scale() unit.BitRate {
	percent, err := strconv.Atoi(os.Getenv("PROVE_SCALE"))
	if err != nil || percent <= 0 || percent > 100 {
		return 1
	}
	return unit.BitRate(percent) / 100
}

// network is a healthy one.
func (d dice) network() network {
	for {
		n := network{
			mtu: one(d, 1500, 1500, 4000, 9000), congestion: one(d, "cubic", "cubic", "cubic", "reno"), ports: predict.PortsChosen,
			direction: one(d, flow.Forward, flow.Forward, flow.Forward, flow.Reverse, flow.Reverse, flow.Both),
			rtt:       round(time.Duration(d.between(1e6, 25e6))), rmem: usualRmem, wmem: usualWmem, aliases: 1,
			saysRTT: d.chance(0.7), saysHash: d.chance(0.8),
			form: one(d, bonded, bonded, bonded, apart), mode: one(d, netstate.LACP, netstate.LACP, netstate.BalanceXOR),
			policy: netstate.Layer34, switchHash: netstate.Layer34,
		}
		count := one(d, 1, 2, 2, 3, 4)
		rate := one[unit.BitRate](d, 30, 40, 50, 60, 80, 100) * unit.Mbps * d.scale()
		for range count {
			n.rates = append(n.rates, rate)
		}
		if count == 1 {
			n.form = apart
		}
		n.streams = count * one(d, 1, 1, 2)
		if n.possible() {
			return n
		}
	}
}

// possible reports whether the lab's processor has time to spare.
func (n network) possible() bool {
	all := n.sum()
	if n.direction == flow.Both {
		all *= 2
	}
	return all <= mostRate && n.streams <= 8 && (!n.singly || float64(all)/8/float64(n.mtu) <= mostSingly)
}
