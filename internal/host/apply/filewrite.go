package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/statefile"
	"github.com/linerate/linerate/plan"
)

// draftPath is where a file's next text waits, beside the file. Its name begins
// with a dot: no configuration system reads such a file.
func draftPath(real, id string) string {
	return filepath.Join(filepath.Dir(real), "."+filepath.Base(real)+".linerate-"+id)
}

// draft writes a file's next text beside it, with the mode, owner and
// attributes that the file is to have, on the disk. A nil text needs none.
func draft(f plan.File, st FileState, id string, next *string) (err error) {
	if next == nil {
		return nil
	}
	path := draftPath(st.Real, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// A file of our own making: what has the name already is not written through.
	if err := ignoreGone(os.Remove(path)); err != nil {
		return err
	}
	out, err := statefile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.WriteString(*next)
	if err == nil {
		err = dress(out, f, st)
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// dress gives a draft the mode, owner and attributes that the file is to have.
func dress(out *os.File, f plan.File, st FileState) error {
	mode := fs.FileMode(f.Mode).Perm()
	if st.Mode != 0 {
		mode = fs.FileMode(st.Mode).Perm()
	}
	if mode == 0 {
		mode = 0o600
	}
	var err error
	if st.Mode != 0 {
		// Ownership that cannot be kept is an error: the file might become
		// unreadable to its program. Labels are kept where it is possible.
		err = own(out, st.UID, st.GID)
		_ = copyAttributes(st.Real, out.Name())
	}
	return errors.Join(err, out.Chmod(mode))
}

// own changes the owner where it is another one.
func own(out *os.File, uid, gid int) error {
	info, err := out.Stat()
	if err != nil {
		return err
	}
	if u, g := statefile.Owner(info); u == uid && g == gid {
		return nil
	}
	return out.Chown(uid, gid)
}

// put gives the draft the file's name, or removes the file, on the disk.
func put(real, id string, next *string) error {
	var err error
	if next == nil {
		err = ignoreGone(os.Remove(real))
	} else {
		err = os.Rename(draftPath(real, id), real)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(real))
}

// dropDrafts removes what was written beside the files, also before the journal
// knew of it.
func (e *Entry) dropDrafts() {
	for _, f := range e.Plan.Files {
		if real, err := resolve(e.Root, f.Path); err == nil {
			_ = os.Remove(draftPath(real, e.ID))
		}
	}
	for _, f := range e.Files {
		_ = os.Remove(draftPath(f.Real, e.ID))
	}
}

// draftFiles writes every file's new text beside it. An error leaves none.
func (e *Entry) draftFiles() error {
	for i, f := range e.Plan.Files {
		if err := draft(f, e.Files[i], e.ID, f.New); err != nil {
			e.dropDrafts()
			return &FileError{f.Path, err}
		}
	}
	return nil
}

// writeFiles takes every file from its old text to its new one; drafted says
// that this process has just drafted them. One that holds neither text is
// somebody else's now: it is left, and said.
func (a *Applier) writeFiles(e *Entry, drafted bool) error {
	var problems []error
	for i, f := range e.Plan.Files {
		if err := a.exchangeText(e, i, f.Old, f.New, drafted); err != nil {
			problems = append(problems, &FileError{f.Path, err})
			continue
		}
		e.Files[i].reached(agentapi.StepDone)
	}
	if len(problems) == 0 {
		e.dropDrafts()
	}
	return errors.Join(problems...)
}

// restoreFiles takes every file back, last one first.
func (a *Applier) restoreFiles(e *Entry) error {
	var problems []error
	for i := range slices.Backward(e.Files) { // none before the confirmation
		f := e.Plan.Files[i]
		if err := a.exchangeText(e, i, f.New, f.Old, false); err != nil {
			e.Files[i].Note = note(err.Error())
			problems = append(problems, &FileError{f.Path, fmt.Errorf("restore: %w", err)})
			continue
		}
		e.Files[i].reached(agentapi.StepRolledBack)
	}
	e.dropDrafts()
	return errors.Join(problems...)
}

func (st *FileState) reached(p agentapi.StepProgress) {
	if st.Progress != agentapi.StepLeft {
		st.Progress, st.Note = p, ""
	}
}

// exchangeText replaces a file that holds from by one that holds to.
func (a *Applier) exchangeText(e *Entry, i int, from, to *string, drafted bool) error {
	f, st := e.Plan.Files[i], &e.Files[i]
	st.Progress = agentapi.StepPending
	real, err := resolve(e.Root, f.Path)
	if err != nil {
		return err
	}
	now, _, err := readText(real)
	switch {
	case err != nil:
		return err
	case real != st.Real:
		st.Progress, st.Note = agentapi.StepLeft, note(f.Path+": it is a link to another file now: left as it is")
		return nil
	case sameText(now, to):
		return nil
	case !sameText(now, from):
		st.Progress, st.Note = agentapi.StepLeft, note(f.Path+": its text is neither the old nor the new one: left as it is")
		return nil
	}
	a.journal.pass()
	if !drafted {
		if err := draft(f, *st, e.ID, to); err != nil {
			return err
		}
		a.journal.pass()
	}
	if err := put(real, e.ID, to); err != nil {
		return err
	}
	a.journal.pass()
	return nil
}
