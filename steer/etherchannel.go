package steer

import (
	"fmt"

	"github.com/linerate/linerate/flow"
)

// ChannelMode is the mode attribute of an AIX EtherChannel (lsattr -El entN).
// Zero is standard, AIX's default.
type ChannelMode uint8

// The modes. Standard and 8023ad send by the same rule.
const (
	ChannelStandard ChannelMode = iota
	Channel8023ad
	ChannelRoundRobin
	ChannelBackup
)

// channelModeWords is the one table of mode words, indexed by mode.
var channelModeWords = [...]string{"standard", "8023ad", "round_robin", "netif_backup"}

// String is AIX's word.
func (m ChannelMode) String() string { return wordOf(channelModeWords[:], int(m)) }

// MarshalText writes AIX's word.
func (m ChannelMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads AIX's word.
func (m *ChannelMode) UnmarshalText(b []byte) error {
	i, err := indexOf("EtherChannel mode", channelModeWords[:], string(b))
	*m = ChannelMode(i)
	return err
}

// ChannelHash is the hash_mode attribute of an AIX EtherChannel. Zero is
// default, AIX's own.
type ChannelHash uint8

// The hash modes. Those by port go with modes standard and 8023ad only.
const (
	ChannelHashDefault ChannelHash = iota
	ChannelHashSrcDstPort
	ChannelHashSrcPort
	ChannelHashDstPort
)

// channelHashWords is the one table of hash mode words, indexed by mode.
var channelHashWords = [...]string{"default", "src_dst_port", "src_port", "dst_port"}

// ChannelHashes lists every hash mode.
func ChannelHashes() []ChannelHash {
	return []ChannelHash{ChannelHashDefault, ChannelHashSrcDstPort, ChannelHashSrcPort, ChannelHashDstPort}
}

// String is AIX's word.
func (h ChannelHash) String() string { return wordOf(channelHashWords[:], int(h)) }

// MarshalText writes AIX's word.
func (h ChannelHash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads AIX's word.
func (h *ChannelHash) UnmarshalText(b []byte) error {
	i, err := indexOf("EtherChannel hash mode", channelHashWords[:], string(b))
	*h = ChannelHash(i)
	return err
}

// EtherChannel is an AIX EtherChannel or IEEE 802.3ad aggregation, by IBM's
// documented rule (AIX 7.3, "EtherChannel load-balancing options" and
// "Standard or 802.3ad algorithm"): the last byte of a numerical value,
// modulo the number of adapters, counts in adapter_names order. Nobody has
// checked the rule against a machine here.
type EtherChannel struct {
	Mode ChannelMode
	Hash ChannelHash
	// Adapters are the working ones in the order of adapter_names.
	Adapters []string
}

var _ Grouper = EtherChannel{}

// Links are the adapters.
func (e EtherChannel) Links() []string { return e.Adapters }

// Place says which adapter sends f. Hash is the numerical value of the rule
// before its last byte is taken.
func (e EtherChannel) Place(f flow.Frame) Placement {
	switch {
	case len(e.Adapters) == 0:
		return unplaced("no usable link")
	case len(e.Adapters) == 1, e.Mode == ChannelBackup:
		return placed(e.Adapters, 0, nil)
	case e.Mode == ChannelRoundRobin:
		return unplaced("round_robin rotates packets over all adapters: a flow has no link of its own")
	}
	value, why := e.value(f)
	if why != "" {
		return unplaced(why)
	}
	return placed(e.Adapters, int(value&0xff)%len(e.Adapters), &value)
}

// value is the number that the standard algorithm divides; why is set when f
// lacks it.
func (e EtherChannel) value(f flow.Frame) (value uint32, why string) {
	if e.Hash == ChannelHashDefault || f.Proto != flow.TCP && f.Proto != flow.UDP || f.EtherType != 0 {
		return lastByte(f)
	}
	if f.Fragment {
		return 0, "IBM does not document how a port-based hash mode sends IP fragments"
	}
	if why := withoutPorts(&f, e.Hash != ChannelHashDstPort, e.Hash != ChannelHashSrcPort, "hash mode "+e.Hash.String()+" takes"); why != "" {
		return 0, why
	}
	switch e.Hash {
	case ChannelHashSrcPort:
		return uint32(f.Sport), ""
	case ChannelHashDstPort:
		return uint32(f.Dport), ""
	}
	// "Added, then divided by two", the fraction dropped.
	return (uint32(f.Sport) + uint32(f.Dport)) / 2, ""
}

// lastByte is the value of the default hash mode: of the destination's IP
// address, or of its MAC address for what is not IP.
func lastByte(f flow.Frame) (value uint32, why string) {
	if f.Dst.IsValid() && f.EtherType == 0 {
		b := f.Dst.AsSlice()
		return uint32(b[len(b)-1]), ""
	}
	if f.DstMAC.IsZero() {
		return 0, "the default hash mode takes the last byte of the destination's address, which is not given"
	}
	return uint32(f.DstMAC[5]), ""
}

// Groups says which frames share an adapter, as Bundle.Groups does.
func (e EtherChannel) Groups(frames []flow.Frame) (groups []int, known bool, why string) {
	if len(e.Adapters) == 1 || e.Mode == ChannelBackup {
		return make([]int, len(frames)), len(e.Adapters) > 0, ""
	}
	all, why := placements(e, frames)
	if why != "" {
		return nil, false, why
	}
	return Distinct(all)[0], true, ""
}

// Reach returns the channel's reach for TCP and UDP.
func (e EtherChannel) Reach() Reach {
	switch {
	case len(e.Adapters) == 0:
		return Reach{Why: "no usable link"}
	case len(e.Adapters) == 1:
		return Reach{Why: "only one link is usable"}
	case e.Mode == ChannelBackup:
		return Reach{Why: "netif_backup sends on one adapter at a time"}
	case e.Mode == ChannelRoundRobin:
		return Reach{Striped: true, Ports: true, Addresses: true,
			Why: "round_robin rotates packets over all adapters: one flow uses them all, and its packets arrive out of order"}
	}
	switch e.Hash {
	case ChannelHashDefault:
		return Reach{Addresses: true, Chosen: true,
			Why: "hash mode default takes the last byte of the destination address: all traffic to one address shares one adapter"}
	case ChannelHashDstPort:
		return Reach{Why: "hash mode dst_port takes the destination port alone: all traffic to one port, of whichever address, shares one adapter"}
	}
	return Reach{Ports: true, Chosen: true,
		Why: "hash mode " + e.Hash.String() + " takes ports, not addresses: each flow has one adapter, and its source port decides which"}
}

func unplaced(why string) Placement { return Placement{Index: -1, Why: why} }

func placed(links []string, i int, hash *uint32) Placement {
	return Placement{Hash: hash, Index: i, Link: links[i], Known: true}
}

func wordOf(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return fmt.Sprintf("unknown-%d", i)
}

func indexOf(what string, words []string, word string) (int, error) {
	for i, w := range words {
		if w == word {
			return i, nil
		}
	}
	return 0, fmt.Errorf("parse %s %q: want one of %v", what, word, words)
}
