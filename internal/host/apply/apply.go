// Package apply changes one host so that it can always be changed back. It must
// never decide what to change: that is the plan's. A change goes so:
//
//	lock, read preconditions, journal on disk, guard armed,
//	  each step: begun in the journal, done, read back, links carry, journal;
//	  check of the host, applied; confirming, files, confirmed
//	  or: error, Ctrl-C, deadline, kill -9: reverting, last step first, rolled back
//
// The lock (flock) ends with its holder. A value that is no longer what the plan
// saw stops everything before the first step. A value that is no longer what was
// written is left at rollback and reported: somebody else owns it now. So is what
// is gone.
//
// The journal is the directory that makes a change reversible without the process
// that made it. It says begun before a step and done after the step was seen to
// hold; whoever recovers looks whether a begun step happened. An entry has two
// files of one length that take turns under its name (RENAME_EXCHANGE): a disk that
// is full later does not matter, one that is full at once refuses the change.
// Don't touch the host before its entry is on the disk. The last KeepEntries
// changes of a namespace are kept, none for longer than KeepTime.
//
// A rollback does not stop at an error, nor when its context ends, nor without
// a journal; what fails is tried again when the rest is rolled back. One that was
// cut short stays reverting: it is gone on with, files first, and cannot be
// confirmed.
//
// Configuration files are written when the change is confirmed, only in the
// directories of a fixed list. Their new texts lie beside them, synced, before the
// journal says confirming. From then on a crash is finished forwards, by the
// guard, at the next boot, or by the next command that changes something; before
// that a reboot rolls every change back.
//
// The guard rolls back what nobody confirmed by its deadline, on the monotonic
// clock. Where systemd runs it is a transient unit, and BootUnit waits for the
// next boot while something is pending; elsewhere it is a process of its own
// session, and nothing is installed. A timer in the process of the ssh
// session would die with it. Don't make the guard depend on the network that it
// is to restore.
//
// A group is the entries of one run on one host, and is rolled back as one. The
// newest entry names, in one write and before anything is touched, all that are
// rolled back with it. Don't roll an older entry back before a newer one.
//
// A host is locked by one run a network namespace (Hold). Don't take that lock to
// read.
package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/plan"
)

// Kernel is what a plan is carried out on. Both run in the network namespace
// of the calling thread; the applier calls them on the goroutine that called
// it.
type Kernel interface {
	// Do carries one step out, without waiting for its effect.
	Do(context.Context, plan.Step) error
	// Read is what the step's target is now, in the words of Old and New.
	Read(context.Context, plan.Step) (string, error)
	// Ready is "" when the link carries traffic, else what it waits for.
	Ready(ctx context.Context, link string) (string, error)
}

// DefaultDir is where the journal is. It must be on a disk that outlives the
// process: not on a tmpfs that a service manager clears.
const DefaultDir = "/var/lib/linerate/journal"

// DefaultDeadline is how long a change stands unconfirmed. Slow LACP needs 90 s
// to declare a partner lost (3 x 30 s, IEEE 802.1AX), so that a shorter one
// would fire before the damage shows.
const DefaultDeadline = 2 * time.Minute

// Config is where and on what an Applier works.
type Config struct {
	Kernel Kernel // required
	// Dir is the journal's directory; "" is DefaultDir. Made with mode 0700.
	Dir string
	// Namespace names the network namespace that the calling thread is in; ""
	// is the process's own. Only entries of the same name are touched.
	Namespace string
	// Settle is how long a step may take to show when it does not say so
	// itself; zero is 3 s. Poll is the pause between two looks; zero is 20 ms.
	Settle time.Duration
	Poll   time.Duration
	// Ready is how long a link that a step disturbs may take to carry again;
	// zero is 30 s: a switch that runs spanning tree forwards after that time
	// (forward delay twice, IEEE 802.1D), LACP needs a few seconds.
	Ready time.Duration
	// Root is where configuration files are; "" is /. For tests.
	Root string
	// Moment, when set, is called between any two things that are done to the
	// journal's or the files' disk: a test ends the process there.
	Moment func()
	// StartGuard arms the dead man before the first step: nil is none. The
	// package's StartGuard is the one to use.
	StartGuard func(ctx context.Context, c Config, id string) error
	// Log is told of state changes; nil is silence.
	Log *slog.Logger
}

