//go:build !linux

package cgroup

import (
	"errors"
	"fmt"
)

// Group is nothing here.
type Group struct{}

// Tree is nothing here.
type Tree struct{}

// Find is errors.ErrUnsupported.
func Find() (Tree, error) {
	return Tree{}, fmt.Errorf("find control groups: %w", errors.ErrUnsupported)
}

// Of is errors.ErrUnsupported.
func (Tree) Of(int) (Group, error) {
	return Group{}, fmt.Errorf("find control group: %w", errors.ErrUnsupported)
}

// Frozen is false.
func Frozen(int) bool { return false }

// Name is "".
func (Group) Name() string { return "" }

// Read is errors.ErrUnsupported.
func (Group) Read() (State, error) {
	return State{}, fmt.Errorf("read control group: %w", errors.ErrUnsupported)
}
