//go:build !linux

package agent

import "github.com/linerate/linerate/internal/agent/agentapi"

// capabilities is not known of systems that nobody asked yet.
func (a *Agent) capabilities() agentapi.Capabilities { return nil }
