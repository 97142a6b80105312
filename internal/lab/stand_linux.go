package lab

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/statefile"
)

// startTime is the longest a lab may take to come up: a kernel's start and its
// bonds' negotiation, on a busy machine.
const startTime = 4 * time.Minute

// StandUp builds a blueprint under a name and leaves it standing: in namespaces
// of the running kernel, or in a lab kernel that a process of its own keeps.
// ErrStands when a lab of that name stands; what a fallen one left is removed
// first, and told. When ctx ends before it is up, nothing is left.
func StandUp(ctx context.Context, c Choice, name, scenario string, b Blueprint, tell func(string)) (Standing, error) {
	if err := CheckName(name); err != nil {
		return Standing{}, err
	}
	b.Lab = name
	members, err := b.Members()
	if err != nil {
		return Standing{}, err
	}
	if _, err := b.encode(); err != nil {
		return Standing{}, err
	}
	s, err := claimName(ctx, Standing{Name: name, Scenario: scenario, BackEnd: c.BackEnd, Why: c.Why, Net: b, Members: members}, tell)
	if err != nil {
		return s, err
	}
	if c.BackEnd == Local {
		err = s.standHere(ctx)
	} else {
		s, err = s.standApart(ctx, c)
	}
	if err != nil {
		// ctx may have ended: the way back does not listen to it.
		return s, errors.Join(fmt.Errorf("start lab %s: %w", name, err), s.end(false))
	}
	return s, nil
}

