package predict

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/affine"
	"github.com/linerate/linerate/steer/switchhash"
)

// spread is what decides which of an attachment's ports a flow uses.
type spread uint8

const (
	// onePort: every flow of the pair shares one port.
	onePort spread = iota
	// byAddress: flows of one pair of addresses share one port.
	byAddress
	// byPort: source ports decide, and can be chosen.
	byPort
	// byChance: each flow lands somewhere, and nobody can choose.
	byChance
	// byLoad: the driver balances flows by load.
	byLoad
	// byPacket: one flow alone uses every port.
	byPacket
	// notKnown: a switch decides and nobody said how.
	notKnown
)

// use is how flows spread over an attachment, and why in plain words.
type use struct {
	spread spread
	why    string
	// hash places frames where the spread is byAddress, and tells the port of a
	// switch's onePort; nil otherwise.
	hash steer.Grouper
	// learned places lanes where a probe learned the switch's hash, and it is
	// byAddress.
	learned *affine.Rule
	// policy is the transmit policy behind byPort.
	policy netstate.HashPolicy
	// Of byAddress: cards, each address of the host's own has one port; secret,
	// nobody can tell which.
	cards, secret bool
	// bySwitch: a switch chooses the port, by a hash that no probe learned.
	bySwitch bool
	// mend says what would use more ports of a bond whose host is not Linux; "" else.
	mend string
	// outer: the ports are a tunnel's, which decide and cannot be chosen.
	outer bool
	// byVLAN: lanes of one VLAN share a port, as Open vSwitch's balance-slb has it, which
	// moves those of several apart by their load.
	byVLAN bool
}

// transmitUse is how the host's own bond spreads what it sends.
func (a attachment) transmitUse() use {
	if a.hops != nil {
		return a.hopUse()
	}
	if a.own != nil {
		return a.ownTransmit()
	}
	if a.bundle == nil && a.ovs == nil || len(a.ports) == 1 {
		return use{spread: onePort}
	}
	if a.ovs != nil {
		return a.ovsUse()
	}
	r := a.bundle.Reach()
	u := use{why: a.base.Name + ": " + r.Why, policy: a.bundle.Policy}
	switch {
	case r.Striped:
		u.spread = byPacket
	case r.Ports && r.Chosen && a.computed:
		u.spread = byPort
	case r.Ports && adaptive(*a.bundle):
		u.spread = byLoad
	case r.Ports:
		u.spread = byChance
	case r.Addresses:
		u.spread = byAddress
		if r.Chosen && a.computed {
			u.hash = a.bundle
		}
	}
	return u
}

// adaptive modes move flows between links by load.
func adaptive(b steer.Bundle) bool {
	return (b.Mode == netstate.BalanceTLB || b.Mode == netstate.BalanceALB) && !b.TLBStatic
}

// receiveUse is how what arrives is spread over the host's ports. Over the next
// hops that lead to an address of lo the network spreads it. Bonding
// decides it only in modes tlb (the active port) and alb (each peer address
// learns one port's MAC from ARP, so that IPv6 has the active port alone); else the
// switch does, or the sender on a
// direct cable, and the path says how.
func (a attachment) receiveUse(path fabric.Path, ipv6 bool) use {
	switch {
	case len(a.ports) == 1:
		return use{spread: onePort}
	case a.ovs != nil:
		return a.ovsReceives(path, ipv6)
	case a.bundle == nil: // next hops that lead to an address of lo
		return a.switchUse(path, ipv6)
	case a.own != nil:
		return a.ownReceive(path, ipv6)
	}
	switch a.bundle.Mode {
	case netstate.ActiveBackup:
		return use{why: a.base.Name + ": active-backup receives on one link at a time"}
	case netstate.Broadcast:
		return use{why: a.base.Name + ": broadcast brings every link a copy: the rate of one link"}
	case netstate.BalanceTLB:
		return use{why: a.base.Name + ": balance-tlb receives on its active link only"}
	case netstate.BalanceALB:
		if ipv6 { // rlb_arp_xmit answers ARP alone (drivers/net/bonding/bond_alb.c)
			return use{why: a.base.Name + ": balance-alb receives IPv6 on its active link only"}
		}
		return use{spread: byAddress, why: a.base.Name + ": balance-alb receives from each peer address on one link"}
	}
	return a.switchUse(path, ipv6)
}

