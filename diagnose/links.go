package diagnose

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
)

const (
	fromCounters = "RTM_GETLINK IFLA_STATS64, over the common window"
	fromBond     = "IFLA_BOND_XMIT_HASH_POLICY"
	fromTCP      = "TCP_INFO of every stream, over the common window"
	fromSteer    = "transmit hash of each stream's addresses and ports"
)

// lineRate: the links carry what they can.
func (v *wayView) lineRate() (record.Finding, bool) {
	if v.share() < atCeiling {
		return record.Finding{}, false
	}
	n := len(v.egress)
	what := fmt.Sprintf("All %d links run at their line rate.", n)
	if n == 1 {
		what = "The one link runs at its line rate."
	}
	return record.Finding{
		Cause: record.LineRate, Confidence: 0.95, Summary: what + " Nothing is left to gain but larger frames or faster links.",
		Evidence: v.loads(), Remedy: "none needed: only more or faster links carry more",
	}, true
}

// fullLink: one side has a full link while others idle. A policy that could
// not have done better is single-link, chance is hash-imbalance.
func (v *wayView) fullLink() (record.Finding, bool) {
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		full, idle := split(side)
		if len(side) < 2 || len(full) == 0 || len(full) == len(side) {
			continue
		}
		f := v.imbalance(side, full, idle)
		f.Evidence = append(v.loads(), f.Evidence...)
		return f, true
	}
	return record.Finding{}, false
}

func split(side []linkLoad) (full, idle []linkLoad) {
	for _, l := range side {
		switch {
		case l.share() >= fullLink:
			full = append(full, l)
		case l.share() <= idleLink:
			idle = append(idle, l)
		}
	}
	return full, idle
}

func (v *wayView) imbalance(side, full, idle []linkLoad) record.Finding {
	host := side[0].host
	sending := host == v.from
	reach, policy, bond := v.reach(sending)
	f := record.Finding{Cause: record.HashImbalance, Confidence: 0.9}
	if policy != "" {
		source := fromBond
		if !sending {
			source = "switch_hash of the path, as declared"
		}
		f.Evidence = append(f.Evidence, record.Evidence{What: "transmit hash policy of " + bond, Value: policy, Source: source})
	}
	f.Evidence = append(f.Evidence, v.placements()...)
	who := fmt.Sprintf("%s to %s", v.from, v.to)
	where := fmt.Sprintf("%s of %s", names(full), host)
	switch {
	case len(v.lanes) == 1:
		f.Cause, f.Confidence = record.SingleLink, 0.97
		f.Summary = fmt.Sprintf("One stream from %s uses one link (%s): a hash never splits a flow.", who, where)
		f.Remedy = fmt.Sprintf("use at least %d streams with ports chosen for different links (`linerate steer pick`)", len(side))
	case policy != "" && !reach.Ports && len(full) == 1:
		f.Cause, f.Confidence = record.SingleLink, 0.97
		f.Summary = fmt.Sprintf("All %d streams from %s use %s, because %s; %s carried %s of what it could.",
			len(v.lanes), who, where, strings.TrimSuffix(reach.Why, "."), names(idle), percent(mean(idle)))
		f.Remedy = fmt.Sprintf("set the transmit hash policy of %s to layer3+4 and choose source ports (`linerate tune`)", bond)
	default:
		f.Summary = fmt.Sprintf("The %d streams from %s share %s while %s carried %s of what it could: the ports fell that way.",
			len(v.lanes), who, where, names(rest(side, full)), percent(mean(rest(side, full))))
		f.Remedy = "choose source ports for different links (`linerate steer pick`), or use more streams"
	}
	return f
}

// reach is what the policy of the side could have used.
func (v *wayView) reach(sending bool) (steer.Reach, string, string) {
	if !sending {
		for _, p := range v.fabric.Paths {
			if p.From != v.from && p.To != v.from || p.From != v.to && p.To != v.to {
				continue
			}
			var policy netstate.HashPolicy
			if policy.UnmarshalText([]byte(p.SwitchHash)) == nil {
				return steer.Declared(policy, len(v.ingress)).Reach(), policy.String(), "the switch"
			}
		}
		return steer.Reach{Ports: true}, "", "the switch"
	}
	h := v.fabric.Hosts[v.from]
	if len(v.lanes) == 0 {
		return steer.Reach{}, "", ""
	}
	link, ok := h.LinkWith(v.lanes[0].Src)
	if !ok {
		return steer.Reach{}, "", ""
	}
	_, _, bond := h.Below(link.Name)
	if bond == nil {
		return steer.Reach{}, "", ""
	}
	b, err := steer.BundleOf(h, bond.Name)
	if err != nil {
		return steer.Reach{}, "", ""
	}
	return b.Reach(), bond.Bond.HashPolicy.String(), bond.Name + " on " + v.from
}

