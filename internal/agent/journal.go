package agent

import (
	"context"
	"os"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/host/conffile"
)

func (a *Agent) journal(context.Context, agentapi.Empty) (agentapi.JournalReply, error) {
	reply := agentapi.JournalReply{Entries: []agentapi.JournalEntry{}}
	ap, err := a.applier()
	if err != nil {
		return reply, err
	}
	entries, problems, err := ap.List()
	for _, e := range entries {
		reply.Entries = append(reply.Entries, journalEntry(e))
	}
	for _, p := range problems {
		reply.Problems = append(reply.Problems, p.Error())
	}
	return reply, err
}

func journalEntry(e apply.Entry) agentapi.JournalEntry {
	out := agentapi.JournalEntry{
		ID: e.ID, Group: e.Group.ID, Title: e.Group.Title, State: e.State, Reason: e.Reason, Started: e.Started, Deadline: e.Deadline, Pending: e.State.Pending(),
	}
	for i, s := range e.Plan.Steps {
		out.Steps = append(out.Steps, agentapi.JournalStep{Step: s, Progress: e.Steps[i].Progress, Note: e.Steps[i].Note})
	}
	for _, f := range e.Plan.Files {
		out.Files = append(out.Files, f.Path)
	}
	return out
}

// configFiles reads the machine's files: another network namespace has none.
func (a *Agent) configFiles(_ context.Context, req agentapi.ConfigFilesRequest) (agentapi.ConfigFilesReply, error) {
	root := a.cfg.Root
	if root == "" {
		root = "/"
	}
	files, err := conffile.Read(os.DirFS(root), req.Format)
	return agentapi.ConfigFilesReply{Files: files}, err
}
