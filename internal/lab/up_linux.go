package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/statefile"
)

// ownerFile names the process that a lab on this machine belongs to.
const ownerFile = "/run/linerate-lab.json"

// owner is what the owner file says: who has a lab up, and which namespaces
// are its.
type owner struct {
	apply.Owner
	Namespaces []string `json:"namespaces"`
}

// Up builds a topology in this kernel and returns how to take it down again,
// which the caller must do. What a dead run left is removed first; a living
// one is ErrBusy. Needs root, else fs.ErrPermission.
func Up(ctx context.Context, t Topology) (down func() error, err error) {
	return Blueprint{Lab: t.Lab, Topology: &t}.Up(ctx)
}

// Up is the same for a blueprint.
func (b Blueprint) Up(ctx context.Context) (down func() error, err error) {
	names, err := b.Namespaces()
	if err != nil {
		return nil, err
	}
	if err := claim(names); err != nil {
		return nil, err
	}
	n, err := b.build(ctx)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return func() error { return errors.Join(n.remove(), release()) }, nil
}

// build makes what the blueprint says, see build.
func (b Blueprint) build(ctx context.Context) (*network, error) {
	if b.Topology != nil {
		return build(ctx, b.topology())
	}
	what, err := b.network()
	if err != nil {
		return nil, err
	}
	s, err := raise(ctx, what)
	if err != nil {
		return nil, err
	}
	return s.built, nil
}

// claim takes the lab for this process. The file appears whole and only once:
// of two that come together one fails.
func claim(namespaces []string) error {
	if err := sweep(); err != nil {
		return err
	}
	mine := owner{Owner: apply.CurrentOwner(), Namespaces: namespaces}
	text, err := json.Marshal(mine)
	if err != nil {
		return fmt.Errorf("start lab: %w", err)
	}
	draft := fmt.Sprintf("%s.%d", ownerFile, mine.PID)
	if err := statefile.Replace(draft, text, 0o600); err != nil {
		return fmt.Errorf("start lab: %w", err)
	}
	defer os.Remove(draft)
	if err := os.Link(draft, ownerFile); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("start lab: %w", ErrBusy)
	} else if err != nil {
		return fmt.Errorf("start lab: %w", err)
	}
	return nil
}

// sweep removes the namespaces that a dead lab named as its own, and its
// claim. A living lab is ErrBusy.
func sweep() error {
	text, err := readOwner()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("start lab: %w", err)
	}
	var holder owner
	if err := json.Unmarshal(text, &holder); err != nil {
		return fmt.Errorf("start lab: read %s: %w", ownerFile, err)
	}
	if holder.Alive() {
		return fmt.Errorf("start lab: %w (process %d)", ErrBusy, holder.PID)
	}
	errs := []error{release()}
	for _, name := range holder.Namespaces {
		if strings.HasPrefix(name, prefix) {
			errs = append(errs, netns.Delete(name))
		}
	}
	return errors.Join(errs...)
}

// readOwner reads the claim, which has a second name for a moment.
func readOwner() ([]byte, error) {
	f, err := statefile.OpenPlain(ownerFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostState))
}

func release() error {
	if err := os.Remove(ownerFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end lab: %w", err)
	}
	return nil
}

// Owns reports whether a namespace belongs to a lab that is up on this machine:
// nobody's traffic is in it.
func Owns(namespace string) bool {
	if standingOwns(namespace) {
		return true
	}
	text, err := readOwner()
	if err != nil {
		return false
	}
	var holder owner
	return json.Unmarshal(text, &holder) == nil && holder.Alive() && strings.HasPrefix(namespace, prefix) && slices.Contains(holder.Namespaces, namespace)
}
