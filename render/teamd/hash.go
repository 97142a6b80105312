package teamd

import (
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer/team"
)

// hash is the policy that reads what tx_hash reads, or the nearest, for runners that
// hash. Which port a flow takes is another matter, and noted: the two hashes are
// computed otherwise.
func (m *mover) hash() {
	var runner team.Runner
	if name := m.get("runner.name"); name == nil || runner.UnmarshalText([]byte(name.Text)) != nil || !runner.Hashes() {
		return
	}
	list := m.team.Config.Get("runner").Get("tx_hash")
	hash, at := team.DefaultHash, m.get("runner.name")
	if list != nil {
		hash, at = 0, list
		m.read[list] = true
		for _, item := range list.Items {
			var word team.Hash
			if item.Kind != yamldoc.ScalarNode || word.UnmarshalText([]byte(item.Text)) != nil {
				m.miss(m.team.File, item, "runner.tx_hash", "teamd has no such word and skips it")
				continue
			}
			m.read[item] = true
			hash |= word
		}
	}
	policy, differs := nearest(hash)
	m.Option(m.team.Name, hashPolicy, policy.String())
	why := "the bond hashes " + policy.String()
	if list == nil {
		why = "without tx_hash teamd hashes " + hash.String() + "; " + why
	}
	if len(differs) > 0 {
		why += ", the nearest: " + strings.Join(differs, "; ")
	}
	m.miss(m.team.File, at, "runner.tx_hash", why+". A flow may take another port than it does now: the hash is computed otherwise")
}

// nearest is the policy that spreads by what a tx_hash reads, and what it reads
// otherwise. Policies are those of bond_xmit_hash (drivers/net/bonding/bond_main.c).
func nearest(hash team.Hash) (policy netstate.HashPolicy, differs []string) {
	note := func(when bool, what string) {
		if when {
			differs = append(differs, what)
		}
	}
	both := func(set ...team.Hash) bool {
		for _, one := range set {
			if !hash.Reads(one) {
				return false
			}
		}
		return true
	}
	switch {
	case hash.Reads(team.TCP | team.UDP | team.SCTP):
		policy = netstate.Layer34
		note(hash.Reads(team.Eth), "it does not read the MAC addresses")
		note(!both(team.IPv4, team.IPv6), "it reads the addresses of IPv4 and IPv6 too")
		note(!both(team.TCP, team.UDP, team.SCTP), "it reads the ports of every protocol")
		note(true, "over IPv6 it reads the source port, which teamd leaves out")
	case hash.Reads(team.IPv4 | team.IPv6):
		policy = netstate.Layer23
		note(!hash.Reads(team.Eth), "it reads the MAC addresses too")
		note(!both(team.IPv4, team.IPv6), "it reads the addresses of IPv4 and of IPv6")
	default:
		policy = netstate.Layer2
		note(!hash.Reads(team.Eth), "it reads the MAC addresses")
	}
	note(hash.Reads(team.VLAN), "it does not read the VLAN tag")
	return policy, differs
}
