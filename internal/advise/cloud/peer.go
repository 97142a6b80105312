package cloud

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// where settles whether the peer is outside.
func (j *judge) where() {
	o, peer := j.provider.outside, j.query.Peer
	if o == nil {
		return
	}
	if peer == nil {
		j.outside, j.unsure = true, true
		j.whyOutside = "the peer is not declared as an instance of " + j.provider.title + ", so it may be outside"
		return
	}
	other, err := j.table.find(peer.Provider)
	switch {
	case err != nil || other.title != j.provider.title:
		j.outside, j.whyOutside = true, "the peer is outside "+j.provider.title
	case o.Regions && differ(j.query.Region, peer.Region):
		j.outside, j.whyOutside = true, "the peer is in another region"
	}
}

// differ reports two words that are both said and not the same.
func differ(a, b string) bool { return a != "" && b != "" && !strings.EqualFold(a, b) }

// beyond is what goes beyond the provider's network; zero where nothing does,
// or the host's own total is no more.
func (j *judge) beyond(network Cap) Cap {
	o := j.provider.outside
	if !j.outside {
		return Cap{}
	}
	rate, why := o.Rate, fmt.Sprintf("%s towards what is outside", o.Rate)
	low := unit.BitRate(0)
	if j.query.Tier1 && o.Tier1 > 0 {
		rate, why = o.Tier1, fmt.Sprintf("%s with Tier_1 towards what is outside", o.Tier1)
	}
	half := network.Rate * unit.BitRate(o.Share)
	switch {
	case half <= rate:
	case j.size.vcpus == 0:
		low = rate
		fallthrough
	case j.size.vcpus >= o.FromCPUs:
		rate = half
		why = fmt.Sprintf("%g %% of %s towards what is outside", o.Share*100, network.Rate)
	default:
		why += fmt.Sprintf(" (below %d vCPUs)", o.FromCPUs)
	}
	if rate >= most(network) {
		return Cap{}
	}
	c := Cap{Rate: rate, Low: low, Why: why + "; " + j.whyOutside, Sources: j.table.cite(o.Source)}
	if low > 0 {
		c.Open = "the number of vCPUs is not known"
	}
	if j.unsure {
		c.High, c.Open = max(c.High, most(network)), j.whyOutside
	}
	return j.cited(c)
}

// flow is the cap on one flow, which the host's network bounds where the rule
// may not hold.
func (j *judge) flow(network Cap) Cap {
	var found Cap
	for _, r := range j.provider.flows {
		holds, low, open := j.holds(r.When)
		if !holds || r.Rate <= found.Rate {
			continue
		}
		c := Cap{Rate: r.Rate, Why: fmt.Sprintf("one flow gets %s%s", r.Rate, r.When.words()), Sources: j.table.cite(r.Source), Open: open}
		if low {
			c.Low = found.Rate
		}
		if r.When == outside && j.unsure {
			c.High = max(r.Rate, most(network))
		}
		found = c
	}
	if found.Rate == 0 {
		return found
	}
	return j.cited(found)
}

// holds tells whether a condition does, and with low whether it may not, for
// the reason in open.
func (j *judge) holds(when condition) (yes, low bool, open string) {
	q, peer := j.query, j.query.Peer
	switch when {
	case always:
		return true, false, ""
	case outside:
		return j.outside, false, j.whyOutside
	case cluster:
		return !j.outside && inCluster(q.Cloud, peer), false, ""
	case enaExpress:
		if j.outside || peer == nil || !q.ENAExpress || !peer.ENAExpress {
			return false, false, ""
		}
		switch {
		case q.UDP:
			return true, true, "whether ENA Express takes UDP as well is a setting of its own that is not said"
		case differ(q.Zone, peer.Zone):
			return true, true, "ENA Express between availability zones is newer, and not in every region"
		}
		return true, false, ""
	}
	return false, false, ""
}

// inCluster reports two hosts that both say they are in a cluster placement
// group; such a group never spans zones.
func inCluster(a netstate.Cloud, b *netstate.Cloud) bool {
	return a.Placement == "cluster" && b != nil && b.Placement == "cluster" && !differ(a.Zone, b.Zone) && !differ(a.Region, b.Region)
}

// words say a condition behind a rate.
func (c condition) words() string {
	switch c {
	case cluster:
		return " inside a cluster placement group"
	case enaExpress:
		return " with ENA Express at both ends"
	case outside:
		return " towards what is outside"
	}
	return ""
}
