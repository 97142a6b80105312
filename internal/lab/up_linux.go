package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/linerate/linerate/internal/apply"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// ownerFile names the process that a lab on this machine belongs to.
const ownerFile = "/run/linerate-lab.json"

// Up builds a topology in this kernel and returns how to take it down again,
// which the caller must do. What a dead run left is removed first; a living
// one is ErrBusy. Needs root, else fs.ErrPermission.
func Up(ctx context.Context, t Topology) (down func() error, err error) {
	if err := claim(); err != nil {
		return nil, err
	}
	n, err := build(ctx, t)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return func() error { return errors.Join(n.remove(), release()) }, nil
}

// claim takes the lab for this process.
func claim() error {
	var holder apply.Owner
	text, err := os.ReadFile(ownerFile)
	if err == nil && json.Unmarshal(text, &holder) == nil && holder.Alive() {
		return fmt.Errorf("start lab: %w (process %d)", ErrBusy, holder.PID)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("start lab: %w", err)
	}
	if err := sweep(); err != nil {
		return err
	}
	text, err = json.Marshal(apply.CurrentOwner())
	if err != nil {
		return fmt.Errorf("start lab: %w", err)
	}
	if err := os.WriteFile(ownerFile, text, 0o600); err != nil {
		return fmt.Errorf("start lab: %w", err)
	}
	return nil
}

// sweep removes the namespaces of a lab whose process is gone. The prefix
// marks them as ours.
func sweep() error {
	names, err := netns.List()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			errs = append(errs, netns.Delete(name))
		}
	}
	return errors.Join(errs...)
}

func release() error {
	if err := os.Remove(ownerFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end lab: %w", err)
	}
	return nil
}