// Options are what to do differently for one plan.
type Options struct {
	// Deadline is how long the change may stand unconfirmed; zero is
	// DefaultDeadline. It counts from the journal entry, before the guard is armed.
	Deadline time.Duration
	// Temporary ends the change with the process that made it, also while it
	// stands applied: the guard rolls it back at once when that process dies.
	Temporary bool
	// Pause is how long to wait between arming the guard and the first step:
	// starting a process disturbs what is to be watched.
	Pause time.Duration
	// Begin is called when journal and guard stand, and returns when the first
	// step may be done; after an error nothing is done. nil waits for nobody.
	Begin func(context.Context) error
	// Check looks at the whole host after the last step, before the change
	// counts as applied; an error takes everything back. It is called on
	// Apply's goroutine, with a context that ends at the deadline, while the
	// lock is held; should the process die in it, the guard takes all back.
	// nil is no check.
	Check func(context.Context) error
	// Group is the run that the change is a step of; zero is none.
	Group Group
	// Wait waits for the lock, while the context lasts, where Apply would
	// otherwise answer ErrLocked.
	Wait bool
}

// Result is what became of a plan.
type Result struct {
	// ID names the journal entry, for Confirm and Rollback; "" when nothing
	// was written because there was nothing to do or a precondition failed.
	ID    string
	State agentapi.ChangeState
	// Applied is how many steps were done, RolledBack how many were taken back.
	Applied    int
	RolledBack int
	// Left are changes not taken back because somebody else has changed the
	// same thing since, in words.
	Left []string
	// Files are the configuration files written, or about to be.
	Files []string
}

// The errors that callers act on.
var (
	// ErrChanged: a thing is no longer what the plan saw; nothing was touched.
	ErrChanged = errors.New("the host has changed since the plan was made")
	// ErrPending: an earlier change waits to be confirmed or rolled back.
	ErrPending = errors.New("an earlier change is neither confirmed nor rolled back")
	// ErrState: the journal entry is not in a state that allows the request.
	ErrState = errors.New("not possible in this state")
	// ErrNotVerified: what is read back is not what was written.
	ErrNotVerified = errors.New("the change does not show")
)

// StepError is a step that did not go through, or the check after the last.
type StepError struct {
	// Step is zero where Check is set: it was Options.Check that said no.
	Step  plan.Step
	Check bool
	// RolledBack reports that everything done before was taken back.
	RolledBack bool
	Err        error
}

func (e *StepError) Error() string {
	what, word := e.Step.Change(), "what was done before is rolled back"
	if e.Check {
		what = "check of the host after the change"
	}
	if !e.RolledBack {
		word = "NOT everything could be rolled back"
	}
	return fmt.Sprintf("%s: %v (%s)", what, e.Err, word)
}

// Unwrap is the step's own error.
func (e *StepError) Unwrap() error { return e.Err }

// Applier carries plans out on one host and namespace. It holds no lock and no
// file between calls and starts no goroutine.
type Applier struct {
	cfg     Config
	journal *Journal
	self    Owner
	first   uint64 // start of the first process (Entry.First)
}

