package procfs

import (
	"bytes"
	"fmt"
	"strconv"
)

// ticksPerSecond is USER_HZ: the unit of /proc/stat on every architecture
// that linerate is built for (include/asm-generic/param.h).
const ticksPerSecond = 100

// CPUTime is what one processor did since boot, in seconds.
type CPUTime struct {
	// CPU is the kernel's number of the processor; offline ones are left out
	// of /proc/stat, so the numbers may have gaps.
	CPU int
	// Busy is everything but idle and I/O wait. Time stolen by a hypervisor
	// counts: this host could not use it.
	Busy float64
	// Softirq is the part of Busy spent in software interrupts, where the
	// network's receive path runs.
	Softirq float64
	// Steal is the part of Busy that the hypervisor gave to others.
	Steal float64
	// Total is all time accounted, idle included.
	Total float64
}

// fields of a cpu line after its name, fs/proc/stat.c show_stat: user nice
// system idle iowait irq softirq steal guest guest_nice. Guest time is
// counted in user already.
const (
	statUser = iota
	statNice
	statSystem
	statIdle
	statIOWait
	statIRQ
	statSoftirq
	statSteal
	statFields
)

// ParseStat reads the per-processor lines of /proc/stat, in file order. A
// text without any is an error. Fields that an old kernel lacks count zero.
func ParseStat(text []byte) ([]CPUTime, error) {
	var all []CPUTime
	err := lines(text, func(line []byte) error {
		rest, ok := bytes.CutPrefix(line, []byte("cpu"))
		if !ok || len(rest) == 0 || rest[0] < '0' || rest[0] > '9' {
			return nil
		}
		f := bytes.Fields(rest)
		cpu, err := strconv.Atoi(string(f[0]))
		if err != nil {
			return fmt.Errorf("parse stat: processor number %.32q", f[0])
		}
		if len(f) < 1+statIdle+1 {
			return fmt.Errorf("parse stat: cpu%d has %d fields, want at least %d", cpu, len(f)-1, statIdle+1)
		}
		var ticks [statFields]uint64
		for i := range ticks {
			if i+1 >= len(f) {
				break
			}
			if ticks[i], err = number(f[i+1], 10); err != nil {
				return fmt.Errorf("parse stat: cpu%d: %w", cpu, err)
			}
		}
		all = append(all, cpuTime(cpu, ticks))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("parse stat: no processor lines")
	}
	return all, nil
}

func cpuTime(cpu int, ticks [statFields]uint64) CPUTime {
	seconds := func(fields ...int) (sum float64) {
		for _, f := range fields {
			sum += float64(ticks[f]) / ticksPerSecond
		}
		return sum
	}
	t := CPUTime{
		CPU:     cpu,
		Busy:    seconds(statUser, statNice, statSystem, statIRQ, statSoftirq, statSteal),
		Softirq: seconds(statSoftirq),
		Steal:   seconds(statSteal),
	}
	t.Total = t.Busy + seconds(statIdle, statIOWait)
	return t
}
