package system

import (
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// The words of a Windows team that have rules here: TeamingMode of LBFO, SET, and
// LoadBalancingAlgorithm, of which SET has the first two. bondopt's table of
// systems has all words.
const (
	Static = "Static"
	LACP   = "Lacp"
	SET    = "SET" // switch embedded teaming, which is switch independent

	Dynamic        = "Dynamic"
	HyperVPort     = "HyperVPort"
	TransportPorts = "TransportPorts"
	IPAddresses    = "IPAddresses"
	MacAddresses   = "MacAddresses"
)

// Team is a team of Windows Server, LBFO or SET. What its algorithms take is
// documented (Set-NetLbfoTeam, Set-VMSwitchTeam), how they compute is not: no
// flow's member can be told beforehand.
type Team struct {
	Mode, Hash string
	// Members are those that are active.
	Members []string
}

var _ steer.Grouper = Team{}

// Links are the members.
func (t Team) Links() []string { return t.Members }

// Place says which member sends f: known only where there is one.
func (t Team) Place(flow.Frame) steer.Placement {
	if len(t.Members) < 2 {
		return first(t.Members)
	}
	return unplaced(t.Reach().Why)
}

// Groups says which frames share a member, as steer.Bundle.Groups does. Frames
// have one sender and one next hop, and a virtual card for each source address.
func (t Team) Groups(frames []flow.Frame) (groups []int, known bool, why string) {
	one := len(t.Members) == 1
	switch t.Hash {
	case HyperVPort:
		one = one || alike(frames, source)
	case IPAddresses:
		one = one || alike(frames, func(f flow.Frame) any { return flow.Lane{Src: f.Src, Dst: f.Dst} })
	case MacAddresses:
		one = one || alike(frames, func(f flow.Frame) any { return [2]flow.MAC{f.SrcMAC, f.DstMAC} })
	}
	if one && len(t.Members) > 0 {
		return make([]int, len(frames)), true, ""
	}
	return nil, false, t.Reach().Why
}

// Reach returns the team's reach for TCP and UDP.
func (t Team) Reach() steer.Reach {
	if len(t.Members) < 2 {
		return few(t.Members)
	}
	switch t.Hash {
	case HyperVPort:
		return steer.Reach{Addresses: true, Why: "HyperVPort: each virtual card (vNIC) keeps one member for all its flows" + secretRule}
	case TransportPorts:
		return steer.Reach{Ports: true, Addresses: true, Why: "TransportPorts: each flow keeps one member, and its addresses and ports decide which" + secretRule}
	case IPAddresses:
		return steer.Reach{Addresses: true, Why: "IPAddresses takes no ports: all flows of one pair of addresses share one member" + secretRule}
	case MacAddresses:
		return steer.Reach{Why: "MacAddresses: all flows between two hosts share one member"}
	}
	return steer.Reach{Ports: true, Addresses: true, Why: "Dynamic places flows on members by their ports, and moves them by load when they pause"}
}

// flows are those that one program opens between several addresses.
const flows = "SMB multichannel, or iSCSI MPIO with a session for each pair of addresses"

// arrivalRemedy says what would let more members receive.
func (t Team) arrivalRemedy() string {
	if t.Mode == SET {
		return "several vNICs with an address each (" + flows + ")"
	}
	return "Set-NetLbfoTeam -Name TEAM -TeamingMode Lacp, with a LACP group on the switch; or no team, and an address on each member (" + flows + ")"
}

// Remedy says what would use more members.
func (t Team) Remedy() string {
	set := "Set-NetLbfoTeam -Name TEAM -LoadBalancingAlgorithm TransportPorts"
	if t.Mode == SET {
		set = "Set-VMSwitchTeam -Name SWITCH -LoadBalancingAlgorithm Dynamic"
	}
	switch t.Hash {
	case TransportPorts, Dynamic:
		return "open more flows (" + flows + "), and look where they go (linerate steer probe)"
	case HyperVPort:
		return "several vNICs with an address each (" + flows + "), or " + set
	}
	return set + ", and several flows (" + flows + ")"
}
