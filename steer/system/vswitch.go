package system

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// How an ESXi virtual switch chooses an uplink (`esxcli network vswitch standard
// policy failover get`), and a distributed switch's LACP group. bondopt's table
// of systems has all words.
const (
	PortID    = "portid"    // originating virtual port, ESXi's default
	SourceMAC = "mac"       // source MAC hash
	IPHash    = "iphash"    // IP hash, with a static channel on the switch
	Explicit  = "explicit"  // the first uplink that works
	LoadBased = "loadbased" // virtual port, moved by load
	LACPGroup = "lacp"
)

// VSwitch is a virtual switch of ESXi with its uplinks.
//
// VMware publishes one of its rules, IP hash, and in two ways: the last octets of
// both addresses are XORed (vSphere Networking 6.5 to 7.0, "Route Based on IP
// Hash"), or the addresses as they are (its support blog of 2013, and every
// worked example); the result is taken modulo the number of uplinks. The two
// agree where that number is a power of two; where they do not, a flow's uplink
// is unknown. IPv6, and frames that are not IP, have no published rule.
type VSwitch struct {
	Mode string
	// Fields is what a LACP group hashes, such as srcDestIpTcpUdpPortVlan.
	Fields string
	// Uplinks are the active adapters in the order of the teaming policy.
	Uplinks []string
}

var _ steer.Grouper = VSwitch{}

// Links are the uplinks.
func (v VSwitch) Links() []string { return v.Uplinks }

// Place says which uplink sends f. Hash is the XOR of both addresses.
func (v VSwitch) Place(f flow.Frame) steer.Placement {
	switch {
	case len(v.Uplinks) < 2, v.Mode == Explicit:
		return first(v.Uplinks)
	case v.Mode != IPHash:
		return unplaced(v.Reach().Why)
	}
	whole, octets, why := v.hashes(f)
	if why != "" {
		return unplaced(why)
	}
	if whole != octets {
		return unplaced(fmt.Sprintf("VMware describes its IP hash in two ways, and with %d uplinks they differ: uplink %d by the whole addresses, %d by their last octets; %s",
			len(v.Uplinks), whole, octets, probeWords))
	}
	hash := xorOf(f)
	return steer.Placement{Hash: &hash, Index: whole, Link: v.Uplinks[whole], Known: true}
}

// hashes are the uplinks of f by both descriptions of IP hash; why is set where
// neither covers it.
func (v VSwitch) hashes(f flow.Frame) (whole, octets int, why string) {
	switch {
	case f.EtherType != 0 && f.EtherType != 0x0800:
		return 0, 0, "VMware publishes no way to compute IP hash for frames that are not IP"
	case !f.Src.IsValid() || !f.Dst.IsValid():
		return 0, 0, "IP hash takes both IP addresses, and one is not given"
	case steer.Is6(f.Src) || steer.Is6(f.Dst):
		return 0, 0, "VMware publishes IP hash for IPv4 only: " + probeWords
	}
	x, n := xorOf(f), uint32(len(v.Uplinks))
	return int(x % n), int(x & 0xff % n), ""
}

// xorOf is the XOR of two IPv4 addresses.
func xorOf(f flow.Frame) uint32 {
	src, dst := f.Src.Unmap().As4(), f.Dst.Unmap().As4()
	return binary.BigEndian.Uint32(src[:]) ^ binary.BigEndian.Uint32(dst[:])
}

// Readings lists how the frames may share uplinks: once for each description of
// IP hash; why is set where none can be told.
func (v VSwitch) Readings(frames []flow.Frame) (all [][]int, why string) {
	if v.Mode != IPHash {
		return nil, v.Reach().Why
	}
	whole, octets := make([]int, len(frames)), make([]int, len(frames))
	for i, f := range frames {
		if whole[i], octets[i], why = v.hashes(f); why != "" {
			return nil, why
		}
	}
	return steer.Distinct([][]int{whole, octets}), ""
}

