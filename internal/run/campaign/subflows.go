package campaign

import (
	"errors"
	"fmt"

	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
)

// ErrSubflow is an MPTCP endpoint on a link that is not in use: the kernel makes
// subflows over it, whatever addresses a connection is opened with.
var ErrSubflow = errors.New("an MPTCP endpoint is on a link that is not in use")

// subflowsStay is an error where the endpoints of a trial's hosts lead its
// connections to a link that is not in use.
func (c *Campaign) subflowsStay(spec measure.Spec) error {
	if spec.Protocol != "mptcp" {
		return nil
	}
	for _, name := range []string{spec.From, spec.To} {
		h := c.state.Hosts[name]
		if h.MPTCP == nil {
			continue
		}
		for _, e := range h.MPTCP.Endpoints {
			if l, ok := h.LinkWith(e.Addr); ok && l.Unused != "" && e.Flags&netstate.MPTCPImplicit == 0 {
				return fmt.Errorf("%w: %s of %s is on %s: name %s in `use:`, or run `ip mptcp endpoint delete id %d` there", ErrSubflow, e.Addr, name, l.Name, l.Name, e.ID)
			}
		}
	}
	return nil
}
