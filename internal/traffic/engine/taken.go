package engine

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// bindTaken marks an error of bind(2) that another port would cure: a socket
// holds it.
func bindTaken(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w (%w)", err, agentapi.ErrPortTaken)
	}
	return err
}

// connectTaken is bindTaken for connect(2), where EADDRNOTAVAIL says that the
// very flow exists or is in time-wait; of bind(2) it says that the address is
// not the host's.
func connectTaken(err error) error {
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("%w (%w)", err, agentapi.ErrPortTaken)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return bindTaken(err)
	}
	return connectBarred(err)
}
