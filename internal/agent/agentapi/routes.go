package agentapi

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// MostRoutes bounds the flows of one request, which is no long one by that: whoever
// has more asks again.
const MostRoutes = 2048

// RoutesRequest asks where the kernel sends flows of this host. Nothing is
// sent. Ports that are zero are left out of the question.
type RoutesRequest struct {
	Flows []flow.Tuple `json:"flows"`
}

// Check refuses a request with more flows than one answer holds.
func (r RoutesRequest) Check() error {
	if len(r.Flows) > MostRoutes {
		return fmt.Errorf("route %d flows: want at most %d in one request", len(r.Flows), MostRoutes)
	}
	return nil
}

// RoutesReply is the kernel's answers, in the order of the flows.
type RoutesReply struct {
	Routes []Route `json:"routes"`
}

// Route is where one flow goes.
type Route struct {
	// Link is the outgoing interface, "lo" for an address of the host itself;
	// "" when there is no route, and Why says the kernel's reason.
	Link string `json:"link,omitempty"`
	// Gateway is the next hop; not valid when the destination is on the link.
	Gateway netip.Addr `json:"gateway,omitzero"`
	// Src is the address the flow leaves with.
	Src netip.Addr `json:"src,omitzero"`
	// MAC is the next hop's Ethernet address where the neighbour table has it.
	MAC flow.MAC `json:"mac,omitzero"`
	// MTU is the route's own limit; zero is the link's.
	MTU int `json:"mtu_bytes,omitempty"`
	// Doubt says why the kernel's answer may not be what a socket's flow gets;
	// "" when it is.
	Doubt string `json:"doubt,omitempty"`
	Why   string `json:"why,omitempty"`
}

// NextHop is the gateway, or the destination where there is none.
func (r Route) NextHop(dst netip.Addr) netip.Addr {
	if r.Gateway.IsValid() {
		return r.Gateway
	}
	return dst
}
