package purchase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/linerate/linerate/unit"
)

// alike is the share by which two rates differ without being told apart.
const alike = 0.001

// rank puts the cheapest first, the faster of equals before, numbers them, and
// marks those that another is better than.
func rank(all []Design) {
	slices.SortStableFunc(all, func(a, b Design) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Links, b.Links), cmp.Compare(a.String(), b.String()))
	})
	for i := range all {
		all[i].Number = i + 1
	}
	beaten := make([]bool, len(all))
	for i := range all {
		beaten[i] = slices.ContainsFunc(all, func(d Design) bool { return beats(d, all[i]) })
	}
	for i := range all {
		for j := range all {
			if beaten[i] && !beaten[j] && beats(all[j], all[i]) {
				all[i].WorseThan, all[i].Why = j+1, why(all[j], all[i])
				break
			}
		}
	}
}

// beats: in nothing worse, in something better.
func beats(a, b Design) bool {
	if a.Cost > b.Cost {
		return false
	}
	better := a.Cost < b.Cost
	for _, r := range ratesOf(a, b) {
		if float64(r.a) < float64(r.b)*(1-alike) {
			return false
		}
		better = better || float64(r.a) > float64(r.b)*(1+alike)
	}
	return better
}

// why is in what a is better than b.
func why(a, b Design) string {
	var parts []string
	if a.Cost < b.Cost {
		parts = append(parts, "cheaper")
	}
	for _, r := range ratesOf(a, b) {
		if float64(r.a) > float64(r.b)*(1+alike) {
			parts = append(parts, r.what)
		}
	}
	return strings.Join(parts, ", ")
}

type pairOfRates struct {
	what string
	a, b unit.BitRate
}

func ratesOf(a, b Design) []pairOfRates {
	return []pairOfRates{
		{"faster", a.Rate, b.Rate}, {"faster for one stream", a.single(), b.single()},
		{"more left without a link", a.Left.Link, b.Left.Link},
		{"more left without a card", a.Left.Card, b.Left.Card},
		{"more left without a switch", a.Left.Switch, b.Left.Switch},
	}
}

// single is what one stream is sure to get of the design: one link, where
// striping may be all that uses more.
func (d Design) single() unit.BitRate {
	var best unit.BitRate
	for _, u := range d.Uses {
		if u.Streams != 1 {
			continue
		}
		if u.Low > 0 {
			best = max(best, u.Low)
		} else {
			best = max(best, u.Rate)
		}
	}
	return best
}

// Best are the numbers of the designs that are first in something; zero where
// none qualifies.
type Best struct {
	Cheapest int // that reaches the rate
	ForMoney int // the most rate for the money
	// Survives is the cheapest that carries the rate without any one card and
	// any one link.
	Survives int
}

// Best of the result's designs.
func (r Result) Best() Best {
	var b Best
	var most unit.BitRate
	for _, d := range r.Designs {
		if d.Reaches && b.Cheapest == 0 {
			b.Cheapest = d.Number
		}
		if d.ForMoney > most*(1+alike) {
			most, b.ForMoney = d.ForMoney, d.Number
		}
		if b.Survives == 0 && min(d.Left.Link, d.Left.Card) >= r.Want {
			b.Survives = d.Number
		}
	}
	return b
}
