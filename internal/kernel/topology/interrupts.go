package topology

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Interrupt is a row of /proc/interrupts: its number, what it serves, and how
// many each core took, by core; trailing cores that took none are left out.
type Interrupt struct {
	Number int
	// Actions are the names that drivers gave, separated by ", " where several
	// share the interrupt.
	Actions string
	Counts  []uint64
}

// mostInterrupts bounds how many rows are read.
const mostInterrupts = 1 << 16

// InterruptTable reads /proc/interrupts (show_interrupts, kernel/irq/proc.c).
// The architecture's own rows (NMI, LOC) have no number and are left out, and
// so is what cannot be read.
func InterruptTable(text []byte) []Interrupt {
	var all []Interrupt
	var cores []int
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if cores == nil {
			cores = headCores(fields)
			continue
		}
		if i, ok := interruptRow(fields, cores); ok && len(all) < mostInterrupts {
			all = append(all, i)
		}
	}
	return all
}

// headCores reads the first line: "CPU0 CPU2".
func headCores(fields []string) []int {
	cores := []int{}
	for _, f := range fields {
		n, err := strconv.Atoi(strings.TrimPrefix(f, "CPU"))
		if err != nil || n < 0 || n >= mostCores {
			return cores
		}
		cores = append(cores, n)
	}
	return cores
}

func interruptRow(fields []string, cores []int) (Interrupt, bool) {
	if len(fields) < 1+len(cores) || !strings.HasSuffix(fields[0], ":") {
		return Interrupt{}, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(fields[0], ":"))
	if err != nil || n < 0 {
		return Interrupt{}, false
	}
	i := Interrupt{Number: n}
	for at, core := range cores {
		count, err := strconv.ParseUint(fields[1+at], 10, 64)
		if err != nil {
			return Interrupt{}, false
		}
		if count == 0 {
			continue
		}
		if len(i.Counts) <= core {
			i.Counts = append(i.Counts, make([]uint64, core+1-len(i.Counts))...)
		}
		i.Counts[core] = count
	}
	i.Actions = actions(fields[1+len(cores):])
	return i, true
}

// actions are what follows the chip, its own number and the trigger: "PCI-MSI
// 524288-edge eth0-TxRx-0", "GICv3 30 Level eth0".
func actions(rest []string) string {
	for i, f := range rest {
		f = strings.ToLower(f)
		if strings.HasSuffix(f, "edge") || strings.HasSuffix(f, "level") || strings.HasSuffix(f, "fasteoi") {
			return strings.Join(rest[i+1:], " ")
		}
	}
	if len(rest) == 0 {
		return ""
	}
	return rest[len(rest)-1]
}

// Serves reports whether the interrupt's actions name a link, or the device
// that it is on its bus, as ParseInterrupts takes them.
func (i Interrupt) Serves(link string, devices ...string) bool {
	for _, action := range strings.Fields(i.Actions) {
		if named(action, link) || slices.ContainsFunc(devices, func(d string) bool { return d != "" && named(action, d) }) {
			return true
		}
	}
	return false
}

// ParseMask reads a set of cores as the kernel prints masks, the highest first:
// "00000000,0000ff00" (bitmap_print_to_pagebuf). Ascending; none for zero.
func ParseMask(text string) ([]int, error) {
	words := strings.Split(strings.TrimSpace(text), ",")
	if len(words)*32 > mostCores {
		return nil, fmt.Errorf("parse mask of cores: %d words", len(words))
	}
	var out []int
	for i := range words {
		bits, err := strconv.ParseUint(words[len(words)-1-i], 16, 32)
		if err != nil {
			return nil, fmt.Errorf("parse mask of cores: %.32q", text)
		}
		for b := range 32 {
			if bits>>b&1 == 1 {
				out = append(out, i*32+b)
			}
		}
	}
	return out, nil
}
