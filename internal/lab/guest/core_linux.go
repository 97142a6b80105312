package guest

import (
	"fmt"
	"net"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// core is one of the host's that a lab kernel has for itself among lab kernels.
// User-Mode Linux has one processor, and it and its processes take turns: on one
// core that is a switch of context, over two an interrupt from core to core. Where
// it may wander its programs take 1.6 times as long to start, and TCP carries half.
type core struct {
	number int
	claim  net.Listener
}

// claimCore takes a core that no other lab kernel of this machine has, of those that
// this program may use; nil where there is none, and the kernel then runs
// wherever there is room. The claim is a name of a socket, which goes with the
// program whatever happens to it.
func claimCore() *core {
	mine, err := sys.Affinity()
	if err != nil {
		return nil
	}
	for _, number := range mine {
		if l, err := net.Listen("unix", fmt.Sprintf("@linerate-lab-core-%d", number)); err == nil {
			return &core{number, l}
		}
	}
	return nil
}

// leave lets others have the core.
func (c *core) leave() {
	if c != nil {
		c.claim.Close()
	}
}
