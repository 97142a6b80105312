package predict

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// aggregated is the host and its bond with the aggregators that LACP would
// make of ports of different speeds where nobody observed them (a declared
// host). A port's key holds its speed, and ports of different keys never share
// an aggregator (ad_port_selection_logic, drivers/net/bonding/bond_3ad.c). One
// aggregator carries traffic, the one that ad_select picks
// (ad_agg_selection_test): the most bandwidth, also by default (stable), or
// the most ports and then the most bandwidth (count). Where a port's speed is
// unknown all of them are left together.
func aggregated(h netstate.Host, base netstate.Link) (netstate.Host, netstate.Link) {
	if base.Bond == nil || base.Bond.Mode != netstate.LACP || base.Bond.AD != nil {
		return h, base
	}
	var speeds []unit.BitRate
	count := map[unit.BitRate]int{}
	for _, name := range h.UsablePorts(base.Name) {
		p, _ := h.Link(name)
		if p.Speed == 0 {
			return h, base
		}
		if count[p.Speed] == 0 {
			speeds = append(speeds, p.Speed)
		}
		count[p.Speed]++
	}
	if len(speeds) < 2 {
		return h, base
	}
	best := speeds[0]
	for _, s := range speeds[1:] {
		if better(s, best, count, base.Bond.Options["ad_select"] == "count") {
			best = s
		}
	}
	h = h.Clone()
	base, _ = h.Link(base.Name)
	for i, s := range speeds {
		if s == best {
			base.Bond.AD = &netstate.Aggregator{ID: i + 1, Ports: count[s]}
		}
		for k := range h.Links {
			if p := h.Links[k].Port; p != nil && p.Bond == base.Name && h.Links[k].Speed == s {
				p.AggregatorID = i + 1
			}
		}
	}
	h.SetLink(base)
	return h, base
}

// better compares two aggregators, named by their ports' speed.
func better(a, b unit.BitRate, count map[unit.BitRate]int, byCount bool) bool {
	if byCount && count[a] != count[b] {
		return count[a] > count[b]
	}
	return a*unit.BitRate(count[a]) > b*unit.BitRate(count[b])
}

// standby counts ports that are up and wait for the active one to fail.
func (a attachment) standby() int {
	b := a.base.Bond
	if a.ovs != nil {
		return len(a.host.StandbyMembers(a.base.Name))
	}
	if b == nil || b.Mode != netstate.ActiveBackup {
		return 0
	}
	n := 0
	for _, name := range b.Ports {
		if p, ok := a.host.Link(name); ok && p.Up && p.Port != nil && p.Port.MIIUp && !p.Port.Active {
			n++
		}
	}
	return n
}
