package steer

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/linerate/linerate/flow"
)

// LaggProto is the laggproto of a FreeBSD lagg(4) interface. Zero is failover,
// FreeBSD's default.
type LaggProto uint8

// The protocols that move traffic.
const (
	LaggFailover LaggProto = iota
	LaggLACP
	LaggLoadBalance
	LaggRoundRobin
	LaggBroadcast
)

// laggProtoWords is the one table of protocol words, indexed by protocol.
var laggProtoWords = [...]string{"failover", "lacp", "loadbalance", "roundrobin", "broadcast"}

// LaggProtos lists every protocol.
func LaggProtos() []LaggProto {
	return []LaggProto{LaggFailover, LaggLACP, LaggLoadBalance, LaggRoundRobin, LaggBroadcast}
}

// String is ifconfig(8)'s word.
func (p LaggProto) String() string { return wordOf(laggProtoWords[:], int(p)) }

// MarshalText writes ifconfig(8)'s word.
func (p LaggProto) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads ifconfig(8)'s word.
func (p *LaggProto) UnmarshalText(b []byte) error {
	i, err := indexOf("laggproto", laggProtoWords[:], string(b))
	*p = LaggProto(i)
	return err
}

// LaggHash is the lagghash of a lagg(4) interface: the set of layers that the
// hash reads. Zero is all of them, FreeBSD's default.
type LaggHash uint8

// The layers.
const (
	LaggL2 LaggHash = 1 << iota // both MAC addresses, and the VLAN tag
	LaggL3                      // both IP addresses
	LaggL4                      // ports over IPv4, the flow label of IPv6
)

// laggHashWords is the one table of layer words, in the order of their bits.
var laggHashWords = [...]string{"l2", "l3", "l4"}

// has reports whether the hash reads a layer.
func (h LaggHash) has(layer LaggHash) bool { return h == 0 || h&layer != 0 }

// String is ifconfig(8)'s comma list, such as "l3,l4".
func (h LaggHash) String() string {
	var words []string
	for i, w := range laggHashWords {
		if h.has(1 << i) {
			words = append(words, w)
		}
	}
	return strings.Join(words, ",")
}

