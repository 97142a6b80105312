package netstate

import (
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// FlowRoute is where a host's kernel sends one flow (RTM_GETROUTE).
type FlowRoute struct {
	// Link is the outgoing interface, "lo" for an address of the host itself;
	// "" when there is no route, and Why says the kernel's reason.
	Link string `json:"link,omitempty"`
	// Gateway is the next hop; not valid when the destination is on the link.
	Gateway netip.Addr `json:"gateway,omitzero"`
	// Src is the address the flow leaves with.
	Src netip.Addr `json:"src,omitzero"`
	// MAC is the next hop's Ethernet address where the neighbour table has it.
	MAC flow.MAC `json:"mac,omitzero"`
	// MTU is the route's own limit in bytes; zero is the link's.
	MTU int `json:"mtu_bytes,omitempty"`
	// Doubt says why the kernel's answer may not be what a socket's flow gets;
	// "" when it is.
	Doubt string `json:"doubt,omitempty"`
	Why   string `json:"why,omitempty"`
}

// NextHop is the gateway, or the destination where there is none.
func (r FlowRoute) NextHop(dst netip.Addr) netip.Addr {
	if r.Gateway.IsValid() {
		return r.Gateway
	}
	return dst
}