// New returns an applier; it touches nothing.
func New(c Config) (*Applier, error) {
	if c.Kernel == nil {
		return nil, errors.New("new applier: no kernel given")
	}
	if c.Dir == "" {
		c.Dir = DefaultDir
	}
	if c.Settle == 0 {
		c.Settle = 3 * time.Second
	}
	if c.Poll == 0 {
		c.Poll = 20 * time.Millisecond
	}
	if c.Ready == 0 {
		c.Ready = 30 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	journal := OpenJournal(c.Dir)
	journal.moment = c.Moment
	first, _ := startTicks(1)
	return &Applier{cfg: c, journal: journal, self: CurrentOwner(), first: first}, nil
}

// Apply carries a plan out: the lock, the preconditions, the journal, the
// guard, then the steps, each read back and the links that it disturbs waited
// for, then Options.Check. On any error, or when ctx ends, what was done is
// undone in reverse before Apply returns, ctx or not. The result is in state
// applied and waits for Confirm, which writes the plan's files; or rolled-back,
// or failed when not all could be undone, with a *StepError. ErrLocked,
// ErrPending, ErrChanged, a *FileError and an error in writing the journal
// (syscall.ENOSPC: the disk is full) mean that nothing was touched. A plan
// without steps and files is confirmed at once.
func (a *Applier) Apply(ctx context.Context, p plan.Plan, o Options) (Result, error) {
	if o.Deadline == 0 {
		o.Deadline = DefaultDeadline
	}
	if err := o.Group.check(); err != nil {
		return Result{}, err
	}
	lock := a.lock
	if o.Wait {
		lock = a.waitLock
	}
	unlock, err := lock(ctx, "apply")
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	newest, err := a.nothingPending()
	if err != nil {
		return Result{}, err
	}
	observed, err := a.preconditions(ctx, p)
	if err != nil {
		return Result{}, err
	}
	if len(p.Steps) == 0 && len(p.Files) == 0 {
		return Result{State: agentapi.ChangeConfirmed}, nil
	}
	e := a.newEntry(p, observed, o.Deadline, newest)
	e.Temporary, e.Group = o.Temporary, o.Group
	if e.Carried, err = a.carried(ctx, p); err != nil {
		return Result{}, err
	}
	if err := a.journal.write(&e); err != nil {
		return Result{}, fmt.Errorf("write journal: %w", err)
	}
	if a.cfg.StartGuard != nil {
		a.armBoot(&e)
		// The guard is another process: what it cannot write it can tell nobody.
		if err := a.journal.takes(armedRoom); err != nil {
			return a.abandon(&e, fmt.Errorf("write journal: no room for its guard's word: %w", err))
		}
		if err := a.cfg.StartGuard(ctx, a.cfg, e.ID); err != nil {
			return a.abandon(&e, fmt.Errorf("start guard: %w", err))
		}
		e.guard, _ = a.journal.readArmed(e.ID)
	}
	limited, cancel := context.WithTimeout(ctx, e.left()) // as the guard counts: somebody may set the clock
	defer cancel()
	if err := o.awaitBegin(limited); err != nil {
		return a.abandon(&e, err)
	}
	return a.run(limited, &e, o.Check)
}

// abandon ends an entry none of whose steps was begun.
func (a *Applier) abandon(e *Entry, cause error) (Result, error) {
	e.State, e.Reason = agentapi.ChangeRolledBack, note(reason(cause))
	err := a.journal.write(e)
	a.ended(e)
	return e.result(), errors.Join(cause, err)
}

// run does the steps one at a time. The journal says which one before it is
// begun and after it has been seen to hold.
func (a *Applier) run(ctx context.Context, e *Entry, check func(context.Context) error) (Result, error) {
	for i := range e.Steps {
		err := ctx.Err()
		if err == nil {
			err = a.step(ctx, e, i)
		}
		if err != nil {
			return a.takeBack(ctx, e, &StepError{Step: e.Plan.Steps[i], Err: err})
		}
	}
	if check != nil {
		if err := check(ctx); err != nil {
			return a.takeBack(ctx, e, &StepError{Check: true, Err: err})
		}
	}
	e.State = agentapi.ChangeApplied
	err := ctx.Err()
	if err == nil {
		err = a.journal.write(e)
	}
	if err != nil {
		failed := &StepError{Check: len(e.Steps) == 0, Err: err}
		if n := len(e.Steps); n > 0 {
			failed.Step = e.Plan.Steps[n-1]
		}
		return a.takeBack(ctx, e, failed)
	}
	a.cfg.Log.Info("change applied", "journal", e.ID, "steps", len(e.Steps), "deadline", e.Deadline)
	return e.result(), nil
}

func (a *Applier) step(ctx context.Context, e *Entry, i int) error {
	s := e.Plan.Steps[i]
	e.Steps[i].Progress = agentapi.StepBegun
	if err := a.journal.write(e); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := a.cfg.Kernel.Do(ctx, s); err != nil {
		return err
	}
	if err := a.verify(ctx, s); err != nil {
		return err
	}
	if err := a.waitReady(ctx, e, s, a.cfg.Ready); err != nil {
		return err
	}
	e.Steps[i].Progress = agentapi.StepDone
	if err := a.journal.write(e); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	a.cfg.Log.Info("step done", "journal", e.ID, "step", s.Change())
	return nil
}

// takeBack undoes what was done because of cause. The context that ended must
// not end the way back too.
func (a *Applier) takeBack(ctx context.Context, e *Entry, cause *StepError) (Result, error) {
	e.Reason = reason(cause.Err)
	err := a.rollBackSteps(context.WithoutCancel(ctx), e)
	cause.RolledBack = e.State == agentapi.ChangeRolledBack
	return e.result(), errors.Join(cause, err)
}

// verify waits, with patience, until the step is seen to hold.
func (a *Applier) verify(ctx context.Context, s plan.Step) error {
	patience := max(s.Settle, a.cfg.Settle)
	var now string
	var err error
	for start := time.Now(); ; {
		if now, err = a.cfg.Kernel.Read(ctx, s); err == nil && now == s.New {
			return nil
		}
		if time.Since(start) >= patience {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(a.cfg.Poll):
		}
	}
	if err != nil {
		return fmt.Errorf("read back %s: %w", s.Target(), err)
	}
	return fmt.Errorf("%w: %s is %s after %v, wanted %s", ErrNotVerified, s.Target(), now, patience, s.New)
}

// preconditions reads what every step and file starts from. What belongs to a
// link that the plan itself makes is not there yet.
func (a *Applier) preconditions(ctx context.Context, p plan.Plan) (map[string]string, error) {
	if err := checkFiles(p.Files); err != nil {
		return nil, err
	}
	if len(p.Files) > 0 && a.cfg.Root == "" && (a.cfg.Namespace != "" || netns.Inside()) {
		return nil, &FileError{p.Files[0].Path, fmt.Errorf("%w: it is the machine's, not a network namespace's", ErrPath)}
	}
	observed := make(map[string]string)
	var changed []error
	for _, s := range p.Preconditions() {
		now, err := a.cfg.Kernel.Read(ctx, s)
		if errors.Is(err, fs.ErrNotExist) && madeBefore(p.Steps[:firstOf(p, s)], s) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.Target(), err)
		}
		observed[s.Target()] = now
		if now != s.Old {
			changed = append(changed, fmt.Errorf("%w: %s is %s, not %s", ErrChanged, s.Target(), now, s.Old))
		}
	}
	if _, err := filesAsPlanned(a.cfg.Root, p.Files); err != nil {
		changed = append(changed, err)
	}
	return observed, errors.Join(changed...)
}

// firstOf is the index of the first step with s's target.
func firstOf(p plan.Plan, s plan.Step) int {
	return max(slices.IndexFunc(p.Steps, func(t plan.Step) bool { return t.Target() == s.Target() }), 0)
}

// nothingPending looks for a change that has not ended, and names the newest one.
// One of an earlier boot counts when its files are between old and new.
func (a *Applier) nothingPending() (newest string, err error) {
	entries, problems, err := a.List()
	if err != nil {
		return "", err
	}
	for _, p := range problems {
		a.cfg.Log.Warn("journal entry cannot be read", "file", p.File, "err", p.Err)
	}
	for _, e := range entries {
		if e.State.Pending() && (e.Boot == a.self.Boot || len(e.Files) > 0) {
			waits := agentapi.JournalEntry{ID: e.ID, Title: e.Group.Title, State: e.State, Deadline: e.Deadline}
			return "", fmt.Errorf("%w: %s", ErrPending, waits.Waiting())
		}
	}
	a.sweep(entries)
	if n := len(entries); n > 0 {
		newest = entries[n-1].ID
	}
	return newest, nil
}
