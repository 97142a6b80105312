package plan

import (
	"slices"
	"strconv"

	"github.com/linerate/linerate/netstate"
)

// mptcp sets the path manager's limits and endpoints. An endpoint is its
// address, port, link and flags; one that differs in any of them is another.
func (b *builder) mptcp() {
	want := b.want.MPTCP
	if want == nil {
		return
	}
	if b.now.MPTCP == nil {
		b.problem("mptcp", "this kernel has no MPTCP, or it was not observed")
		return
	}
	for _, limit := range [...]struct {
		key string
		n   int
	}{{"subflows", want.Subflows}, {"add_addr_accepted", want.AddAddrAccepted}} {
		b.do(Step{Kind: MPTCPLimit, Key: limit.key, New: strconv.Itoa(limit.n), Disruption: Online})
	}
	for _, e := range slices.Clone(b.now.MPTCP.Endpoints) {
		if e.Flags&netstate.MPTCPImplicit == 0 && endpointIndex(want.Endpoints, e) < 0 {
			b.do(endpointStep(e, Absent, ""))
		}
	}
	for _, e := range want.Endpoints {
		if e.Flags&netstate.MPTCPImplicit == 0 && endpointIndex(b.now.MPTCP.Endpoints, e) < 0 {
			b.do(endpointStep(e, Present, ""))
		}
	}
	if n := len(b.now.MPTCP.Endpoints); n > netstate.MPTCPMax {
		b.problem("mptcp endpoints", "%d are more than the %d the kernel has (MPTCP_PM_ADDR_MAX)", n, netstate.MPTCPMax)
	}
}

func endpointStep(e netstate.MPTCPEndpoint, to, why string) Step {
	e.Index = 0
	return Step{Kind: MPTCPEndpoint, Link: e.Link, Endpoint: &e, New: to, Disruption: Online, Why: why}
}
