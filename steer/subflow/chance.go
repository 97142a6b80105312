package subflow

import (
	"fmt"
	"math"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// Chance is a side whose links the subflows' source ports decide, which the
// kernel draws at random.
type Chance struct {
	// Where is "" for the client's own links, else the words for the side.
	Where string
	Links int
	// Expected is how many of the links carry a subflow on average, All the
	// share of connections that use every link, 0 to 1.
	Expected, All float64
}

// byChance reports that flows of one pair of addresses can take different
// links, so that their ports, or what the kernel draws instead, decide.
func byChance(s steer.Spreader) bool {
	reach := s.Reach()
	return len(s.Links()) > 1 && reach.Ports && !reach.Striped
}

// weigh adds the sides that chance decides, and says so.
func (s *Subflows) weigh(req SubflowRequest) (why string) {
	var reasons []string
	for _, v := range req.sides() {
		if !byChance(v.s) {
			continue
		}
		c := chanceOf(v.s, len(s.Flows))
		c.Where = strings.TrimSuffix(v.label, ": ")
		s.Chances = append(s.Chances, c)
		s.Even = false
		reasons = append(reasons, fmt.Sprintf("%s%s; the kernel draws the source ports of subflows: %d of them use %.1f of %d links on average, and all of them in %s of connections",
			v.label, v.s.Reach().Why, len(s.Flows), c.Expected, c.Links, steer.Percent(c.All)))
	}
	return strings.Join(reasons, "; ")
}

// chanceOf is what n flows thrown at random on a spreader's links do.
func chanceOf(s steer.Spreader, n int) Chance {
	links := len(s.Links())
	return Chance{
		Links:    links,
		Expected: float64(links) * (1 - math.Pow(1-1/float64(links), float64(n))),
		All:      steer.Coverage(n, links),
	}
}

// remedy says what would let the subflows of a plan use all links evenly.
func (req SubflowRequest) remedy(s Subflows) string {
	for _, v := range req.sides() {
		if !byChance(v.s) {
			continue
		}
		text := v.label + "a hash of MAC and IP addresses (layer2+3) would let addresses decide"
		if b, ok := steer.BundleIn(v.s); ok && b.Hashes() {
			text = v.label + "set xmit_hash_policy layer2+3, under which addresses decide; it can be set while the bond is up"
			if b.Policy == netstate.Layer34 && v.at == steer.AtNear {
				text += ". For several connections instead of one, steer pick chooses ports under layer3+4"
			}
		}
		if len(s.Flows) < MostSubflows {
			text += fmt.Sprintf("; more subflows help too (--subflows %d)", MostSubflows)
		}
		return text
	}
	if side, ok := req.oneLinked(); ok {
		return side.mend()
	}
	if n := len(req.Near.Links()); n > MostSubflows && len(s.Flows) == MostSubflows {
		return fmt.Sprintf("none for one connection: %d subflows are the most that Linux's path manager makes. Use several connections (linerate steer pick), or a bond of at most %d links", MostSubflows, MostSubflows)
	}
	if len(req.Near.Links()) > len(s.Flows) && len(s.Flows) < MostSubflows {
		return fmt.Sprintf("ask for one subflow a link: --subflows %d", min(len(req.Near.Links()), MostSubflows))
	}
	if b, ok := steer.BundleIn(req.Near); ok && (req.Frame.SrcMAC.IsZero() || req.Frame.DstMAC.IsZero()) && b.Hashes() {
		return "give both MAC addresses (--smac, --dmac) and the kernel's release (--kernel)"
	}
	if len(s.Flows) < MostSubflows {
		return fmt.Sprintf("more subflows even out the shares (--subflows %d); or give a larger --subnet", MostSubflows)
	}
	return "give a larger --subnet"
}

// oneLinked is the first of the other sides on which neither ports nor
// addresses move a flow to another link.
func (req SubflowRequest) oneLinked() (subflowSide, bool) {
	for _, v := range req.sides() {
		if r := v.s.Reach(); v.at != steer.AtNear && len(v.s.Links()) > 1 && !r.Striped && !r.Ports && !r.Addresses {
			return v, true
		}
	}
	return subflowSide{}, false
}

// mend says what would let addresses decide on one of the other sides.
func (v subflowSide) mend() string {
	if v.at == steer.AtBack {
		return "on the server: " + steer.RemedyFor(v.s)
	}
	return v.label + "have the switch hash MAC and IP addresses (layer2+3)"
}
