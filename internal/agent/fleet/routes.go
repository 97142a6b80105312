package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Routes asks where the host's kernel sends flows: which next hop of a
// multipath route too. Sockets' flows; nothing is sent.
func (h *Host) Routes(ctx context.Context, r agentapi.RoutesRequest) (agentapi.RoutesReply, error) {
	if err := r.Check(); err != nil {
		return agentapi.RoutesReply{}, err
	}
	return call[agentapi.RoutesReply](ctx, h, agentapi.MethodRoutes, r)
}
