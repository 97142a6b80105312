// Package system says which link a flow takes on systems that are not Linux, by
// their own words: it finds the spreader of a host's bond, has those of ESXi and
// Windows (FreeBSD's lagg and AIX's EtherChannel are package steer's), and says
// how traffic comes in. Where a system publishes no rule it says so and never
// guesses.
package system

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// What to do about a rule that nobody can compute.
const (
	probeWords = "learn it with linerate steer probe"
	secretRule = "; how it is computed is not published: " + probeWords
)

// Of is how a system spreads flows over links, by its own words of mode and policy
// ("" is what the system makes a bond with). The error says which word the system
// does not have.
func Of(name string, own netstate.OwnRule, links []string) (steer.Grouper, error) {
	s, ok := bondopt.SystemOf(name)
	if !ok {
		return nil, fmt.Errorf("read bond of %s: its hash is not known here", name)
	}
	mode, policy, ok := s.Words(own)
	if !ok {
		return nil, fmt.Errorf("read bond of %s: mode %q, policy %q: not words of %s", s.Name, own.Mode, own.Policy, s.Name)
	}
	switch s.Name {
	case bondopt.ESXi:
		return VSwitch{Mode: mode, Fields: policy, Uplinks: links}, nil
	case bondopt.Windows:
		return Team{Mode: mode, Hash: policy, Members: links}, nil
	case bondopt.FreeBSD:
		l := steer.Lagg{UseFlowID: policy == bondopt.FlowID, Ports: links}
		if err := l.Hash.UnmarshalText([]byte(policy)); err != nil && !l.UseFlowID {
			return nil, err
		}
		return l, l.Proto.UnmarshalText([]byte(mode))
	}
	e := steer.EtherChannel{Adapters: links}
	if err := e.Hash.UnmarshalText([]byte(policy)); err != nil {
		return nil, err
	}
	return e, e.Mode.UnmarshalText([]byte(mode))
}

// OnHost is the bond of a host that is not Linux, over its usable ports; false on
// Linux, and where the host does not say its own mode. The name may be that of a
// VLAN on the bond.
func OnHost(h netstate.Host, bond string) (steer.Grouper, bool) {
	_, _, l := h.Below(bond)
	if l == nil || l.Bond == nil || l.Bond.Own == nil || !bondopt.Foreign(h.Kernel.OS) {
		return nil, false
	}
	s, err := Of(h.Kernel.OS, *l.Bond.Own, h.UsablePorts(l.Name))
	return s, err == nil
}

// Whole is OnHost of a bond over all its ports, usable or not; nil for none.
func Whole(h netstate.Host, bond netstate.Link) steer.Grouper {
	if bond.Bond == nil || bond.Bond.Own == nil || !bondopt.Foreign(h.Kernel.OS) {
		return nil
	}
	s, err := Of(h.Kernel.OS, *bond.Bond.Own, bond.Bond.Ports)
	if err != nil {
		return nil
	}
	return s
}

// Arrival is how what others send comes in over the links of a bond, as far as
// the bond's own system decides.
type Arrival uint8

const (
	// FarSide: the switch's hash, or the sender's on a direct cable, decides.
	FarSide Arrival = iota
	// OneArrives: all comes in on one link.
	OneArrives
	// EachAddress: what is for one address of the host's own, one virtual card's,
	// comes in on one link.
	EachAddress
	// CopiesArrive: every link brings a copy.
	CopiesArrive
)

// Arrives says how traffic comes in to a bond of a system that is not Linux, and
// why; "" where the far side decides.
func Arrives(s steer.Spreader) (Arrival, string) {
	switch s := s.(type) {
	case VSwitch:
		switch {
		case s.Mode == Explicit:
			return OneArrives, "explicit failover order receives on the uplink that it sends by"
		case s.perPort():
			return EachAddress, "a virtual card receives on the uplink that it sends by, for the switch learns its MAC address there"
		}
	case Team:
		switch {
		case s.Mode == Static || s.Mode == LACP:
		case s.Hash == HyperVPort || s.Hash == Dynamic:
			return EachAddress, s.Mode + " with " + s.Hash + " receives all that is for one virtual card (vNIC) on one member"
		default:
			return OneArrives, "SwitchIndependent with " + s.Hash + " receives all on one member, the one that has the team's MAC address"
		}
	case steer.Lagg:
		switch s.Proto {
		case steer.LaggFailover:
			return OneArrives, "failover receives on its active port"
		case steer.LaggBroadcast:
			return CopiesArrive, "broadcast brings every port a copy: the rate of one link"
		}
	case steer.EtherChannel:
		if s.Mode == steer.ChannelBackup {
			return OneArrives, "netif_backup receives on one adapter at a time"
		}
	}
	return FarSide, ""
}

