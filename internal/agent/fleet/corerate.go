package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// CoreRate measures what one core of the host sends and receives.
func (h *Host) CoreRate(ctx context.Context, r agentapi.CoreRateRequest) (agentapi.CoreRateReply, error) {
	return call[agentapi.CoreRateReply](ctx, h, agentapi.MethodCoreRate, r)
}
