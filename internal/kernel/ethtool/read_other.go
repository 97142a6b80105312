//go:build !linux

package ethtool

import (
	"errors"
	"fmt"
)

// Handle does nothing here.
type Handle struct{}

// Open is errors.ErrUnsupported.
func Open() (*Handle, error) {
	return nil, fmt.Errorf("open ethtool socket: %w", errors.ErrUnsupported)
}

// Close does nothing.
func (h *Handle) Close() error { return nil }

// Read answers nothing but the reason.
func (h *Handle) Read(link, kind string) Info {
	if reason := speedReason(kind); reason != "" {
		return Info{Unknown: []string{reason}}
	}
	return Info{Unknown: []string{"speed: " + errors.ErrUnsupported.Error()}}
}

// Counters is errors.ErrUnsupported.
func (h *Handle) Counters(string) (map[string]uint64, error) { return nil, errors.ErrUnsupported }
