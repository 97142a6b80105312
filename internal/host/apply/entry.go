package apply

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/plan"
)

// StepState is the progress of the plan's step of the same index.
type StepState struct {
	Progress agentapi.StepProgress `json:"progress"`
	// Note says why a step was left, or could not be undone.
	Note string `json:"note,omitempty"`
}

// FileState is how far the plan's file of the same index has come: pending,
// done when its new text is written, undone, or left when it holds neither the
// old nor the new text.
type FileState struct {
	Progress agentapi.StepProgress `json:"progress"`
	Note     string                `json:"note,omitempty"`
	// Real is the file itself where the plan's path is a symbolic link.
	Real string `json:"real"`
	// Mode and the owner are those of the file there was; Mode zero: none was.
	Mode uint32 `json:"mode,omitempty"`
	UID  int    `json:"uid"`
	GID  int    `json:"gid"`
}

// entryVersion is the journal format's. An entry of another version is
// reported and left alone.
const entryVersion = 1

// Entry is one journal file: everything needed to take a change back without
// the process that made it.
type Entry struct {
	Version   int                  `json:"version"`
	ID        string               `json:"id"`
	State     agentapi.ChangeState `json:"state"`
	Reason    string               `json:"reason,omitempty"` // why it was taken back
	Namespace string               `json:"namespace,omitempty"`
	Started   time.Time            `json:"started"`
	Deadline  time.Time            `json:"deadline"`
	// DeadlineUp is the deadline in time since boot, which nobody sets; zero
	// where that cannot be read.
	DeadlineUp time.Duration `json:"deadline_since_boot_ns,omitempty"`
	// Temporary: the change is to end with its owner.
	Temporary bool `json:"temporary,omitempty"`
	// Group is the run that the change is a step of.
	Group Group `json:"group,omitzero"`
	// With are the entries that were asked to go back together with this one,
	// written with state reverting before any of them is touched.
	With []string `json:"with,omitempty"`
	// Asked: it is to go back, and nothing of it was touched for that yet.
	Asked bool `json:"asked,omitempty"`
	// Owner is the process that applies, or applied, the plan.
	Owner
	// First is the start of the first process, in clock ticks since boot: a container
	// that is started anew is in the boot that it was in. Zero is unknown.
	First uint64 `json:"first_start_ticks,omitempty"`

	Plan plan.Plan `json:"plan"`
	// Observed is what was read just before the first step, by target.
	Observed map[string]string `json:"observed"`
	Steps    []StepState       `json:"steps"`
	// Carried are the links that carried traffic before the first step, of
	// those that some step disturbs: only they are waited for.
	Carried []string `json:"carried,omitempty"`
	// Root is the directory that the plan's files are in; "" is /.
	Root string `json:"root,omitempty"`
	// Files are the states of the plan's files, written with state confirming,
	// before the first of them is touched; their old texts are the plan's.
	Files []FileState `json:"files,omitempty"`

	guard Owner // who looks after it; zero where nobody does, or it is not known
}

// newEntry is the entry of a plan; newest is the name of the one before it.
func (a *Applier) newEntry(p plan.Plan, observed map[string]string, deadline time.Duration, newest string) Entry {
	now := time.Now().UTC()
	e := Entry{
		Version: entryVersion, ID: newID(nameTime(now, newest)), State: agentapi.ChangeOpen, Namespace: a.cfg.Namespace, Started: now,
		Deadline: now.Add(deadline), Owner: a.self, First: a.first, Plan: p, Observed: observed,
		Steps: make([]StepState, len(p.Steps)), Root: a.cfg.Root,
	}
	for i := range e.Steps {
		e.Steps[i].Progress = agentapi.StepPending
	}
	if up := sinceBoot(); up > 0 {
		e.DeadlineUp = up + deadline
	}
	return e
}