// Groups says which frames share an uplink, as steer.Bundle.Groups does. Frames of
// one sender are taken to come from one virtual port for each source address.
func (v VSwitch) Groups(frames []flow.Frame) (groups []int, known bool, why string) {
	switch {
	case len(v.Uplinks) == 0:
		return nil, false, noLink
	case len(v.Uplinks) == 1, v.Mode == Explicit, v.perPort() && alike(frames, source):
		return make([]int, len(frames)), true, ""
	}
	all, why := v.Readings(frames)
	switch {
	case why != "":
		return nil, false, why
	case len(all) > 1:
		return nil, false, "VMware describes its IP hash in two ways, and they differ here"
	}
	return all[0], true, ""
}

// perPort reports policies by which a virtual port, the port of one virtual card,
// has one uplink for all that it sends and receives.
func (v VSwitch) perPort() bool {
	return v.Mode == PortID || v.Mode == SourceMAC || v.Mode == LoadBased
}

// Reach returns the switch's reach for TCP and UDP over IPv4. Addresses of the
// policies by virtual port are those of other virtual cards: another VMkernel
// adapter or guest.
func (v VSwitch) Reach() steer.Reach {
	if len(v.Uplinks) < 2 {
		return few(v.Uplinks)
	}
	const each = "each virtual card (a VMkernel adapter or a guest's) keeps one uplink for all its flows"
	switch v.Mode {
	case IPHash:
		return steer.Reach{Addresses: true, Chosen: true,
			Why: "IP hash takes both IP addresses, not ports: all flows of one pair of addresses share one uplink"}
	case Explicit:
		return steer.Reach{Why: "explicit failover order sends on the first uplink that works"}
	case SourceMAC:
		return steer.Reach{Addresses: true, Why: "source MAC hash: " + each + secretRule}
	case LoadBased:
		return steer.Reach{Addresses: true, Why: "route based on physical NIC load: " + each + ", and is moved by load; esxtop (n) shows which it has now"}
	case LACPGroup:
		return v.lacpReach()
	}
	return steer.Reach{Addresses: true, Why: "originating virtual port: " + each + ", which esxtop (n) shows and nobody can compute"}
}

// lacpReach is that of a LACP group by the fields in its hash's name.
func (v VSwitch) lacpReach() steer.Reach {
	r := steer.Reach{Ports: strings.Contains(v.Fields, "TcpUdpPort"), Addresses: strings.Contains(strings.ToLower(v.Fields), "ip")}
	what := "LACP with hash " + v.Fields
	switch {
	case r.Ports:
		r.Why = what + ": each flow keeps one uplink, ports are among what decides which"
	case r.Addresses:
		r.Why = what + " takes no ports: all flows of one pair of addresses share one uplink"
	default:
		r.Why = what + " takes neither addresses of IP nor ports: all flows between two virtual cards share one uplink"
		return r
	}
	r.Why += secretRule
	return r
}

// Remedy says what would use more uplinks.
func (v VSwitch) Remedy() string {
	const ipHash = "esxcli network vswitch standard policy failover set -v vSwitchN -l iphash, with a static channel on the switch and every uplink active"
	switch v.Mode {
	case Explicit:
		return "esxcli network vswitch standard policy failover set -v vSwitchN -l portid, and several VMkernel adapters or guests"
	case IPHash:
		return "several addresses of the peer (an NFS datastore or iSCSI portal each) that differ in their last bits: linerate steer addresses --system esxi chooses them"
	case LACPGroup:
		if !v.Reach().Ports {
			return "give the LACP group a hash with ports in vSphere, such as srcDestIpTcpUdpPort"
		}
		return "open more flows and look where they go (linerate steer probe)"
	}
	return "several VMkernel adapters or guests, each on an uplink of its own (iSCSI port binding with MPIO round robin is that); or " + ipHash
}
