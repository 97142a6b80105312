package engine

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// onPort opens a sink's socket on the port wanted or, where that is in use, on the
// first of those allowed that is not; with none named the kernel chooses it. All in
// use is agentapi.ErrPortTaken.
func onPort[L any](req agentapi.SinkRequest, open func(port int) (L, error)) (l L, err error) {
	for _, port := range portsWanted(req) {
		if l, err = open(port); !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	switch within := req.Within; {
	case within == nil:
		return l, socket.BindError(err)
	case within.Count() == 1:
		return l, fmt.Errorf("listen: port %v, the only one allowed, is in use (%w)", within, agentapi.ErrPortTaken)
	default:
		return l, fmt.Errorf("listen: all %d ports of %v are in use (%w)", within.Count(), within, agentapi.ErrPortTaken)
	}
}

// checkWithin refuses a range that holds no port, or the one that is the
// kernel's choice.
func checkWithin(r *flow.PortRange) error {
	if r != nil && (r.First == 0 || r.First > r.Last) {
		return fmt.Errorf("listen within ports %v: want ports from 1 to 65535, the lowest first", r)
	}
	return nil
}

// portsWanted are the ports to try, in order; zero is one that the kernel
// chooses.
func portsWanted(req agentapi.SinkRequest) []int {
	switch {
	case req.Within == nil && req.Port == 0:
		return []int{0}
	case req.Within == nil:
		return []int{req.Port, 0}
	}
	ports := make([]int, 0, req.Within.Count())
	if req.Port > 0 && req.Port <= int(req.Within.Last) && req.Within.Contains(uint16(req.Port)) {
		ports = append(ports, req.Port)
	}
	for p := int(req.Within.First); p <= int(req.Within.Last); p++ {
		if p != req.Port {
			ports = append(ports, p)
		}
	}
	return ports
}
