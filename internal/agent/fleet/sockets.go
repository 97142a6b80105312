package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Sockets lists the host's sockets and which ports it keeps for what.
func (h *Host) Sockets(ctx context.Context, r agentapi.SocketsRequest) (agentapi.SocketsReply, error) {
	return call[agentapi.SocketsReply](ctx, h, agentapi.MethodSockets, r)
}
