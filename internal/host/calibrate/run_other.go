//go:build !linux

package calibrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Run is errors.ErrUnsupported: only Linux's bond can be calibrated.
func Run(_ context.Context, req agentapi.CalibrateRequest) (agentapi.CalibrateReply, error) {
	return agentapi.CalibrateReply{}, fmt.Errorf("calibrate %s: %w", req.Bond, errors.ErrUnsupported)
}
