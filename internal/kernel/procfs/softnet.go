package procfs

import (
	"bytes"
	"fmt"
)

// Softnet is one processor's row of /proc/net/softnet_stat
// (net/core/net-procfs.c softnet_seq_show). Counts since boot; they wrap at
// 32 bits.
type Softnet struct {
	// CPU is the processor's number where the kernel prints it (from 5.10
	// on), else the row's.
	CPU       int
	Processed uint64
	// Dropped packets found the backlog full (netdev_max_backlog).
	Dropped uint64
	// TimeSqueeze counts polls that ended with work left because the budget
	// or its time was used up (netdev_budget, netdev_budget_usecs).
	TimeSqueeze uint64
	// ReceivedRPS counts wake-ups by another processor's packet steering.
	ReceivedRPS uint64
	// FlowLimit counts packets dropped by the per-flow backlog limit.
	FlowLimit uint64
	// Backlog is the queue's length now; zero where not printed.
	Backlog uint64
}

const (
	softnetProcessed   = 0
	softnetDropped     = 1
	softnetTimeSqueeze = 2
	softnetReceivedRPS = 9
	softnetFlowLimit   = 10
	softnetBacklog     = 11
	softnetCPU         = 12
	softnetLeast       = 3 // columns that every kernel prints
)

// ParseSoftnet reads /proc/net/softnet_stat, one row a processor, columns in
// hexadecimal; 9 to 15 of them depending on the kernel.
func ParseSoftnet(text []byte) ([]Softnet, error) {
	var all []Softnet
	err := lines(text, func(line []byte) error {
		f := bytes.Fields(line)
		if len(f) == 0 {
			return nil
		}
		if len(f) < softnetLeast {
			return fmt.Errorf("parse softnet_stat: row %d has %d columns, want at least %d", len(all), len(f), softnetLeast)
		}
		v := make([]uint64, len(f))
		for i := range f {
			var err error
			if v[i], err = number(f[i], 16); err != nil {
				return fmt.Errorf("parse softnet_stat: row %d: %w", len(all), err)
			}
		}
		at := func(column int) uint64 {
			if column < len(v) {
				return v[column]
			}
			return 0
		}
		s := Softnet{
			CPU:         len(all),
			Processed:   at(softnetProcessed),
			Dropped:     at(softnetDropped),
			TimeSqueeze: at(softnetTimeSqueeze),
			ReceivedRPS: at(softnetReceivedRPS),
			FlowLimit:   at(softnetFlowLimit),
			Backlog:     at(softnetBacklog),
		}
		if len(v) > softnetCPU {
			s.CPU = int(uint32(v[softnetCPU]))
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("parse softnet_stat: no rows")
	}
	return all, nil
}
