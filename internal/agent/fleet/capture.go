package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Capture packs the host as a tar.gz. An agent that cannot yet is
// errors.ErrUnsupported.
func (h *Host) Capture(ctx context.Context, r agentapi.CaptureRequest) (agentapi.CaptureReply, error) {
	return call[agentapi.CaptureReply](ctx, h, agentapi.MethodCapture, r)
}