// switchUse is how a switch spreads what it sends over the host's ports: as a
// probe learned it, else as the path declares it.
func (a attachment) switchUse(path fabric.Path, ipv6 bool) use {
	lane := flow.Lane{Src: netip.IPv4Unspecified()}
	if ipv6 {
		lane.Src = netip.IPv6Unspecified()
	}
	if rule, ok := affine.Find(path.LearnedTowards(a.host.Name), a.host.Name, flow.LearnedSport, a.portNames(), lane); ok {
		return learnedUse(rule)
	}
	hash := path.HashTowards(a.host.Name)
	b, policy, declared := switchhash.Declared(hash, len(a.ports))
	if !declared {
		if topology.FieldsOf(hash) != topology.FieldsUnknown {
			return wordUse(hash)
		}
		return use{spread: notKnown, bySwitch: true, why: "how the far side spreads flows over these links is unknown (switch_hash)"}
	}
	r := b.Reach()
	u := use{why: "the switch: " + r.Why, policy: policy, bySwitch: true}
	switch {
	case r.Ports && r.Chosen:
		u.spread = byPort
	case r.Ports:
		u.spread = byChance
	case r.Addresses:
		u.spread, u.hash = byAddress, b
	default:
		u.hash = b // one port for the pair, and by its hash not every pair's
	}
	return u
}

// learnedUse is how a switch spreads flows whose hash a probe learned.
func learnedUse(rule affine.Rule) use {
	u := use{spread: byPort, why: rule.Reach().Why}
	switch reached := rule.Reached(); {
	case reached == 1:
		u.spread, u.learned = byAddress, &rule
	case reached < len(rule.Links()):
		u.spread, u.why = notKnown, fmt.Sprintf("the switch's hash, as a probe learned it, lets source ports reach %d of %d links", reached, len(rule.Links()))
	}
	return u
}

// learnedPorts places lanes by a learned hash that reads no source port.
func (a attachment) learnedPorts(rule affine.Rule, frames []flow.Frame) ([]int, error) {
	names := a.portNames()
	ports := make([]int, len(frames))
	for i, f := range frames {
		f.Sport, f.Dport = rule.Ports.First, rule.Flows[0].Port
		p := rule.Place(f)
		if !p.Known {
			return nil, errHash
		}
		ports[i] = slices.Index(names, p.Link)
	}
	return ports, nil
}

func (a attachment) portNames() []string {
	names := make([]string, len(a.ports))
	for i, p := range a.ports {
		names[i] = p.Name
	}
	return names
}

// errHash says that which lanes share a port depends on what is unknown.
var errHash = errors.New("placement unknown")

// lanePorts places lanes on n ports where addresses decide: by the exact hash
// where it is known, by which lanes share a port where only that is, and
// evenly (with errHash) where neither is. Modes that balance addresses by load
// have no hash: each new address takes the next port. So has a rule that is not
// published, which may put them all on one.
func (u use) lanePorts(frames []flow.Frame, peers []int, n int) ([]int, error) {
	ports := make([]int, len(frames))
	if u.hash == nil {
		for i := range frames {
			ports[i] = peers[i] % n
		}
		if u.secret {
			return ports, errHash
		}
		return ports, nil
	}
	if groups, known, _ := u.hash.Groups(frames); known {
		copy(ports, groups)
		for i, f := range frames {
			if p := u.hash.Place(f); p.Known && p.Index >= 0 {
				ports[i] = p.Index
			} else {
				return groups, nil
			}
		}
		return ports, nil
	}
	for i := range ports {
		ports[i] = i % n
	}
	return ports, errHash
}

// samePartition reports whether two sides that hash ports put every flow on
// the same index: layer3+4 on both, with one power of two of ports (the low
// bits then hold no MAC address and are the same in both directions).
func samePartition(a, b use, na, nb int) bool {
	decided := a.spread == byPort && b.spread == byPort || a.outer && b.outer
	return decided && na == nb && na&(na-1) == 0 &&
		a.policy == netstate.Layer34 && b.policy == netstate.Layer34
}
