package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Traffic watches the traffic that the host has already; nothing is sent.
func (h *Host) Traffic(ctx context.Context, r agentapi.TrafficRequest) (agentapi.TrafficReply, error) {
	if err := r.Check(); err != nil {
		return agentapi.TrafficReply{}, err
	}
	return call[agentapi.TrafficReply](ctx, h, agentapi.MethodTraffic, r)
}
