package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// mostDialed is how many hosts are reached at the same time: each is a process
// of ssh here, and may be a copy of the program on its way.
const mostDialed = 16

// ForEach runs f for each number below n, some of them at the same time, and
// returns when all have ended: what reaches hosts, in the order they are named.
func ForEach(n int, f func(i int)) {
	places := make(chan struct{}, mostDialed)
	var running sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		running.Go(func() {
			f(i)
			<-places
		})
	}
	running.Wait()
}

// CloseAll lets go of hosts, several at a time; traffic that still ran ends.
func CloseAll(named map[string]*Host) error {
	hosts := slices.Collect(maps.Values(named))
	errs := make([]error, len(hosts))
	ForEach(len(hosts), func(i int) { errs[i] = hosts[i].Close() })
	return errors.Join(errs...)
}

// Observed is one host as ObserveAll found it.
type Observed struct {
	Reply agentapi.ObserveReply
	Err   error
}

// ObserveAll reads hosts, several at a time, each with the sysctls that more names
// for the host of that index (nil: none), and answers in their order. A nil host is
// left out.
func ObserveAll(ctx context.Context, hosts []*Host, more func(i int) []string) []Observed {
	out := make([]Observed, len(hosts))
	ForEach(len(hosts), func(i int) {
		if hosts[i] == nil {
			return
		}
		var sysctls []string
		if more != nil {
			sysctls = more(i)
		}
		out[i].Reply, out[i].Err = hosts[i].Observe(ctx, sysctls...)
	})
	return out
}

// mostSkew is how far a host's clock may be off before it is worth a word.
const mostSkew = 2 * time.Second

// Notes are what whoever works with the host should know of it: what is not
// possible there, and a clock that is off. Nothing measured depends on the
// clock; journals and logs of the host do.
func (h *Host) Notes() []string {
	var out []string
	if line := h.Hello.LostLine(); line != "" {
		out = append(out, line)
	}
	if off := h.Skew.Abs(); off > mostSkew {
		word := "ahead of"
		if h.Skew < 0 {
			word = "behind"
		}
		out = append(out, fmt.Sprintf("its clock is %v %s this one's: times in its journal are by that clock", off.Round(time.Second), word))
	}
	return out
}
