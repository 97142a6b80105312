package predict

import (
	"fmt"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// ends are the two hosts of a way and the cause that each one's cores are.
func (w *way) ends() [2]struct {
	host  netstate.Host
	cause record.Cause
} {
	return [2]struct {
		host  netstate.Host
		cause record.Cause
	}{{w.sender, record.SenderCPU}, {w.receiver, record.ReceiverCPU}}
}

// coreLimits are what one core moves of one stream, where it was calibrated.
func (w *way) coreLimits() []streamLimit {
	var all []streamLimit
	for _, end := range w.ends() {
		if rate := end.host.CPU.StreamRate; rate > 0 {
			all = append(all, streamLimit{cause: end.cause, where: end.host.Name, each: estimate{rate: rate},
				why: fmt.Sprintf("one core moves %s of one stream", rate)})
		}
	}
	return all
}

// allCores are what all of a host's cores move together.
func (w *way) allCores() []sharedLimit {
	var all []sharedLimit
	for _, end := range w.ends() {
		if c := end.host.CPU; c.StreamRate > 0 && c.Cores > 0 {
			all = append(all, sharedLimit{cause: end.cause, where: end.host.Name, payload: true,
				total: estimate{rate: c.StreamRate * unit.BitRate(c.Cores)},
				what:  fmt.Sprintf("%d cores that move %s each", c.Cores, c.StreamRate)})
		}
	}
	return all
}
