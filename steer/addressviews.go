package steer

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// The sides that a view looks at.
const (
	nearSide = iota
	farSide
	backSide
)

// view is how one spreader divides the candidate lanes.
type view struct {
	shares
	side  int
	label string
	s     Spreader
}

// views asks every spreader of the request about the candidates.
func (req AddressRequest) views(pool []flow.Lane) []view {
	ahead, behind := make([]flow.Frame, len(pool)), make([]flow.Frame, len(pool))
	for i, lane := range pool {
		f := req.Frame
		f.Src, f.Dst = lane.Src, lane.Dst
		ahead[i] = f
		f.Tuple = f.Reverse()
		f.SrcMAC, f.DstMAC = req.BackSrcMAC, req.BackDstMAC
		behind[i] = f
	}
	var out []view
	sport := req.Frame.Sport != 0
	add := func(side int, label string, s Spreader, frames []flow.Frame, sport bool) {
		if s != nil {
			out = append(out, view{sharesOf(s, frames, sport), side, label, s})
		}
	}
	add(nearSide, "", req.Near, ahead, sport)
	add(farSide, "far side: ", req.Far, ahead, sport)
	add(backSide, "return path: ", req.Back, behind, sport)
	return out
}

// outcome counts the chosen lanes on each link in the first reading, and says
// whether every reading is even. Nothing is certain where links take turns.
func (v view) outcome(chosen []int) (counts []int, even bool) {
	counts = make([]int, v.links)
	if v.turns || len(v.readings) == 0 {
		return counts, len(chosen) == 1 || v.s.Reach().Striped
	}
	even = true
	for _, part := range v.readings {
		even = even && evenly(part, chosen, v.links)
	}
	first := v.readings[0]
	if !v.known {
		first = regrouped(first, chosen)
		chosen = make([]int, len(chosen))
		for i := range chosen {
			chosen[i] = i
		}
	}
	for _, i := range chosen {
		counts[first[i]]++
	}
	return counts, even
}

// evenly reports whether the chosen are spread over n links with counts that
// differ by one at most.
func evenly(part, chosen []int, n int) bool {
	counts := make(map[int]int, n)
	for _, i := range chosen {
		counts[part[i]]++
	}
	low, high := 0, 0
	if len(counts) == n {
		low = len(chosen)
	}
	for _, c := range counts {
		low, high = min(low, c), max(high, c)
	}
	return high-low <= 1
}

// regrouped numbers the groups of the chosen by first appearance.
func regrouped(part, chosen []int) []int {
	number := map[int]int{}
	out := make([]int, len(chosen))
	for k, i := range chosen {
		g, seen := number[part[i]]
		if !seen {
			g = len(number)
			number[part[i]] = g
		}
		out[k] = g
	}
	return out
}

// number writes the links of the chosen where they are known.
func (v view) number(lanes []AddressLane, chosen []int, field func(*AddressLane) *int) {
	if !v.known {
		return
	}
	for k, i := range chosen {
		*field(&lanes[k]) = v.readings[0][i]
	}
}

// group writes the groups of the chosen where one grouping holds.
func (v view) group(lanes []AddressLane, chosen []int) {
	if len(v.readings) == 0 {
		return
	}
	first := regrouped(v.readings[0], chosen)
	for _, part := range v.readings[1:] {
		for k, g := range regrouped(part, chosen) {
			if g != first[k] {
				return
			}
		}
	}
	for k, g := range first {
		lanes[k].Group = g
	}
}

// explain says what is in the way of even use of the links or of knowing them.
func (v view) explain(chosen []int, subnet netip.Prefix) string {
	switch {
	case v.turns && len(v.readings) > 0:
		return v.turnsText(chosen)
	case len(v.readings) == 0:
		return v.why
	case v.links == 1:
		return ""
	}
	if _, even := v.outcome(chosen); even {
		return v.why
	}
	reached := map[int]bool{}
	for _, c := range v.readings[0] {
		reached[c] = true
	}
	reach := v.s.Reach()
	switch {
	case !reach.Addresses:
		return reach.Why
	case len(v.readings) > 1:
		return v.why
	case len(reached) < v.links:
		return fmt.Sprintf("%s: the addresses that may vary, in %s, reach %d of %d links", reach.Why, subnet, len(reached), v.links)
	}
	return "no choice found that is even on every side at once: " + reach.Why
}

// turnsText says what distinct buckets bring.
func (v view) turnsText(chosen []int) string {
	buckets := map[int]bool{}
	for _, i := range chosen {
		buckets[v.readings[0][i]] = true
	}
	text := v.why
	if b, ok := BundleIn(v.s); ok {
		text = b.turns()
	}
	if len(buckets) < len(chosen) {
		return fmt.Sprintf("%s; %d lanes share %d buckets", text, len(chosen), len(buckets))
	}
	return text
}

// turns says how the modes that go by load treat several peer addresses.
func (b Bundle) turns() string {
	if b.Mode == netstate.BalanceALB {
		return "balance-alb sends to each address by a link that load decides, and is sent to over IPv4 by the link whose MAC address it answered that peer's ARP request with: each new peer address gets the next link in turn, unless other hosts are answered in between"
	}
	return b.noPlace() + ": each address has a bucket of its own, so that they can go by different links"
}
