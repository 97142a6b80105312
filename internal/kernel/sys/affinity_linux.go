package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Affinity lists the cores that the calling thread may run on
// (sched_getaffinity(2)), ascending.
func Affinity() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read affinity: %w", err)
	}
	var cores []int
	for id := range len(set) * 64 {
		if set.IsSet(id) {
			cores = append(cores, id)
		}
	}
	return cores, nil
}

// Pin keeps the calling thread on one core (sched_setaffinity(2)). The
// goroutine must have locked its thread, and must end without unlocking it.
func Pin(core int) error {
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin thread to core %d: %w", core, err)
	}
	return nil
}
