// Package measure runs trials: it opens the ends, chooses the ports, warms
// up, opens one window that all streams share, counts, and checks that what
// was counted is possible. What the numbers mean is diagnose's business.
//
// Goodput is the receivers' bytes. Beside it stand the links' counters, with one
// header set a counted packet taken off: the two agree within 0.1 %.
package measure

import (
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// Network is the hosts to measure between and what is known of them.
type Network struct {
	Endpoints map[string]ask.Host
	// Fabric is the merged state of file and hosts: what predict works on.
	Fabric predict.Fabric
	// Machines says which machine each host runs on: hosts of one machine
	// share its processors.
	Machines map[string]string
	// Listeners are the hosts that an iperf3 server speaks for; they are no
	// Endpoints.
	Listeners map[string]Listener
}

// Host is the merged state of a host.
func (n Network) Host(name string) netstate.Host { return n.Fabric.Hosts[name] }
