package trial

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/chance"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/switchhash"
	"github.com/linerate/linerate/steer/system"
)

// striped is what deals flows out over one side's links: the sender's bond, or
// for what arrives the receiver's bond or the switch before it.
type striped struct {
	reach    steer.Reach
	evidence []record.Evidence
	mend     record.Remedy  // what to change so that ports decide; nil unknown
	mended   string         // the same as the beginning of "...: 2 Gbit/s instead of 1"
	hidden   bool           // ports decide that nobody can choose: a tunnel's own
	weights  map[string]int // by link, of next hops that are like but not in weight; nil where none are
	even     record.Way     // what gives them one weight
}

// heavier reports next hops that are preferred by weight to each of the others.
func (d striped) heavier(full, idle []linkLoad) bool {
	least, most := math.MaxInt, 0
	for _, l := range full {
		least = min(least, d.weights[l.link])
	}
	for _, l := range idle {
		most = max(most, d.weights[l.link])
	}
	return most > 0 && least > most
}

func (v *wayView) striped(sending bool) striped {
	if len(v.lanes) == 0 {
		return striped{}
	}
	host, at := v.to, v.lanes[0].Dst
	if sending {
		host, at = v.from, v.lanes[0].Src
	}
	h := v.fabric.Hosts[host]
	if d, ok := throughTunnel(h, at, sending); ok {
		return d
	}
	bond := bondAt(h, at)
	if sending && bond == nil {
		if d, ok := v.multipath(h); ok {
			return d
		}
	}
	if sending {
		return sends(v.traffic(), h, bond)
	}
	if d, ok := receives(h, bond); ok {
		return d
	}
	return v.switched()
}

func bondAt(h netstate.Host, at netip.Addr) *netstate.Link {
	link, ok := h.LinkWith(at)
	if !ok {
		return nil
	}
	_, _, bond := h.Below(link.Name)
	return bond
}

func sends(t remedy.Traffic, h netstate.Host, bond *netstate.Link) striped {
	if bond == nil {
		return striped{}
	}
	name := bond.Name + " on " + h.Name
	if own, ok := system.OnHost(h, bond.Name); ok {
		return striped{
			reach: own.Reach(), mend: remedy.InWords(steer.RemedyFor(own)), mended: "With flows on every link",
			evidence: []record.Evidence{{What: "mode and hash of " + name, Value: system.Policy(own), Source: "the host's declared network"}},
		}
	}
	b, err := steer.BundleOf(h, bond.Name)
	if err != nil {
		return striped{}
	}
	if !bond.Bond.Mode.Hashes() {
		return ofMode(name, bond.Bond.Mode, b.Reach())
	}
	return striped{
		reach:    b.Reach(),
		evidence: []record.Evidence{{What: "transmit hash policy of " + name, Value: bond.Bond.HashPolicy.String(), Source: diagnose.FromBond}},
		mend:     record.Remedy{t.ChosenToo(remedy.HashPorts(h.Name, bond.Name))},
		mended:   "With layer3+4",
	}
}

// receives is the bond where its mode, not the switch, says which port takes
// what arrives (bond_alb_xmit and rlb_choose_channel: tlb has one receiving
// port, alb one a peer address).
func receives(h netstate.Host, bond *netstate.Link) (striped, bool) {
	if bond == nil {
		return striped{}, false
	}
	name := bond.Name + " on " + h.Name
	if own, ok := system.OnHost(h, bond.Name); ok {
		arrival, why := system.Arrives(own)
		return striped{reach: steer.Reach{Addresses: arrival == system.EachAddress, Why: why}, mend: remedy.InWords(system.ArrivalRemedy(own)), mended: "With flows on every link"}, arrival != system.FarSide
	}
	switch bond.Bond.Mode {
	case netstate.BalanceTLB:
		return ofMode(name, bond.Bond.Mode, steer.Reach{Why: "balance-tlb receives on its active link only"}), true
	case netstate.BalanceALB:
		return ofMode(name, bond.Bond.Mode, steer.Reach{Addresses: true, Why: "balance-alb receives from each peer address on one link"}), true
	}
	return striped{}, false
}

// multipath is the sender's route with several legs (fib_multipath_hash of
// net/ipv4/route.c: policy 0 takes addresses only, 1 ports too).
func (v *wayView) multipath(h netstate.Host) (striped, bool) {
	to := v.lanes[0].Dst
	for _, r := range h.Routes {
		if len(r.Hops) < 2 || !r.Dst.IsValid() || !r.Dst.Contains(to) {
			continue
		}
		key := "net.ipv4.fib_multipath_hash_policy"
		if to.Is6() {
			key = "net.ipv6.fib_multipath_hash_policy"
		}
		policy := h.SysctlInts(key)
		d := striped{
			reach:  steer.Reach{Addresses: true, Ports: len(policy) == 1 && policy[0] == 1, Why: "the route's hash takes addresses only"},
			mend:   record.Do(record.Sysctl(h.Name, key, "1")),
			mended: "With a hash that takes ports",
		}
		if d.weights = remedy.UnlikeWeights(h, r.Hops); d.weights != nil {
			d.even = remedy.EvenHops(h, r)
			d.mend = record.Remedy{d.mend[0].Joined(d.even)}
		}
		if len(policy) == 1 {
			d.evidence = []record.Evidence{{What: "hash policy of the route to " + to.String() + " on " + h.Name, Value: fmt.Sprint(policy[0]), Source: key}}
		}
		return d, true
	}
	return striped{}, false
}

