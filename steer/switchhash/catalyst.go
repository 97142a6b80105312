// Package switchhash computes which member of its channel a switch sends a flow on,
// where the maker published how: the eight buckets of Cisco's Catalysts, Broadcom's
// RTAG7. A switch whose function is secret is asked (internal/evidence/switchanswer) or
// learned (steer/affine); don't guess one here.
package switchhash

import (
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// buckets is how many values Cisco's hash has.
const buckets = 8

// Shares are how many of the eight values each of n members takes (Cisco 12023,
// "Understanding EtherChannel Load Balancing"): with 3, 5, 6 or 7 members no even
// split is possible. Nil for none, and for more than eight.
func Shares(n int) []int {
	if n < 1 || n > buckets {
		return nil
	}
	shares := make([]int, n)
	for value := range buckets {
		shares[value%n]++
	}
	return shares
}

// Catalyst is the hash of Cisco's Catalyst 2950 to 3750: the low three bits of an
// address, or of the exclusive or of both, are one of eight values, and each member
// takes some of them. Models with ports in their methods (4500, 6500, 9000) have
// another function, which is secret.
type Catalyst struct {
	// Method is the word of `port-channel load-balance`.
	Method  string
	Members []string
	// Load are the values that each member takes as bits, the column Load of `show
	// etherchannel port-channel`; nil not read.
	Load []uint8
}

var _ steer.Grouper = Catalyst{}

// ParseCatalyst reads a method, and behind a blank the members' Load in hexadecimal
// ("src-dst-ip 55,AA").
func ParseCatalyst(text string, members []string) (Catalyst, error) {
	word, load, _ := strings.Cut(strings.TrimPrefix(text, "catalyst-"), " ")
	c := Catalyst{Method: word, Members: members}
	if _, ok := methods[word]; !ok {
		return Catalyst{}, fmt.Errorf("method %q: want one of %s", word, strings.Join(Methods(), ", "))
	}
	if len(members) > buckets {
		return Catalyst{}, fmt.Errorf("%d members: a channel has at most %d", len(members), buckets)
	}
	if load == "" {
		return c, nil
	}
	seen := uint8(0)
	for _, part := range strings.Split(load, ",") {
		mask, err := strconv.ParseUint(strings.TrimSpace(part), 16, 8)
		if err != nil || uint8(mask)&seen != 0 {
			return Catalyst{}, fmt.Errorf("load %q: want each member's two digits, such as 55,AA, no value twice", load)
		}
		seen |= uint8(mask)
		c.Load = append(c.Load, uint8(mask))
	}
	if len(c.Load) != len(members) || seen != 0xff {
		return Catalyst{}, fmt.Errorf("load %q: want the two digits of each of %d members, all eight values among them", load, len(members))
	}
	return c, nil
}

// Methods are the words, in the order of the manual.
func Methods() []string {
	words := netstate.CatalystHashes()
	for i, w := range words {
		words[i] = strings.TrimPrefix(w, "catalyst-")
	}
	return words
}

// methods say what each takes.
var methods = map[string]struct{ ip, src, dst bool }{
	"src-mac": {false, true, false}, "dst-mac": {false, false, true}, "src-dst-mac": {false, true, true},
	"src-ip": {true, true, false}, "dst-ip": {true, false, true}, "src-dst-ip": {true, true, true},
}

// Links are the members.
func (c Catalyst) Links() []string { return c.Members }

// value is one of eight; why is set where f lacks an address.
func (c Catalyst) value(f flow.Frame) (value uint8, why string) {
	m := methods[c.Method]
	take := func(ip netip.Addr, mac flow.MAC, whose string) {
		switch {
		case m.ip && f.EtherType == 0 && ip.IsValid():
			b := ip.AsSlice()
			value ^= b[len(b)-1]
		case (m.ip && f.EtherType == 0) || mac.IsZero():
			kind := map[bool]string{true: "IP", false: "MAC"}[m.ip && f.EtherType == 0]
			why = c.Method + " takes the " + whose + "'s " + kind + " address, which is not given"
		default:
			value ^= mac[len(mac)-1]
		}
	}
	if m.src {
		take(f.Src, f.SrcMAC, "sender")
	}
	if m.dst {
		take(f.Dst, f.DstMAC, "receiver")
	}
	return value % buckets, why
}

// exact reports members of which it is known which values each takes.
func (c Catalyst) exact() bool { return c.Load != nil || bits.OnesCount(uint(len(c.Members))) == 1 }

// Place says which member sends f. Without Load the members count in the order of the
// values that they take, which is the switch's own.
func (c Catalyst) Place(f flow.Frame) steer.Placement {
	out := steer.Placement{Index: -1}
	if len(c.Members) == 0 {
		out.Why = "no usable link"
		return out
	}
	value, why := c.value(f)
	if out.Why = why; why != "" {
		return out
	}
	hash := uint32(value)
	out.Hash = &hash
	switch {
	case c.Load != nil:
		for i, mask := range c.Load {
			if mask>>value&1 == 1 {
				out.Index = i
			}
		}
	case c.exact():
		out.Index = int(value) & (len(c.Members) - 1)
	default:
		out.Why = fmt.Sprintf("the value is %d of 0 to 7; which member of %d takes it is not published: `show etherchannel port-channel` prints it as Load", value, len(c.Members))
		return out
	}
	out.Known, out.Link = true, c.Members[out.Index]
	return out
}

// Groups says which frames share a member: those of one value do, whatever is known of
// the members.
func (c Catalyst) Groups(frames []flow.Frame) (groups []int, known bool, why string) {
	seen := make(map[int]int)
	for _, f := range frames {
		value, why := c.value(f)
		if why != "" {
			return nil, false, why
		}
		at := int(value)
		if c.exact() {
			at = c.Place(f).Index
		}
		if _, ok := seen[at]; !ok {
			seen[at] = len(seen)
		}
		groups = append(groups, seen[at])
	}
	if !c.exact() && len(seen) > 1 {
		return nil, false, c.Place(frames[0]).Why
	}
	return groups, true, ""
}

// Reach says what makes flows use more than one member.
func (c Catalyst) Reach() steer.Reach {
	m := methods[c.Method]
	uneven := ""
	if n := len(c.Members); n > 0 && buckets%n != 0 {
		uneven = fmt.Sprintf("; its eight values fall on %d members as %s", n, strings.Trim(strings.ReplaceAll(fmt.Sprint(Shares(n)), " ", ":"), "[]"))
	}
	switch {
	case len(c.Members) == 1:
		return steer.Reach{Why: "only one link is usable"}
	case !m.ip:
		return steer.Reach{Why: c.Method + " takes MAC addresses alone: all flows between two hosts share one link, and all that comes through one router" + uneven}
	}
	return steer.Reach{Addresses: true, Chosen: c.exact(), Why: c.Method + " takes the last three bits of addresses and no ports: all flows of one pair of addresses share one link" + uneven}
}

// Declared is the spreader of n links that a path's switch_hash names, and the bonding
// driver's policy where it is one; false for a word that tells nothing.
func Declared(word string, links int) (on steer.Grouper, policy netstate.HashPolicy, ok bool) {
	policy = netstate.PolicyUnread
	if word == "" {
		return nil, policy, false
	}
	if strings.HasPrefix(word, "catalyst-") {
		c, err := ParseCatalyst(word, steer.Numbered(links))
		return c, policy, err == nil
	}
	if policy.UnmarshalText([]byte(word)) != nil {
		return nil, netstate.PolicyUnread, false
	}
	return steer.Declared(policy, links), policy, true
}
