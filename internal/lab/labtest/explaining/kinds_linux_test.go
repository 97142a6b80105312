package explaining

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
)

// fault is a kind with its figures drawn. Nil functions do nothing.
type fault struct {
	kind    *kind
	also    []record.Cause // as true as the kind's cause, as drawn
	text    string
	on, off func(*stand)
	ask     func(*campaign.Matrix) // what the measurement asks for while the fault is there
	declare func(*declaration)     // what the file says while it is there
}

func (f fault) String() string { return fmt.Sprintf("%s (%s)", f.kind.cause, f.text) }

// all are the kinds of every cause.
func allKinds() []*kind {
	return slices.Concat(hashKinds(), singleKinds(), windowKinds(), lossKinds(), reorderKinds(), shaperKinds(), mtuKinds(), lacpKinds(), routeKinds(), paceKinds(), hostKinds())
}

func isBonded(d dice, n *network) bool { return n.form == bonded && len(n.rates) > 1 }

func always(dice, *network) bool { return true }

// sysctls is a fault that is values of sysctls at the hosts that matter.
func sysctls(where func(network) []string, values map[string]string) fault {
	was := map[string]map[string]string{}
	return fault{
		on: func(s *stand) {
			for _, host := range where(s.what) {
				was[host] = map[string]string{}
				for key, value := range values {
					was[host][key] = s.set(host, key, value)
				}
			}
		},
		off: func(s *stand) {
			for host, values := range was {
				for key, value := range values {
					s.set(host, key, value)
				}
			}
		},
	}
}

func asks(ask func(*campaign.Matrix)) fault { return fault{ask: ask} }

func (f fault) with(format string, values ...any) fault {
	f.text = fmt.Sprintf(format, values...)
	return f
}
