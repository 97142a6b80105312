//go:build !linux

package ping

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Run is errors.ErrUnsupported: raw ICMP is done for Linux alone.
func Run(context.Context, agentapi.PingRequest) (agentapi.PingReply, error) {
	return agentapi.PingReply{}, fmt.Errorf("send ICMP echo: %w", errors.ErrUnsupported)
}
