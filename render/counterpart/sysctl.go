package counterpart

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/ledger"
)

// Sysctl is a Linux tunable's counterpart elsewhere.
type Sysctl struct {
	Linux, Other string
	// Value turns the value over; false where it has no counterpart.
	Value func(string) (string, bool)
}

// Same takes a number as it is.
func Same(s string) (string, bool) { _, err := strconv.Atoi(s); return s, err == nil }

// Inverted turns 0 and 1 over.
func Inverted(s string) (string, bool) {
	switch s {
	case "0":
		return "1", true
	case "1":
		return "0", true
	}
	return "", false
}

// OnlyOn has a counterpart for 1 and 2 only.
func OnlyOn(s string) (string, bool) { return "1", s == "1" || s == "2" }

// Largest is the last of several numbers: a buffer's most.
func Largest(s string) (string, bool) {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return "", false
	}
	return Same(fields[len(fields)-1])
}

// OneOf takes the words named as they are.
func OneOf(words ...string) func(string) (string, bool) {
	return func(s string) (string, bool) { return s, slices.Contains(words, s) }
}

// Sysctls returns the counterparts of the tunables that the host wants. Several
// that share one get the largest value, and a socket's most is never below a
// connection's.
func Sysctls(in render.Input, l *ledger.Ledger, table []Sysctl) map[string]string {
	all := map[string]string{}
	sysctls := in.AllSysctls()
	for _, row := range table {
		value, wanted := sysctls[row.Linux]
		if !wanted {
			continue
		}
		text, ok := row.Value(value)
		if !ok {
			l.Cannot("", "sysctl."+row.Linux, fmt.Sprintf("%s has no counterpart of %q", row.Other, value))
			continue
		}
		l.Say("", "sysctl."+row.Linux)
		if was, twice := all[row.Other]; !twice || Number(text) > Number(was) {
			all[row.Other] = text
		}
	}
	return all
}

// Number is a number's value; zero for what is none.
func Number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
