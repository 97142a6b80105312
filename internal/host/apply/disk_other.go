//go:build !linux

package apply

import "errors"

// exchange is errors.ErrUnsupported here.
func exchange(string, string) error { return errors.ErrUnsupported }

// copyAttributes does nothing here.
func copyAttributes(string, string) error { return nil }