// ArrivalRemedy says what would let traffic come in over more links, where the bond's
// own system keeps it on few; "" where the far side decides.
func ArrivalRemedy(s steer.Spreader) string {
	if arrival, _ := Arrives(s); arrival == FarSide {
		return ""
	}
	if t, ok := s.(Team); ok {
		return t.arrivalRemedy()
	}
	return steer.RemedyFor(s)
}

// Named is a remedy with the bond's own name in place of those that stand for it;
// "" leaves it as it is.
func Named(remedy, bond string) string {
	if bond == "" {
		return remedy
	}
	quoted := "'" + strings.ReplaceAll(bond, "'", "''") + "'"
	return strings.NewReplacer("vSwitchN", bond, "laggX", bond, "entX", bond, "-Name TEAM", "-Name "+quoted, "-Team TEAM", "-Team "+quoted, "-Name SWITCH", "-Name "+quoted).Replace(remedy)
}

// ByVirtualCard reports a spreader by which each virtual card, and so each address
// of the host's own, has one link for all that it sends.
func ByVirtualCard(s steer.Spreader) bool {
	switch s := s.(type) {
	case VSwitch:
		return s.perPort()
	case Team:
		return s.Hash == HyperVPort
	}
	return false
}

// ByLoad reports a spreader that moves flows between links by their load.
func ByLoad(s steer.Spreader) bool {
	t, ok := s.(Team)
	return ok && t.Hash == Dynamic
}

// Text names a bond of a system that is not Linux for people; "" for any other
// spreader.
func Text(s steer.Spreader) string {
	switch s := s.(type) {
	case VSwitch:
		if s.Mode == LACPGroup {
			return fmt.Sprintf("ESXi virtual switch, lacp, hash %s, over %d uplinks", s.Fields, len(s.Uplinks))
		}
		return fmt.Sprintf("ESXi virtual switch, %s, over %d uplinks", s.Mode, len(s.Uplinks))
	case Team:
		return fmt.Sprintf("Windows team, %s, %s, over %d members", s.Mode, s.Hash, len(s.Members))
	case steer.EtherChannel:
		return fmt.Sprintf("AIX EtherChannel, mode %s, hash mode %s, over %d adapters", s.Mode, s.Hash, len(s.Adapters))
	case steer.Lagg:
		hash := "lagghash " + s.Hash.String()
		if s.UseFlowID {
			hash = bondopt.FlowID
		}
		return fmt.Sprintf("FreeBSD lagg, laggproto %s, %s, over %d ports", s.Proto, hash, len(s.Ports))
	}
	return ""
}

// Policy is the policy's word in a document; "" for a spreader of another kind.
func Policy(s steer.Spreader) string {
	switch s := s.(type) {
	case VSwitch:
		if s.Mode == LACPGroup {
			return s.Mode + " " + s.Fields
		}
		return s.Mode
	case Team:
		return s.Mode + " " + s.Hash
	case steer.EtherChannel:
		if s.Mode == steer.ChannelRoundRobin || s.Mode == steer.ChannelBackup {
			return s.Mode.String()
		}
		return s.Hash.String()
	case steer.Lagg:
		if s.UseFlowID {
			return bondopt.FlowID
		}
		if s.Proto == steer.LaggLACP || s.Proto == steer.LaggLoadBalance {
			return s.Proto.String() + " " + s.Hash.String()
		}
		return s.Proto.String()
	}
	return ""
}

const noLink = "no usable link"

func unplaced(why string) steer.Placement { return steer.Placement{Index: -1, Why: why} }

// first is the first of a bond's links, where that is all there is to choose.
func first(links []string) steer.Placement {
	if len(links) == 0 {
		return unplaced(noLink)
	}
	return steer.Placement{Index: 0, Link: links[0], Known: true}
}

// few is the reach of less than two links.
func few(links []string) steer.Reach {
	if len(links) == 0 {
		return steer.Reach{Why: noLink}
	}
	return steer.Reach{Why: "only one link is usable"}
}

// alike reports frames of which one part is the same.
func alike(frames []flow.Frame, part func(flow.Frame) any) bool {
	for _, f := range frames {
		if part(f) != part(frames[0]) {
			return false
		}
	}
	return true
}

func source(f flow.Frame) any { return f.Src }
