package agent

import (
	"context"
	"errors"
	"io/fs"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/host/conffile"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/plan"
)

// applier works in the agent's namespace: its kernel enters it for each step.
func (a *Agent) applier() (*apply.Applier, error) {
	return apply.New(apply.Config{
		Kernel: act.Kernel{}, Dir: a.cfg.JournalDir, Namespace: a.cfg.Namespace.Name, Root: a.cfg.Root, StartGuard: a.cfg.StartGuard, Log: a.cfg.Logger,
	})
}

// inside runs f with an applier on a thread in the agent's namespace.
func (a *Agent) inside(f func(*apply.Applier) error) error {
	err := a.cfg.Namespace.Do(func() error {
		ap, err := a.applier()
		if err != nil {
			return err
		}
		return f(ap)
	})
	if errors.Is(err, apply.ErrLocked) || errors.Is(err, apply.ErrPending) {
		return errors.Join(err, agentapi.ErrBusy)
	}
	if errors.Is(err, apply.ErrState) {
		return &agentapi.Error{Code: agentapi.CodeState, Text: err.Error()}
	}
	return err
}

// refused reports a plan whose first step already is not permitted: nothing was
// changed that had to be taken back.
func refused(p plan.Plan, step *apply.StepError) bool {
	return !step.Check && len(p.Steps) > 0 && step.Step.Target() == p.Steps[0].Target() && errors.Is(step, fs.ErrPermission)
}

// apply puts back what dead runs left before it changes anything itself.
func (a *Agent) apply(ctx context.Context, req agentapi.ApplyRequest) (agentapi.ApplyReply, error) {
	var reply agentapi.ApplyReply
	var begin func(context.Context) error
	if req.Gate != "" {
		g, leave, err := a.gates.use(req.Gate, true)
		if err != nil {
			return reply, err
		}
		defer leave()
		defer a.gates.end(req.Gate)
		begin = g.wait
	}
	err := a.inside(func(ap *apply.Applier) error {
		if _, err := ap.Recover(ctx); err != nil {
			return err
		}
		if req.Check {
			return ap.Changeable(ctx)
		}
		r, err := ap.Apply(ctx, req.Plan, apply.Options{
			Deadline: req.Deadline, Temporary: req.Temporary, Pause: req.Pause, Begin: begin, Group: apply.Group{ID: req.Group, Title: req.Title},
		})
		reply = agentapi.ApplyReply{Journal: r.ID, Applied: r.Applied}
		step := (*apply.StepError)(nil)
		switch errors.As(err, &step); {
		case step != nil && !step.RolledBack:
			return &agentapi.Error{Code: agentapi.CodeHalf, Text: err.Error()}
		case step != nil && !refused(req.Plan, step):
			reply.RolledBack = err.Error()
			return nil
		}
		return err
	})
	return reply, err
}

func (a *Agent) rollback(ctx context.Context, req agentapi.RollbackRequest) (agentapi.RollbackReply, error) {
	var reply agentapi.RollbackReply
	err := a.inside(func(ap *apply.Applier) error {
		if req.Group != "" {
			results, err := ap.RollbackGroup(ctx, req.Group)
			reply = groupReply(results)
			return err
		}
		rollback := ap.Rollback
		if req.Unconfirmed {
			rollback = ap.RollbackUnconfirmed
		}
		r, err := rollback(ctx, req.Journal)
		reply = agentapi.RollbackReply{Journal: r.ID, RolledBack: r.RolledBack, Left: r.Left}
		return err
	})
	return reply, err
}

// groupReply sums up what became of a group.
func groupReply(results []apply.Result) agentapi.RollbackReply {
	var reply agentapi.RollbackReply
	for _, r := range results {
		reply.RolledBack += r.RolledBack
		reply.Left = append(reply.Left, r.Left...)
		reply.Entries = append(reply.Entries, agentapi.RolledBackEntry{Journal: r.ID, State: r.State, RolledBack: r.RolledBack})
	}
	return reply
}

func (a *Agent) confirm(ctx context.Context, req agentapi.ConfirmRequest) (agentapi.Empty, error) {
	return agentapi.Empty{}, a.inside(func(ap *apply.Applier) error {
		if req.Check {
			return ap.Keepable(ctx, req.Journal)
		}
		return ap.Confirm(ctx, req.Journal)
	})
}

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
	files, err := conffile.Read(userfile.Tree(root), req.Format)
	return agentapi.ConfigFilesReply{Files: files}, err
}
