package topology

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// Unknown is the word for a hash that nobody knows.
const Unknown = "unknown"

// Fields is what a hash reads of a frame, and so which flows share a link.
type Fields uint8

const (
	// FieldsUnknown is a hash that nobody described.
	FieldsUnknown Fields = iota
	// ByMAC: all flows of two hosts share a link.
	ByMAC
	// ByAddress: all flows of two addresses do.
	ByAddress
	// ByPort: each flow has a link of its own.
	ByPort
	// OneOfAll: all share the first.
	OneOfAll
)

// LastHeard is the word for a switch that has no channel where the other end spreads by
// itself: it sends to the port by which it hears the addresses behind, the first.
const LastHeard = "last-heard"

// words are those of switches beside the kernel's policies, as their makers print them.
var words = [...]struct {
	word   string
	fields Fields
}{
	{"src-mac", ByMAC}, {"dst-mac", ByMAC}, {"src-dst-mac", ByMAC},
	{"src-ip", ByAddress}, {"dst-ip", ByAddress}, {"src-dst-ip", ByAddress},
	{"src-dst-ip-port", ByPort},
	// Open vSwitch's, of a host whose guests stand behind it: each guest's MAC address has
	// one member (bond_hash_src of ofproto/bond.c), or each flow.
	{"balance-slb", ByMAC}, {"balance-tcp", ByPort},
	// Bonds of Linux above which a bridge has guests: by the destination's address
	// (bond_xmit_alb_slave_get of drivers/net/bonding/bond_alb.c), or by
	// xmit_hash_policy, which is layer2 unless it is set (bond_xmit_tlb_slave_get), each
	// to the port that has the least to do. What the switch sends goes to the active
	// port: guests' ARP leaves by no other (rlb_arp_xmit).
	{"balance-alb", ByAddress}, {"balance-tlb", ByMAC}, {LastHeard, OneOfAll},
}

// oneSided reports a hash of a bond that spreads what it sends over ports of a switch
// that has no channel there.
func oneSided(word string) bool { return word == "balance-alb" || word == "balance-tlb" }

// Words are what a file may write for a switch's hash beside the kernel's policies: what
// makers print, Catalysts' whose function is known, and Unknown.
func Words() []string {
	var all []string
	for _, w := range words {
		all = append(all, w.word)
	}
	return append(append(all, netstate.CatalystHashes()...), Unknown)
}

// FieldsOf is what a hash of that word reads.
func FieldsOf(word string) Fields {
	named := word
	if slices.Contains(netstate.CatalystHashes(), word) {
		_, named, _ = strings.Cut(word, "-") // the same fields, by a function that is known
	}
	for _, w := range words {
		if w.word == named {
			return w.fields
		}
	}
	var p netstate.HashPolicy
	if p.UnmarshalText([]byte(word)) != nil {
		return FieldsUnknown
	}
	switch p {
	case netstate.Layer34, netstate.Encap34:
		return ByPort
	case netstate.Layer23, netstate.Encap23:
		return ByAddress
	}
	return ByMAC
}

// ByPorts is the network with every hash that reads no ports changed to one that does;
// the network itself where none is.
func (n *Network) ByPorts() *Network {
	all, changed := slices.Clone(n.Switches), false
	spread := func(b *Balance) {
		if f := FieldsOf(b.Hash); f == ByMAC || f == ByAddress {
			b.Hash, changed = netstate.Layer34.String(), true
		}
	}
	for i := range all {
		s := &all[i]
		spread(&s.Balance)
		if s.ECMP != nil {
			own := *s.ECMP
			spread(&own)
			s.ECMP = &own
		}
		s.Channels = slices.Clone(s.Channels)
		for c := range s.Channels {
			spread(&s.Channels[c].Balance)
		}
	}
	if !changed {
		return n
	}
	return New(all)
}
