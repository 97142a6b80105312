package agent

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/corerate"
)

func (a *Agent) coreRate(ctx context.Context, req agentapi.CoreRateRequest) (agentapi.CoreRateReply, error) {
	return corerate.Run(ctx, corerate.Config{Namespace: a.cfg.Namespace, CPU: a.counters.processors, Time: req.Span(), Logger: a.cfg.Logger})
}
