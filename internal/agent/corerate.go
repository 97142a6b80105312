package agent

import (
	"context"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/corerate"
)

func (a *Agent) coreRate(ctx context.Context, req agentapi.CoreRateRequest) (agentapi.CoreRateReply, error) {
	return corerate.Run(ctx, corerate.Config{Namespace: a.cfg.Namespace, CPU: a.counters.processors, Time: req.Span(), Logger: a.cfg.Logger})
}
