package subflow

import (
	"net/netip"

	"github.com/linerate/linerate/netstate"
)

// firstEndpointID is the number of the first endpoint of a plan: far from
// those that the kernel gives out, which count from 1, so that taking the plan
// back names its own endpoints only.
const firstEndpointID = 101

// StartLimits is what MPTCP's path manager is set to when Linux starts: limits
// of a new namespace (net/mptcp/pm_kernel.c), no endpoints.
func StartLimits() netstate.MPTCP { return netstate.MPTCP{Subflows: 2} }

// before is what a path manager was set to: what was given, or what Linux
// starts with.
func before(given *netstate.MPTCP) netstate.MPTCP {
	if given == nil {
		return StartLimits()
	}
	return *given
}

// settings fills in both hosts' limits and endpoints. Both limit how many
// subflows a connection may have; only the client's limits what it takes of
// the server's announcements. A limit that is higher already stays.
func (s *Subflows) settings(req SubflowRequest) {
	client, server := before(req.ClientBefore), before(req.ServerBefore)
	more := len(s.Flows) - 1
	s.Client = netstate.MPTCP{
		Subflows:        max(more, client.Subflows),
		AddAddrAccepted: max(len(s.AddFar), client.AddAddrAccepted),
		Endpoints:       endpoints(s.AddNear, netstate.MPTCPSubflow, client),
	}
	s.Server = netstate.MPTCP{
		Subflows:        max(more, server.Subflows),
		AddAddrAccepted: server.AddAddrAccepted,
		Endpoints:       endpoints(s.AddFar, netstate.MPTCPSignal, server),
	}
}

func endpoints(addrs []netip.Addr, flags netstate.MPTCPFlags, host netstate.MPTCP) []netstate.MPTCPEndpoint {
	taken := map[int]bool{}
	for _, e := range host.Endpoints {
		taken[e.ID] = true
	}
	var out []netstate.MPTCPEndpoint
	id := firstEndpointID
	for _, a := range addrs {
		for taken[id] {
			id++
		}
		out = append(out, netstate.MPTCPEndpoint{ID: id, Addr: a, Flags: flags})
		id++
	}
	return out
}
