package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agentapi"
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
