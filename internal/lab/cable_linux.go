package lab

import (
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// Cable joins a host's port to its switch.
type Cable struct {
	at    *rtnl.Builder
	far   string
	muted bool
}

// Cable is the one of a port, which must be of the network.
func (s *Raised) Cable(p scenario.Port) *Cable {
	return &Cable{at: s.built.builders[switchName], far: s.far[p]}
}

// Break has the switch drop what comes over the cable and what should go over
// it. Neither end is told: the carriers stay.
func (c *Cable) Break() error {
	c.muted = true
	return c.at.Mute(c.far)
}

// Repair takes Break back, as far as it came.
func (c *Cable) Repair() error {
	if !c.muted {
		return nil
	}
	c.muted = false
	return c.at.Unmute(c.far)
}