// claimName makes a lab's directory, with its state in it from the first
// moment on.
func claimName(ctx context.Context, s Standing, tell func(string)) (Standing, error) {
	dir, err := makeStandingDir()
	if err != nil {
		return s, err
	}
	unlock, err := lockLabs(ctx, dir)
	if err != nil {
		return s, err
	}
	defer unlock()
	drafts, _ := filepath.Glob(filepath.Join(dir, newPrefix+"*"))
	for _, d := range drafts { // we have the lock: nobody works on them
		_ = os.RemoveAll(d)
	}
	old, err := Find(s.Name)
	if !errors.Is(err, ErrNoLab) {
		why := old.Ruin()
		if err != nil {
			why = oneLine(err)
		}
		if why == "" {
			return old, fmt.Errorf("start lab %s: %w", s.Name, ErrStands)
		}
		if err := old.end(true); err != nil {
			return s, fmt.Errorf("remove what lab %s left: %w", s.Name, err)
		}
		tell(fmt.Sprintf("lab %s had fallen (%s): what it left is removed", s.Name, why))
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	s.ID, s.Keeper, s.Began = hex.EncodeToString(id[:]), apply.CurrentOwner(), time.Now().UTC().Truncate(time.Second)
	if s.dir, err = os.MkdirTemp(dir, newPrefix); err != nil {
		return s, fmt.Errorf("make lab directory: %w", err)
	}
	if err := s.save(); err != nil {
		return s, errors.Join(err, os.RemoveAll(s.dir))
	}
	home := filepath.Join(dir, s.Name)
	if err := os.Rename(s.dir, home); err != nil {
		return s, errors.Join(fmt.Errorf("make lab directory: %w", err), os.RemoveAll(s.dir))
	}
	s.dir = home
	return s, nil
}

// lockLabs waits for the lock on a user's labs, which is held while one is
// claimed or ended.
func lockLabs(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := statefile.Open(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock labs: %w", err)
	}
	for {
		ok, err := sys.TryLock(f)
		if ok {
			return func() { f.Close() }, nil
		}
		if err == nil {
			select {
			case <-time.After(50 * time.Millisecond):
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		f.Close()
		return nil, fmt.Errorf("lock labs: %w", err)
	}
}

// standHere builds it in the running kernel, where it needs nobody to stand.
func (s *Standing) standHere(ctx context.Context) error {
	n, err := s.Net.build(ctx)
	if err != nil {
		return err
	}
	n.leave()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err
	}
	s.Up, s.Release = true, strings.TrimSpace(string(release))
	return s.save()
}

// standApart starts the lab's keeper and waits until it is up.
func (s Standing) standApart(ctx context.Context, c Choice) (Standing, error) {
	log, err := statefile.Open(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return s, err
	}
	defer log.Close()
	keeper, err := guest.StartKeeper([]string{"lab", "keep", s.Name, s.ID}, []string{envKernelDir + "=" + c.Kernel}, log)
	if err != nil {
		return s, err
	}
	// From here on it is the keeper that writes the state.
	s.Keeper = apply.OwnerOf(keeper)
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		now, err := Find(s.Name)
		switch {
		case err != nil:
			return s, err
		case now.ID != s.ID:
			return s, errors.New("another took its place")
		case now.Failed != "":
			return now, errors.New(now.Failed)
		case now.Up:
			return now, nil
		case !s.Keeper.Alive():
			return s, fmt.Errorf("its keeper ended (%s)", lastWords(log.Name()))
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

// lastWords is the last line of a log.
func lastWords(path string) string {
	text, _ := statefile.Read(path, mostState)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// TakeDown ends a lab wholly, one that has fallen too: processes, namespaces,
// directory. ErrNoLab when there is none of that name.
func TakeDown(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(standingDir()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end lab %s: %w", name, ErrNoLab)
	}
	unlock, err := lockLabs(ctx, standingDir())
	if err != nil {
		return err
	}
	defer unlock()
	s, err := Find(name)
	if errors.Is(err, ErrNoLab) {
		return fmt.Errorf("end lab %s: %w", name, ErrNoLab)
	}
	// With its state lost there is only its directory to remove: a keeper ends
	// when the state is gone, and its kernel with it.
	if err := s.end(true); err != nil {
		return fmt.Errorf("end lab %s: %w", name, err)
	}
	return nil
}

// end removes a lab. The caller is its keeper, starts it, or has the lock;
// with keeper the process that starts or keeps it is ended first, unless it is
// this one.
func (s Standing) end(starter bool) error {
	if now, err := Find(s.Name); err == nil && now.ID == s.ID {
		if now.Keeper.PID == os.Getpid() {
			now.Keeper = s.Keeper // it has been started and has not said so yet
		}
		s = now
	}
	var errs []error
	if s.Keeper.PID != os.Getpid() && (starter || s.BackEnd != Local) {
		errs = append(errs, endProcess(s.Keeper))
	}
	if s.Machine.ThisBoot() {
		errs = append(errs, endGroup(s.Machine, s.Keeper.PID))
	}
	if s.BackEnd == Local {
		for _, name := range namespaces(s.Members) {
			errs = append(errs, endNamespace(name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // the directory stays: it says what is to be ended
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove lab directory: %w", err)
	}
	return nil
}

// endPatience is how long a process is given to end by itself, and how long it
// may take to be gone when it is killed.
const endPatience = 5 * time.Second

// endProcess interrupts a process, and kills it when it does not go.
func endProcess(o apply.Owner) error {
	p, err := os.FindProcess(o.PID) // a handle: the number cannot go to another while we hold it
	if err != nil || !o.Alive() {
		return nil
	}
	defer func() { _ = p.Release() }()
	for _, how := range []os.Signal{os.Interrupt, os.Kill} {
		if err := p.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("end process %d: %w", o.PID, err)
		}
		for begin := time.Now(); time.Since(begin) < endPatience; time.Sleep(10 * time.Millisecond) {
			if !o.Alive() {
				return nil
			}
		}
	}
	return fmt.Errorf("end process %d: it does not go", o.PID)
}

// endGroup ends what is left of a lab kernel.
func endGroup(first apply.Owner, session int) error {
	for begin := time.Now(); time.Since(begin) < endPatience; time.Sleep(10 * time.Millisecond) {
		n, err := guest.EndGroup(first.PID, session, first.Start)
		if n == 0 || err != nil {
			return err
		}
	}
	return fmt.Errorf("end lab kernel: processes of group %d do not go", first.PID)
}

// endNamespace ends the programs in a namespace, which would keep its links,
// and removes it.
func endNamespace(name string) error {
	if !strings.HasPrefix(name, prefix) {
		return fmt.Errorf("end namespace %q: not ours", name)
	}
	for begin := time.Now(); time.Since(begin) < endPatience; time.Sleep(20 * time.Millisecond) {
		inside, err := netns.Processes(name)
		inside = slices.DeleteFunc(inside, func(pid int) bool { return pid == os.Getpid() }) // taken down from within
		if err != nil || len(inside) == 0 {
			break // what cannot be looked at is removed all the same
		}
		for _, pid := range inside {
			if p, err := os.FindProcess(pid); err == nil {
				if again, err := netns.Holds(name, pid); err == nil && again {
					_ = p.Kill()
				}
				_ = p.Release()
			}
		}
	}
	return netns.Delete(name)
}

// missingNamespace is a namespace of a lab on the running kernel that is
// gone; "" when all are there.
func missingNamespace(members []Member) string {
	there, err := netns.List()
	if err != nil {
		return ""
	}
	for _, want := range namespaces(members) {
		if !slices.Contains(there, want) {
			return want
		}
	}
	return ""
}

// standingOwns reports whether a namespace of the running kernel belongs to a
// lab that stands.
func standingOwns(namespace string) bool {
	all, err := List()
	if err != nil {
		return false
	}
	for _, s := range all {
		if s.BackEnd == Local && s.Ruin() == "" && slices.Contains(namespaces(s.Members), namespace) {
			return true
		}
	}
	return false
}

// Run runs a command in a lab with a kernel of its own; the request's
// arguments are for this program there. A lab that has fallen is ErrUnstable.
func (s Standing) Run(r guest.Request, streams guest.Streams) (status int, err error) {
	status, err = guest.Attach(s.dir, r, streams)
	if err != nil && !errors.Is(err, guest.ErrRefused) {
		if now, again := Find(s.Name); again != nil || now.ID != s.ID {
			err = errors.Join(fmt.Errorf("%w: it was taken down", ErrUnstable), err)
		} else if why := now.Ruin(); why != "" {
			err = fmt.Errorf("%w: %s", ErrUnstable, why)
		}
	}
	return status, err
}
