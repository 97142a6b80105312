package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// StartTool runs another traffic tool that the host has installed.
func (h *Host) StartTool(ctx context.Context, r agentapi.ToolRequest) (agentapi.ToolReply, error) {
	return call[agentapi.ToolReply](ctx, h, agentapi.MethodToolStart, r)
}

// EndTool waits for a tool that sends, stops one that receives, and returns
// what it reported.
func (h *Host) EndTool(ctx context.Context, r agentapi.ToolEndRequest) (agentapi.ToolEndReply, error) {
	return call[agentapi.ToolEndReply](ctx, h, agentapi.MethodToolEnd, r)
}