// left is how much of an entry's time is left: by the time since boot, also where
// the time of day was set meanwhile, in the entry's boot.
func (e *Entry) left() time.Duration {
	if up := sinceBoot(); up > 0 && e.DeadlineUp > 0 && e.Owner.ThisBoot() {
		return e.DeadlineUp - up
	}
	return time.Until(e.Deadline)
}

// clockless is a time before which no entry was made: a host that says so had not
// been told the time yet.
var clockless = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// age is how long ago an entry was made: in its boot by the time since that, else by
// the time of day. Zero where that was not known.
func (e *Entry) age() time.Duration {
	if up := sinceBoot(); up > 0 && e.DeadlineUp > 0 && e.Owner.ThisBoot() {
		return up - e.DeadlineUp + e.Deadline.Sub(e.Started)
	}
	if e.Started.Before(clockless) {
		return 0
	}
	return time.Since(e.Started)
}

// newID sorts by time; the random end keeps two namespaces' entries apart.
func newID(now time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return now.Format(idTime) + "-" + hex.EncodeToString(b[:])
}

const idTime = "20060102T150405.000000Z"

// nameTime is the time for the name of a change that is made now, after the one
// named newest: changes are rolled back by their names' order, and the time of day
// may have been set back between the two.
func nameTime(now time.Time, newest string) time.Time {
	text, _, _ := strings.Cut(newest, "-")
	before, err := time.Parse(idTime, text)
	if err != nil || before.Before(now.Truncate(time.Microsecond)) {
		return now
	}
	return before.Add(time.Microsecond)
}

// validID keeps a name that came from outside within the directory.
func validID(id string) bool {
	if id == "" || len(id) > 64 || id[0] == '.' {
		return false
	}
	for _, c := range id {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// check says what an entry read from disk lacks.
func (e *Entry) check(id string) error {
	switch {
	case e.Version != entryVersion:
		return fmt.Errorf("version %d, this program knows %d", e.Version, entryVersion)
	case e.ID != id:
		return fmt.Errorf("entry calls itself %.80q", e.ID)
	case !e.State.Known():
		return fmt.Errorf("unknown state %.40q", e.State)
	case len(e.Steps) != len(e.Plan.Steps):
		return fmt.Errorf("progress of %d steps, plan of %d", len(e.Steps), len(e.Plan.Steps))
	}
	for _, other := range e.With {
		if !validID(other) {
			return fmt.Errorf("no entry's name: %.80q", other)
		}
	}
	for i, s := range e.Steps {
		if !s.Progress.Known() {
			return fmt.Errorf("step %d: unknown progress %.40q", i+1, s.Progress)
		}
	}
	return e.checkFiles()
}

func (e *Entry) checkFiles() error {
	if len(e.Files) != 0 && len(e.Files) != len(e.Plan.Files) || e.State == agentapi.ChangeConfirming && len(e.Files) != len(e.Plan.Files) {
		return fmt.Errorf("states of %d files, plan of %d", len(e.Files), len(e.Plan.Files))
	}
	if err := checkFiles(e.Plan.Files); err != nil {
		return err
	}
	for i, f := range e.Files {
		if !f.Progress.Known() {
			return fmt.Errorf("file %d: unknown progress %.40q", i+1, f.Progress)
		}
		if !filepath.IsAbs(f.Real) || filepath.Clean(f.Real) != f.Real {
			return fmt.Errorf("file %d: no absolute path %.80q", i+1, f.Real)
		}
	}
	return nil
}

func (e *Entry) result() Result {
	r := Result{ID: e.ID, State: e.State}
	for _, s := range e.Steps {
		switch s.Progress {
		case agentapi.StepDone:
			r.Applied++
		case agentapi.StepRolledBack:
			r.RolledBack++
		case agentapi.StepLeft:
			r.Left = append(r.Left, s.Note)
		}
	}
	for i, f := range e.Files {
		switch f.Progress {
		case agentapi.StepDone:
			r.Files = append(r.Files, e.Plan.Files[i].Path)
		case agentapi.StepLeft:
			r.Left = append(r.Left, f.Note)
		}
	}
	return r
}
