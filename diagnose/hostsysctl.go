package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// SysctlRow is one judged tunable: what about its value is wrong on a host,
// why, what to set, and where that is written.
type SysctlRow struct {
	Key  string
	Kind string
	// Wrong says in plain words which values are meant.
	Wrong string
	// Why is what such a value does; Remedy what to do, with KEY for the key.
	Why, Remedy string
	Severity    Severity
	// Source is where it is documented, with the kernel's version where it
	// matters.
	Source string

	bad func(sysctlView) bool
	// sized says that the severity above holds from 10 Gb/s on, and Info
	// below.
	sized bool
}

// SysctlRows lists the judged tunables, in the table's order.
func SysctlRows() []SysctlRow { return slices.Clone(sysctlTable[:]) }

// sysctlView is a tunable's value on a host.
type sysctlView struct {
	host  netstate.Host
	value string
	n     []int64 // nil where the value is no list of numbers
}

// one is the value as one number; -1 where it is none.
func (v sysctlView) one() int64 {
	if len(v.n) != 1 {
		return -1
	}
	return v.n[0]
}

// since reports a kernel that is known to be of that release or newer.
func (v sysctlView) since(major, minor int) bool {
	newer, known := v.host.Kernel.AtLeast(major, minor)
	return known && newer
}

// large reports a machine with at least that much memory; false unknown.
func (v sysctlView) large(least unit.Bytes) bool { return v.host.Memory >= least }

// judgeSysctls finds tunables with values that the table calls wrong.
func judgeSysctls(h netstate.Host) []HostFinding {
	var found []HostFinding
	if h.Kernel.OS != "" && h.Kernel.OS != "linux" {
		return nil
	}
	quick := fastest(h).Speed >= fast
	for _, row := range sysctlTable {
		s, ok := h.Sysctls[row.Key]
		if !ok || !row.bad(sysctlView{h, s.Value, h.SysctlInts(row.Key)}) {
			continue
		}
		f := HostFinding{
			Kind:     row.Kind,
			What:     fmt.Sprintf("%s = %s: %s", row.Key, s.Value, row.Why),
			Severity: row.Severity,
			Evidence: []record.Evidence{fact(row.Key, orUnset(s.Value), sysctlFile(row.Key)), fact("documented", row.Wrong, row.Source)},
			Remedy:   strings.ReplaceAll(row.Remedy, "KEY", row.Key),
		}
		if row.sized && !quick {
			f.Severity = Info
		}
		found = append(found, f)
	}
	return found
}

// is reports one of the numbers.
func is(numbers ...int64) func(sysctlView) bool {
	return func(v sysctlView) bool { return slices.Contains(numbers, v.one()) }
}

func above(most int64) func(sysctlView) bool {
	return func(v sysctlView) bool { return len(v.n) > 0 && slices.Max(v.n) > most }
}

// under reports a number that was set, and lower; zero and unknown are not.
func under(least int64) func(sysctlView) bool {
	return func(v sysctlView) bool { n := v.one(); return n >= 0 && n < least }
}

func notZero(v sysctlView) bool { return v.one() > 0 }

// both reports that all of the conditions hold.
func both(all ...func(sysctlView) bool) func(sysctlView) bool {
	return func(v sysctlView) bool {
		for _, f := range all {
			if !f(v) {
				return false
			}
		}
		return true
	}
}

func onKernel(major, minor int) func(sysctlView) bool {
	return func(v sysctlView) bool { return v.since(major, minor) }
}

func withMemory(least unit.Bytes) func(sysctlView) bool {
	return func(v sysctlView) bool { return v.large(least) }
}

// pageSize is taken for the kernel's; a larger one only makes counts of pages
// mean more.
const pageSize = 4096

// inBytes reports three numbers of pages of which the last is more than the
// whole memory: bytes, most likely.
func inBytes(v sysctlView) bool {
	return len(v.n) == 3 && v.host.Memory > 0 && float64(v.n[2])*pageSize > float64(v.host.Memory)
}

// tooFewPages reports less than a hundredth of the memory; the kernel's own
// choice is an eleventh of what is free (tcp_init_mem: a sixteenth, and half
// of it more).
func tooFewPages(v sysctlView) bool {
	return len(v.n) == 3 && v.host.Memory > 0 && v.n[2] > 0 && float64(v.n[2])*pageSize < 0.01*float64(v.host.Memory)
}

// falling reports three numbers that do not rise.
func falling(v sysctlView) bool { return len(v.n) == 3 && (v.n[0] > v.n[1] || v.n[1] > v.n[2]) }

// overflowing reports a size that does not fit an int.
func overflowing(v sysctlView) bool {
	return len(v.n) > 0 && (slices.Max(v.n) > 1<<31-1 || slices.Min(v.n) < 0)
}

// startsHuge reports a first buffer above a size.
func startsHuge(v sysctlView) bool { return len(v.n) == 3 && v.n[1] > 8<<20 && v.n[1] <= v.n[2] }

// wideRange reports ephemeral ports from among those that servers use, none of
// which is reserved.
func wideRange(v sysctlView) bool {
	reserved, read := v.host.Sysctls["net.ipv4.ip_local_reserved_ports"]
	return len(v.n) == 2 && v.n[0] < 10000 && read && strings.TrimSpace(reserved.Value) == ""
}

// nearlyFull reports a table that holds nine tenths of what it may.
func nearlyFull(v sysctlView) bool {
	most := oneValue(v.host, "net.netfilter.nf_conntrack_max")
	return most > 0 && v.one()*10 >= most*9
}
