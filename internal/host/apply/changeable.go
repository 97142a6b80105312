package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
)

// entryRoom is what most entries take on the disk, their spare included.
const entryRoom = 64 << 10

// Changeable looks, without changing anything, whether a plan could be carried
// out here now: nil, or the error that Apply would begin with. Who measures
// before it changes asks first.
func (a *Applier) Changeable(ctx context.Context) error {
	unlock, err := a.lock(ctx, "apply")
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := a.nothingPending(); err != nil {
		return err
	}
	if err := a.journal.takes(entryRoom); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// armedRoom is what a guard's word takes on the disk.
const armedRoom = padTo

// takes writes that many bytes beside the entries, and removes them again.
func (j *Journal) takes(room int) error {
	f, err := os.CreateTemp(j.dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Repeat([]byte{' '}, room))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}