func ofMode(name string, mode netstate.BondMode, reach steer.Reach) striped {
	return striped{
		reach:    reach,
		evidence: []record.Evidence{{What: "mode of " + name, Value: mode.String(), Source: "IFLA_BOND_MODE"}},
		mend:     remedy.Aggregated(name),
		mended:   "With 802.3ad and layer3+4",
	}
}

// switched is the switch's hash as the path declares it.
func (v *wayView) switched() striped {
	for _, p := range v.fabric.Paths {
		there, back := p.From == v.from && p.To == v.to, p.From == v.to && p.To == v.from
		word := p.HashTowards(v.to)
		on, policy, declared := switchhash.Declared(word, len(v.ingress))
		if !there && !(back && !p.Directed) {
			continue
		}
		reach := steer.Reach{}
		switch fields := topology.FieldsOf(word); {
		case declared:
			reach = on.Reach()
		case fields == topology.ByMAC:
			reach.Why = "the switch: " + word + " puts all flows between two hosts on one link"
		case fields == topology.ByAddress:
			reach = steer.Reach{Addresses: true, Why: "the switch: " + word + " puts all flows between two addresses on one link"}
		default:
			continue
		}
		source := "switch_hash of the path, as declared"
		if p.SwitchHash == "" {
			source = "switches of the fabric file, as declared"
		}
		if reach.Ports && v.spreadBy(policy) {
			reach = steer.Reach{Addresses: true, Why: fmt.Sprintf("the switch does not hash as declared: %s spreads them over %s's links, and would over %s's", policy, v.from, v.to)}
		}
		return striped{
			reach:    reach,
			evidence: []record.Evidence{{What: "transmit hash policy of the switch", Value: word, Source: source}},
			mend:     record.Remedy{v.traffic().ChosenToo(remedy.SwitchHash(v.fabric.Paths, v.to))},
			mended:   "With layer3+4 on the switch",
		}
	}
	if v.notByPorts() {
		return striped{
			reach:  steer.Reach{Addresses: true, Why: fmt.Sprintf("the switch takes no notice of ports: %d streams with ports of their own would hardly ever fall that way", len(v.lanes))},
			mend:   record.Do(remedy.SwitchHash(v.fabric.Paths, v.to)),
			mended: "With layer3+4 on the switch",
		}
	}
	return striped{reach: steer.Reach{Ports: true}}
}

// hardlyEver is the chance below which streams have not fallen so by their
// ports; asLikely where the sender's own hash over ports has spread them: that
// the switch takes addresses only, as many do, is likelier then.
const hardlyEver, asLikely = 0.02, 0.6

// notByPorts reports that so many streams arrive by so few of the links that
// a hash over their ports can hardly have put them there.
func (v *wayView) notByPorts() bool {
	full, idle := split(v.ingress)
	if len(full) == 0 {
		full, idle = v.almostFull(v.ingress)
	}
	ports := make(map[[2]uint16]bool)
	for _, l := range v.lanes {
		ports[[2]uint16{l.Sport, l.Dport}] = true
	}
	if len(full) == 0 || least(idle) > idleLink {
		return false
	}
	most := hardlyEver
	if v.spreadBy(netstate.Layer34) {
		most = asLikely
	}
	return chance.Within(len(ports), len(full), len(v.ingress)) < most
}

// spreadBy reports that the sender's bond spreads these very streams over its
// links by the policy, as many links as the receiver has: a switch with that
// policy would spread them too, since Linux's hash is the same at both.
func (v *wayView) spreadBy(policy netstate.HashPolicy) bool {
	bond := bondAt(v.fabric.Hosts[v.from], v.lanes[0].Src)
	if bond == nil || bond.Bond == nil || !bond.Bond.Mode.Hashes() || bond.Bond.HashPolicy != policy || len(v.egress) != len(v.ingress) {
		return false
	}
	used := make(map[string]bool)
	for _, l := range v.lanes {
		used[l.EgressLink] = true
	}
	return len(used) > 1 && !used[""]
}

// pairs is how many different pairs of addresses the streams have.
func (v *wayView) pairs() int {
	seen := make(map[flow.Lane]bool)
	for _, l := range v.lanes {
		seen[l.Lane] = true
	}
	return len(seen)
}
