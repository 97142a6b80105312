//go:build !linux

package sysctl

import (
	"errors"
	"fmt"

	"github.com/linerate/linerate/netstate"
)

func readLive([]string) (map[string]netstate.Sysctl, error) {
	return nil, fmt.Errorf("read sysctls: %w", errors.ErrUnsupported)
}

func writeLive(string, string) error { return errors.ErrUnsupported }
