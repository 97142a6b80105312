//go:build !linux

package corerate

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Run is errors.ErrUnsupported: processor time is read on Linux only.
func Run(context.Context, Config) (agentapi.CoreRateReply, error) {
	return agentapi.CoreRateReply{}, fmt.Errorf("measure a core: %w", errors.ErrUnsupported)
}
