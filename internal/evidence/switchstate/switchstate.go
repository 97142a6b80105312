// Package switchstate is one switch as far as its outputs and its configuration show
// it: port channels with their members, ports, hashes, neighbours, the other half of a
// pair. It is plain data in the terms that all makers share; it reads nothing.
//
// What was not read is absent: an empty text, a zero, no entry of a map. It is never a
// default.
package switchstate

import (
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Switch is one switch.
type Switch struct {
	Name   string // "" nobody names it
	Vendor string // "ios", "nxos", "eos", "junos", ...; "" nothing tells
	// System is the address that it shows to LACP partners.
	System flow.MAC
	// MTU is the largest packet of all ports together, where the system sets one.
	MTU int
	// Hash is what chooses a member in every channel that has none of its own.
	Hash Hash
	// Answer is the port that the switch itself says a flow takes, where it was asked.
	Answer   string
	Channels []Channel // by name
	// Loose are members of a channel that no output names.
	Loose []Member
	Ports []Port // by name; members too, channels not
	// Neighbors are who was heard at ports by LLDP or CDP; Link is the port's name.
	Neighbors []netstate.Neighbor
	Pair      Pair
	// Unread are lines of ports' sections of a configuration that say nothing of these,
	// each behind the port's name.
	Unread []string
}

// Scope is what a hash setting holds for: changing it changes all of that.
type Scope string

// The scopes of a hash setting.
const (
	WholeSwitch Scope = "switch"
	OneModule   Scope = "module"
	OneChannel  Scope = "channel"
)

// Layer is the highest layer whose fields a hash looks at.
type Layer int

// The layers of a hash; LayerUnknown where its words do not tell.
const (
	LayerUnknown Layer = iota
	Layer2             // MAC addresses, VLAN, frame type
	Layer3             // IP addresses as well
	Layer4             // ports of TCP and UDP as well
)

// Hash is what a switch chooses a member by, in its own words.
type Hash struct {
	Words             string
	NonIP, IPv4, IPv6 string // for that traffic, where it is said apart
	Algorithm, Seed   string // "crc32", "xor16"; a number
	Scope             Scope
	Highest           Layer
}

// Protocol is how a channel's members agree.
type Protocol string

// The protocols of a channel.
const (
	LACP   Protocol = "lacp"
	Static Protocol = "static" // mode on: nobody asks the other end
	PAgP   Protocol = "pagp"
)

// Channel is a port channel, a LAG, a trunk group.
type Channel struct {
	Port     // its own MTU, VLANs and counters
	Protocol Protocol
	Activity string // "active" or "passive"
	Rate     string // "fast" or "slow": how often the switch wants to hear its partner
	MinLinks int
	Hash     Hash
	Members  []Member // in the order that was read
	// PairID is what the other switch of a pair knows this channel by (vPC, MLAG).
	PairID string
}

// MemberState is what a member does in its channel.
type MemberState string

// The states of a member.
const (
	Bundled    MemberState = "bundled"
	Standalone MemberState = "standalone"  // up, but alone: no partner, or not the channel's
	Suspended  MemberState = "suspended"   // set aside by the switch
	HotStandby MemberState = "hot-standby" // waits for a member to fail
	Waiting    MemberState = "waiting"     // not yet agreed
	Down       MemberState = "down"
	Out        MemberState = "out" // not in the bundle; nothing tells why
)

// Member is a port of a channel.
type Member struct {
	Port           string
	State          MemberState // "" not read
	Flag           string      // the switch's own word for the state
	Mode           string      // "active", "passive", "on", "desirable", "auto"
	Actor, Partner LACPPort
	Buckets        string // of the hash's values that it takes, as the switch prints them
}

// LACPPort is one end of a member as LACP's packets say it.
type LACPPort struct {
	Activity string // "active" or "passive"
	Rate     string // "fast" or "slow": how often this end wants to hear
	System   flow.MAC
	Key      int
	Port     int
	State    int // bits of IEEE 802.1AX 6.4.2.3
}

// Counter names a count of a port since it was cleared.
type Counter string

// The counters of a port.
const (
	InBytes    Counter = "in_bytes"
	OutBytes   Counter = "out_bytes"
	InPackets  Counter = "in_packets"
	OutPackets Counter = "out_packets"
	InErrors   Counter = "in_errors"
	OutErrors  Counter = "out_errors"
	CRC        Counter = "crc"
	Runts      Counter = "runts"
	Giants     Counter = "giants"
	InDrops    Counter = "in_drops"
	OutDrops   Counter = "out_drops"
	InPause    Counter = "in_pause"
	OutPause   Counter = "out_pause"
	InLACP     Counter = "in_lacp"
	OutLACP    Counter = "out_lacp"
)

// Port is a port of a switch.
type Port struct {
	Name        string // short, as tables print it: "Gi1/0/1", "Eth1/1", "Po10"
	Description string
	MAC         flow.MAC // its own
	Channel     string   // that it is a member of; "" none, or not read
	Admin, Oper string   // "up" or "down"
	Reason      string   // for Oper, in the switch's word: "err-disabled", "suspended"
	Speed       unit.BitRate
	Duplex      string // "full" or "half"
	MTU         int
	VLANs       VLANs
	// In and Out are the rates that the switch itself shows.
	In, Out  unit.BitRate
	Counters map[Counter]uint64
}

// VLANs is what a port does with tags.
type VLANs struct {
	Mode    string // "access" or "trunk"
	Access  int
	Native  int
	Allowed string // "100,200-210"; "none" or "all" where it says so
}

// Pair is the other switch that shares channels with this one (vPC, MLAG, VSX, VLT).
type Pair struct {
	Kind  string // "vpc", "mlag"
	Peer  string // "alive", "ok", "down": in the switch's word
	State string // of the pair
	// Channels are the pair's, by name.
	Channels []PairChannel
}

// PairChannel is a channel that both switches of a pair have.
type PairChannel struct {
	Name, ID    string
	Peer        string // the other switch's port; "none" it has none
	State       string // "up", "down", "active-full"
	Consistency string // "success", "failed"
}