// placements says where steer puts the streams.
func (v *wayView) placements() []record.Evidence {
	count := make(map[string]int)
	var order []string
	for _, l := range v.lanes {
		if l.EgressLink == "" {
			continue
		}
		if count[l.EgressLink] == 0 {
			order = append(order, l.EgressLink)
		}
		count[l.EgressLink]++
	}
	var parts []string
	for _, link := range order {
		parts = append(parts, fmt.Sprintf("%d on %s", count[link], link))
	}
	if len(parts) == 0 {
		return nil
	}
	return []record.Evidence{{What: fmt.Sprintf("where the %d streams of %s hash to", len(v.lanes), v.from), Value: strings.Join(parts, ", "), Source: fromSteer}}
}

// loads is every link's share as evidence.
func (v *wayView) loads() []record.Evidence {
	var out []record.Evidence
	for _, side := range []struct {
		links []linkLoad
		verb  string
	}{{v.egress, "sent"}, {v.ingress, "received"}} {
		for _, l := range side.links {
			value := fmt.Sprintf("%v of payload", l.payload)
			if l.ceiling > 0 {
				value += fmt.Sprintf(", %s of %v", percent(l.share()), l.ceiling)
			}
			out = append(out, record.Evidence{What: fmt.Sprintf("%s on %s %s", l.link, l.host, side.verb), Value: value, Source: fromCounters})
		}
	}
	return out
}

// lacpDown: ports outside the active aggregator carry nothing although they
// are there.
func (v *wayView) lacpDown() (record.Finding, bool) {
	for _, host := range []string{v.from, v.to} {
		h := v.fabric.Hosts[host]
		for _, l := range h.Links {
			if l.Bond == nil || l.Bond.Mode != netstate.LACP || !v.uses(l) {
				continue
			}
			if usable := h.UsablePorts(l.Name); len(usable) < len(l.Bond.Ports) {
				return record.Finding{
					Cause: record.LACPDown, Confidence: 0.95,
					Summary: fmt.Sprintf("%s of %s has %d of its %d ports in the active aggregator.", l.Name, host, len(usable), len(l.Bond.Ports)),
					Evidence: append([]record.Evidence{{What: "ports in use of " + l.Name + " on " + host, Value: strings.Join(usable, ", "),
						Source: "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID against IFLA_BOND_AD_INFO_AGGREGATOR"}}, v.loads()...),
					Remedy: "check the switch's LACP on the other ports: same channel group, same speed, LACP on",
				}, true
			}
		}
	}
	return record.Finding{}, false
}

// uses reports whether the bond's ports are among the links of this way.
func (v *wayView) uses(bond netstate.Link) bool {
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		for _, l := range side {
			for _, p := range bond.Bond.Ports {
				if l.link == p && len(bond.Bond.Ports) > 1 {
					return true
				}
			}
		}
	}
	return false
}

func names(links []linkLoad) string {
	var s []string
	for _, l := range links {
		s = append(s, l.link)
	}
	return strings.Join(s, " and ")
}

func rest(side, without []linkLoad) []linkLoad {
	var out []linkLoad
	for _, l := range side {
		keep := true
		for _, w := range without {
			keep = keep && w != l
		}
		if keep {
			out = append(out, l)
		}
	}
	return out
}

func mean(links []linkLoad) float64 {
	if len(links) == 0 {
		return 0
	}
	sum := 0.0
	for _, l := range links {
		sum += l.share()
	}
	return sum / float64(len(links))
}

// withPolicy is the fabric with every hashing bond of the pair at layer3+4.
func withPolicy(f predict.Fabric, hosts ...string) predict.Fabric {
	out := predict.Fabric{Hosts: make(map[string]netstate.Host, len(f.Hosts)), Paths: f.Paths}
	for name, h := range f.Hosts {
		out.Hosts[name] = h
	}
	for _, name := range hosts {
		h := out.Hosts[name].Clone()
		for i := range h.Links {
			if b := h.Links[i].Bond; b != nil && b.Mode.Hashes() {
				b.HashPolicy = netstate.Layer34
			}
		}
		out.Hosts[name] = h
	}
	return out
}

// linkCount is the most links any bond of the pair spreads over.
func linkCount(f predict.Fabric, hosts ...string) int {
	most := 1
	for _, name := range hosts {
		for _, l := range f.Hosts[name].Links {
			if l.Bond != nil {
				most = max(most, len(f.Hosts[name].UsablePorts(l.Name)))
			}
		}
	}
	return most
}
