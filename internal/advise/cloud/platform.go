package cloud

import "net/netip"

// Addresses at which providers answer their instances.
var (
	// WireServer is where Azure's agent, DHCP and health probes live; it answers on a
	// machine's first interface only.
	WireServer = netip.AddrFrom4([4]byte{168, 63, 129, 16})
	// Metadata is the instance metadata service of most; but on AWS it answers on the
	// first interface only.
	Metadata = netip.AddrFrom4([4]byte{169, 254, 169, 254})
)
