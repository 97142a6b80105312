package fabric

import (
	"net/netip"

	"github.com/linerate/linerate/netstate"
)

// Settings are wishes for a host's network that netplan has no words for. They
// stand beside `network` in the file; a zero field wants nothing.
type Settings struct {
	// Bonding holds bond options by bond and kernel name
	// (/sys/class/net/BOND/bonding), for those that netplan lacks.
	Bonding map[string]map[string]string
	// Links holds the settings of devices by netplan ID.
	Links map[string]LinkSettings
	// Multipath are routes with several next hops.
	Multipath []MultipathRoute
	// MPTCP is nil where the file says nothing of it.
	MPTCP *netstate.MPTCP
	// Profiles are sets of sysctls by name; nil and empty are none.
	Profiles []string
	// Roles say what else the host is ("router", "kubernetes", "multihomed",
	// "benchmark"), which some settings must spare.
	Roles []string
	// SourceRules are netplan IDs whose addresses get a routing table and a
	// rule each, so that what comes in by a link also leaves by it.
	SourceRules []string
	// Absent are links that the host must not have.
	Absent []string
}

// LinkSettings are a device's. Zero numbers, nil maps and "" leave it as it is.
type LinkSettings struct {
	Offloads   map[string]bool // by the short names of `ethtool -K`
	RingRx     int
	RingTx     int
	Channels   map[string]int // "rx", "tx", "combined"
	Coalescing map[string]int // by the names of `ethtool -C`
	Qdisc      string         // root queueing discipline in tc(8)'s words
	// Port are the options of a bond's port, by the kernel's name.
	Port map[string]string
}

// MultipathRoute is a route over several next hops.
type MultipathRoute struct {
	To     netip.Prefix
	Table  int // zero: main
	Metric int
	Hops   []netstate.NextHop
}
