package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Affinity lists the cores that the calling thread may run on
// (sched_getaffinity(2)), ascending.
func Affinity() ([]int, error) { return ThreadAffinity(0) }

// ThreadAffinity lists the cores that a thread may run on; zero is the calling
// one.
func ThreadAffinity(tid int) ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
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
func Pin(core int) error { return SetThreadAffinity(0, []int{core}) }

// SetThreadAffinity keeps a thread on the cores given (sched_setaffinity(2));
// zero is the calling one.
func SetThreadAffinity(tid int, cores []int) error {
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(tid, &set); err != nil {
		return fmt.Errorf("keep thread on cores %v: %w", cores, err)
	}
	return nil
}