// MarshalText writes what UnmarshalText reads.
func (h LaggHash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads a comma list of l2, l3 and l4.
func (h *LaggHash) UnmarshalText(b []byte) error {
	var set LaggHash
	for word := range strings.SplitSeq(string(b), ",") {
		i, err := indexOf("lagghash", laggHashWords[:], word)
		if err != nil {
			return err
		}
		set |= 1 << i
	}
	*h = set
	return nil
}

// Lagg is a FreeBSD lagg(4) interface as far as placing flows needs it.
//
// Its hash starts from a key drawn at random when the interface is made and
// shown nowhere (m_ether_tcpip_hash_init, sys/kern/uipc_mbufhash.c), so which
// port a flow takes is unknown. What is known: a flow keeps to one port, and
// with 2, 4 or 8 ports the hash works on so few bits of the key that which
// flows share a port can be told for every key there may be: see Groups.
type Lagg struct {
	Proto LaggProto
	Hash  LaggHash
	// UseFlowID is the option use_flowid: the port then follows from the
	// card's own receive hash of the flow where it gave one.
	UseFlowID bool
	// Ports are the ones in use. With the option use_numa, on by default and
	// effective on machines of several NUMA domains, they are those of the
	// sender's domain.
	Ports []string
	// Key is the interface's secret; nil unknown, as it always is in practice.
	Key *uint32
}

var _ Grouper = Lagg{}

// Links are the ports.
func (l Lagg) Links() []string { return l.Ports }

// Place says which port sends f. Only failover, or a lagg of one port, is
// known without the key.
func (l Lagg) Place(f flow.Frame) Placement {
	switch {
	case len(l.Ports) == 0:
		return unplaced("no usable link")
	case len(l.Ports) == 1, l.Proto == LaggFailover:
		return placed(l.Ports, 0, nil)
	case l.Proto == LaggRoundRobin:
		return unplaced("roundrobin rotates packets over all ports: a flow has no link of its own")
	case l.Proto == LaggBroadcast:
		return Placement{Index: -1, Known: true, Why: "broadcast sends a copy on every port"}
	}
	if why := l.unknowable(f); why != "" {
		return unplaced(why)
	}
	if l.Key == nil {
		return unplaced("lagg starts its hash from a random number drawn when the interface was made, which nothing shows: a flow keeps to one port, and nobody can compute which")
	}
	if l.Hash.has(LaggL2) && (f.SrcMAC.IsZero() || f.DstMAC.IsZero()) {
		return unplaced("lagghash " + l.Hash.String() + " reads both MAC addresses, and one is not given")
	}
	h := l.above(f, l.ethernet(f, *l.Key))
	return placed(l.Ports, int(h%uint32(len(l.Ports))), &h)
}

// unknowable says why the hash of f cannot be known whatever key and MAC
// addresses are; "" when it can.
func (l Lagg) unknowable(f flow.Frame) string {
	switch {
	case l.UseFlowID:
		return "with use_flowid the port follows from the card's own hash of what it received of the flow, whose key is the card's"
	case !l.Hash.has(LaggL3) && !l.Hash.has(LaggL4):
		return ""
	case !f.Src.IsValid() || !f.Dst.IsValid():
		return "lagghash " + l.Hash.String() + " reads the IP header, and an address is not given"
	case familiesDiffer(&f) != "":
		return familiesDiffer(&f)
	case !l.Hash.has(LaggL4):
		return ""
	case Is6(f.Src):
		return "over IPv6 lagghash l4 reads the flow label, a random number of each connection, and no ports"
	case f.Fragment:
		return "lagghash l4 reads the payload of later fragments as if it were ports"
	}
	return withoutPorts(&f, true, true, "lagghash l4 reads")
}

// ethernet hashes layer 2 onto a key (m_ether_tcpip_hash). The tag is taken as
// one that hardware inserts, which enters in host order of little-endian hosts.
func (l Lagg) ethernet(f flow.Frame, h uint32) uint32 {
	if !l.Hash.has(LaggL2) {
		return h
	}
	h = fnv1(f.DstMAC[:], fnv1(f.SrcMAC[:], h))
	if f.VLAN != 0 {
		h = fnv1([]byte{byte(f.VLAN), byte(f.VLAN >> 8)}, h)
	}
	return h
}

// above hashes layers 3 and 4 (m_tcpip_hash). The caller has ruled out what is
// unknowable.
func (l Lagg) above(f flow.Frame, h uint32) uint32 {
	if l.Hash.has(LaggL3) {
		src, dst := f.Src.Unmap(), f.Dst.Unmap()
		h = fnv1(dst.AsSlice(), fnv1(src.AsSlice(), h))
	}
	if l.Hash.has(LaggL4) {
		switch f.Proto {
		case flow.TCP, flow.UDP, protoSCTP:
			h = fnv1([]byte{byte(f.Sport >> 8), byte(f.Sport), byte(f.Dport >> 8), byte(f.Dport)}, h)
		}
	}
	return h
}

// fnv1 is the 32-bit Fowler-Noll-Vo hash that multiplies first (fnv_32_buf,
// sys/sys/fnv_hash.h).
func fnv1(b []byte, h uint32) uint32 {
	const prime = 0x01000193
	for _, c := range b {
		h = h*prime ^ uint32(c)
	}
	return h
}

// Groups says which frames share a port, as Bundle.Groups does: known where it
// is the same for every key that the lagg may have. Frames have one sender and
// one next hop.
func (l Lagg) Groups(frames []flow.Frame) (groups []int, known bool, why string) {
	if len(l.Ports) == 1 || l.Proto == LaggFailover || l.Proto == LaggBroadcast {
		return make([]int, len(frames)), len(l.Ports) > 0, ""
	}
	all, why := l.Readings(frames)
	switch {
	case why != "":
		return nil, false, why
	case len(all) > 1:
		return nil, false, "which flows share a port depends on the lagg's random key"
	}
	return all[0], true, ""
}

// Readings lists how the frames may share ports: once for each value of the
// key's low bits. Multiplication and XOR carry nothing downwards, so modulo
// 2^k the hash depends on the key's low k bits alone, and MAC addresses that
// all frames have in common only turn one such key into another.
func (l Lagg) Readings(frames []flow.Frame) (all [][]int, why string) {
	n := len(l.Ports)
	if l.Proto != LaggLACP && l.Proto != LaggLoadBalance {
		return nil, l.Reach().Why
	}
	for _, f := range frames {
		if why := l.unknowable(f); why != "" {
			return nil, why
		}
		if l.Hash.has(LaggL2) && (f.SrcMAC != frames[0].SrcMAC || f.DstMAC != frames[0].DstMAC || f.VLAN != frames[0].VLAN) {
			return nil, "the frames differ in MAC address or VLAN tag, which enter the lagg's hash with its random key"
		}
	}
	if bits.OnesCount(uint(n)) != 1 {
		return nil, fmt.Sprintf("lagg starts its hash from a random number, and with %d ports all of it decides which flows share one", n)
	}
	for key := range uint32(n) {
		part := make([]int, len(frames))
		for i, f := range frames {
			part[i] = int(l.above(f, key) % uint32(n))
		}
		all = append(all, part)
	}
	return Distinct(all), ""
}

// Reach returns the lagg's reach for TCP and UDP over IPv4.
func (l Lagg) Reach() Reach {
	switch {
	case len(l.Ports) == 0:
		return Reach{Why: "no usable link"}
	case len(l.Ports) == 1:
		return Reach{Why: "only one link is usable"}
	}
	switch l.Proto {
	case LaggFailover:
		return Reach{Why: "failover sends on one port at a time"}
	case LaggBroadcast:
		return Reach{Why: "broadcast sends a copy of every frame on every port: the rate of one link"}
	case LaggRoundRobin:
		return Reach{Striped: true, Ports: true, Addresses: true,
			Why: "roundrobin rotates packets over all ports: one flow uses them all, and its packets arrive out of order"}
	}
	r := Reach{Ports: l.Hash.has(LaggL4), Addresses: l.Hash.has(LaggL3)}
	if l.UseFlowID {
		r.Ports, r.Addresses = true, true
		r.Why = "use_flowid takes the card's own hash of the flow: flows use several ports by chance, which no choice decides"
		return r
	}
	r.Chosen = l.Key != nil && (r.Ports || r.Addresses)
	switch {
	case r.Ports:
		r.Why = "lagg hashes " + l.Hash.String() + " from a random key: each flow keeps to one port, ports (over IPv6 the flow label) and addresses decide which"
	case r.Addresses:
		r.Why = "lagghash " + l.Hash.String() + " reads no ports: all flows of one pair of addresses share one port"
	default:
		r.Why = "lagghash l2 reads MAC addresses and the VLAN tag: all flows between two hosts share one port"
		return r
	}
	if !r.Chosen {
		r.Why += "; the key is secret, so which is by chance"
	}
	return r
}
