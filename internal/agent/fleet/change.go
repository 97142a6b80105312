package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Journal lists the changes that are journalled on the host.
func (h *Host) Journal(ctx context.Context) (agentapi.JournalReply, error) {
	return call[agentapi.JournalReply](ctx, h, agentapi.MethodJournal, agentapi.JournalRequest{})
}

// ConfigFiles reads the files of one configuration system; a format that has
// none is errors.ErrUnsupported.
func (h *Host) ConfigFiles(ctx context.Context, format string) (agentapi.ConfigFilesReply, error) {
	return call[agentapi.ConfigFilesReply](ctx, h, agentapi.MethodConfigFiles, agentapi.ConfigFilesRequest{Format: format})
}

// Armed returns when the change of that gate, which another call has under way, is
// journalled on the host and its guard stands.
func (h *Host) Armed(ctx context.Context, gate string) error {
	_, err := call[agentapi.ArmedReply](ctx, h, agentapi.MethodArmed, agentapi.ArmedRequest{Gate: gate})
	return err
}

// Begin lets the change of that gate begin, or ends it with nothing done.
func (h *Host) Begin(ctx context.Context, r agentapi.BeginRequest) error {
	_, err := call[agentapi.BeginReply](ctx, h, agentapi.MethodBegin, r)
	return err
}
