// Package team says which port of a team that teamd makes (teamd.conf(5)) a flow takes.
//
// Don't guess the order of the ports: it is the one in which they came up.
package team

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// Runner is the runner of a team that teamd makes (teamd.conf(5)). Zero is
// roundrobin, teamd's default.
type Runner uint8

// The runners.
const (
	RoundRobin Runner = iota
	Random
	ActiveBackup
	LoadBalance
	LACP
	Broadcast
)

// runnerWords is the one table of runner words, indexed by runner.
var runnerWords = [...]string{"roundrobin", "random", "activebackup", "loadbalance", "lacp", "broadcast"}

// Runners lists every runner.
func Runners() []Runner {
	return []Runner{RoundRobin, Random, ActiveBackup, LoadBalance, LACP, Broadcast}
}

// Hashes reports a runner that gives each flow a port by its hash.
func (r Runner) Hashes() bool { return r == LoadBalance || r == LACP }

// String is teamd's word.
func (r Runner) String() string { return runnerWords[min(int(r), len(runnerWords)-1)] }

// MarshalText writes teamd's word.
func (r Runner) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads teamd's word.
func (r *Runner) UnmarshalText(b []byte) error {
	for i, w := range runnerWords {
		if w == string(b) {
			*r = Runner(i)
			return nil
		}
	}
	return fmt.Errorf("parse runner %q: want one of %v", b, runnerWords)
}

// Hash is the tx_hash of a team's runner: the set of what its hash reads. Zero
// reads nothing, as an empty list does: every flow takes one port.
type Hash uint8

// What a tx_hash reads.
const (
	Eth  Hash = 1 << iota // both MAC addresses
	VLAN                  // the VLAN tag
	IPv4                  // both IPv4 addresses
	IPv6                  // both IPv6 addresses
	TCP                   // both ports over IPv4, the destination's over IPv6
	UDP
	SCTP

	bothIP   = IPv4 | IPv6
	allPorts = TCP | UDP | SCTP
)

// Types of frames, and the protocol that has ports and no name in flow.
const (
	etherIPv4 = 0x0800
	etherTag  = 0x8100
	etherIPv6 = 0x86dd

	sctp flow.Proto = 132
)

// DefaultHash is what teamd hashes where a configuration has no tx_hash: no ports
// (teamd_hash_default_frags).
const DefaultHash = Eth | IPv4 | IPv6

// hashWords is the one table of tx_hash words, in the order of their bits, and
// hashSets are those that stand for several.
var (
	hashWords = [...]string{"eth", "vlan", "ipv4", "ipv6", "tcp", "udp", "sctp"}
	hashSets  = [...]struct {
		word string
		set  Hash
	}{{"ip", bothIP}, {"l3", bothIP}, {"l4", allPorts}}
)

// Reads reports whether the hash reads any of the set.
func (h Hash) Reads(set Hash) bool { return h&set != 0 }

// String is a comma list of teamd's words, such as "eth,ipv4,ipv6"; "nothing" for none.
func (h Hash) String() string {
	var words []string
	for i, w := range hashWords {
		if h.Reads(1 << i) {
			words = append(words, w)
		}
	}
	if words == nil {
		return "nothing"
	}
	return strings.Join(words, ",")
}

// MarshalText writes String's words.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads a comma list of teamd's words.
func (h *Hash) UnmarshalText(b []byte) error {
	var set Hash
words:
	for word := range strings.SplitSeq(string(b), ",") {
		for _, s := range hashSets {
			if s.word == word {
				set |= s.set
				continue words
			}
		}
		i := slices.Index(hashWords[:], word)
		if i < 0 {
			return fmt.Errorf("parse tx_hash %q: want eth, vlan, ipv4, ipv6, ip, l3, tcp, udp, sctp or l4", word)
		}
		set |= 1 << i
	}
	*h = set
	return nil
}

// Team is a team that teamd makes, as far as placing flows needs it.
//
// For the runners loadbalance and lacp teamd gives the kernel a program that combines
// the fields of tx_hash by exclusive or (bpf_create_code, teamd_bpf_chef.c of libteam
// 1.32), and the kernel folds the result to a byte (lb_get_skb_hash,
// drivers/net/team/team_mode_loadbalance.c): the exclusive or of every byte read. The
// port is that modulo the ports that are enabled, counted in the order in which they
// were (team_port_enable, team_num_to_port_index). A port that was away comes back as
// the last.
type Team struct {
	Runner Runner
	Hash   Hash
	// Balanced is tx_balancer basic, which moves hashes between ports by load.
	Balanced bool
	// Active is the active port of activebackup; "" unknown.
	Active string
	// Ports are the enabled ones in the order in which they were enabled.
	Ports []string
}

var _ steer.Spreader = Team{}

// Links are the enabled ports.
func (t Team) Links() []string { return t.Ports }

