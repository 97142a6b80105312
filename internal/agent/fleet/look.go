package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// LLDP hears what the neighbours on links say of themselves.
func (h *Host) LLDP(ctx context.Context, r agentapi.LLDPRequest) (agentapi.LLDPReply, error) {
	return call[agentapi.LLDPReply](ctx, h, agentapi.MethodLLDP, r)
}

// Calibrate finds out which port of a bond each of a few frames takes.
func (h *Host) Calibrate(ctx context.Context, r agentapi.CalibrateRequest) (agentapi.CalibrateReply, error) {
	return call[agentapi.CalibrateReply](ctx, h, agentapi.MethodCalibrate, r)
}
