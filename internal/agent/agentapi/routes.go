package agentapi

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
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
	Routes []netstate.FlowRoute `json:"routes"`
}