// Place says which port sends f.
func (t Team) Place(f flow.Frame) steer.Placement {
	switch {
	case len(t.Ports) == 0:
		return unplaced("no usable link")
	case len(t.Ports) == 1:
		return placed(t.Ports, 0, nil)
	}
	switch t.Runner {
	case RoundRobin:
		return unplaced("roundrobin rotates packets over all ports: a flow has no port of its own")
	case Random:
		return unplaced("random takes a port by chance for each packet: a flow has no port of its own")
	case Broadcast:
		return steer.Placement{Index: -1, Known: true, Why: "broadcast sends a copy on every port"}
	case ActiveBackup:
		for i, port := range t.Ports {
			if port == t.Active {
				return placed(t.Ports, i, nil)
			}
		}
		return unplaced("activebackup sends on its active port, which is not given")
	}
	hash, why := t.Hash.value(&f)
	switch {
	case why != "":
		return unplaced(why)
	case t.Balanced:
		return steer.Placement{Hash: &hash, Index: -1, Why: "tx_balancer moves hashes between ports by load"}
	}
	return placed(t.Ports, int(hash)%len(t.Ports), &hash)
}

// value is the byte that the kernel takes modulo the ports; why says what f lacks.
func (h Hash) value(f *flow.Frame) (hash uint32, why string) {
	var sum byte
	fold := func(b []byte) {
		for _, c := range b {
			sum ^= c
		}
	}
	if h.Reads(Eth) {
		if f.SrcMAC.IsZero() || f.DstMAC.IsZero() {
			return 0, "tx_hash eth reads the MAC addresses of the sender and the next hop, which are not given"
		}
		fold(f.DstMAC[:])
		fold(f.SrcMAC[:])
	}
	if f.EtherType == etherTag && h&^Eth != 0 {
		return 0, "the tag stands in the frame, and what is behind it is not given"
	}
	if h.Reads(VLAN) {
		fold(binary.BigEndian.AppendUint16(nil, f.VLAN))
	}
	six := steer.Is6(f.Src)
	switch f.EtherType {
	case 0:
	case etherIPv4, etherIPv6:
		six = f.EtherType == etherIPv6
	default:
		return uint32(sum), ""
	}
	if h.Reads(IPv6) && six || h.Reads(IPv4) && !six {
		if !f.Src.IsValid() || !f.Dst.IsValid() {
			return 0, "tx_hash reads the IP addresses, which are not given"
		}
		if six {
			src, dst := f.Src.As16(), f.Dst.As16()
			fold(src[:])
			fold(dst[:])
		} else {
			fold(f.Src.Unmap().AsSlice())
			fold(f.Dst.Unmap().AsSlice())
		}
	}
	ports, why := h.ports(f, six)
	fold(ports)
	return uint32(sum), why
}

// ports are the bytes of the ports that the program reads. Over IPv6 it drops the
// source port: the load of the destination port takes its place before it is combined
// with anything (__bpf_l4v6_hash).
func (h Hash) ports(f *flow.Frame, six bool) (read []byte, why string) {
	switch {
	case !h.Reads(portsOf(f.Proto)), six && (f.Extended || f.Fragment):
		return nil, ""
	case f.Fragment:
		return nil, "tx_hash reads the ports of a packet's first fragment and not of the later ones"
	}
	switch {
	case !six && f.NoSport:
		return nil, "tx_hash reads the source port, which is not given"
	case f.NoDport:
		return nil, "tx_hash reads the destination port, which is not given"
	}
	read = binary.BigEndian.AppendUint16(nil, f.Dport)
	if !six {
		read = binary.BigEndian.AppendUint16(read, f.Sport)
	}
	return read, ""
}

// portsOf is what of a hash reads a protocol's ports.
func portsOf(p flow.Proto) Hash {
	switch p {
	case flow.TCP:
		return TCP
	case flow.UDP:
		return UDP
	case sctp:
		return SCTP
	}
	return 0
}

// Reach returns the team's reach for TCP and UDP over IPv4.
func (t Team) Reach() steer.Reach {
	switch {
	case len(t.Ports) == 0:
		return steer.Reach{Why: "no usable link"}
	case len(t.Ports) == 1:
		return steer.Reach{Why: "only one link is usable"}
	}
	switch t.Runner {
	case RoundRobin, Random:
		return steer.Reach{Striped: true, Ports: true, Addresses: true,
			Why: t.Runner.String() + " spreads packets over all ports: one flow uses them all, and its packets arrive out of order"}
	case ActiveBackup:
		return steer.Reach{Why: "activebackup sends on one port at a time"}
	case Broadcast:
		return steer.Reach{Why: "broadcast sends a copy of every frame on every port: the rate of one link"}
	}
	r := steer.Reach{Ports: t.Hash.Reads(TCP | UDP), Addresses: t.Hash.Reads(IPv4)}
	if t.Balanced {
		r.Why = fmt.Sprintf("tx_balancer spreads the hashes of %s over the ports by load: which port a flow takes changes, and no choice decides", t.Hash)
		return r
	}
	r.Chosen = r.Ports || r.Addresses
	switch {
	case r.Ports:
		r.Why = fmt.Sprintf("tx_hash %s: each flow keeps to one port, its ports decide which; over IPv6 the destination port alone", t.Hash)
	case r.Addresses:
		r.Why = fmt.Sprintf("tx_hash %s reads no ports: all flows of one pair of addresses share one port", t.Hash)
	default:
		r.Why = fmt.Sprintf("tx_hash %s reads no IPv4 addresses and no ports: all flows between two hosts share one port", t.Hash)
	}
	return r
}

func unplaced(why string) steer.Placement { return steer.Placement{Index: -1, Why: why} }

func placed(links []string, i int, hash *uint32) steer.Placement {
	return steer.Placement{Hash: hash, Index: i, Link: links[i], Known: true}
}
