//go:build !linux

package netns

import (
	"errors"
	"fmt"
)

func (n Namespace) refuse() error {
	return fmt.Errorf("enter namespace %s: %w", n.Name, errors.ErrUnsupported)
}

// Do runs fn in the process's own namespace; a named one is
// errors.ErrUnsupported here.
func (n Namespace) Do(fn func() error) error {
	if n.own() {
		return fn()
	}
	return n.refuse()
}

// DoWithSysfs is Do.
func (n Namespace) DoWithSysfs(fn func() error) error { return n.Do(fn) }

// Enter is errors.ErrUnsupported for a named namespace.
func (n Namespace) Enter() error {
	if n.own() {
		return nil
	}
	return n.refuse()
}

// Create is errors.ErrUnsupported.
func Create(name string) (Namespace, error) { return Named(name), Named(name).refuse() }

// Delete is errors.ErrUnsupported.
func Delete(name string) error { return Named(name).refuse() }

// List is empty.
func List() ([]string, error) { return nil, nil }

// Unnamed is errors.ErrUnsupported.
func Unnamed() (Namespace, func(), error) {
	return Namespace{}, nil, fmt.Errorf("make a namespace: %w", errors.ErrUnsupported)
}

// Inside is false: this system has no network namespaces.
func Inside() bool { return false }
