package iperf3

import (
	"strconv"
	"strings"
)

// VersionBefore says whether the client calls itself older than that version
// of iperf3. One that does not say a version is not.
func (p Parameters) VersionBefore(major, minor int) bool {
	first, rest, ok := strings.Cut(p.Version, ".")
	if !ok {
		return false
	}
	rest = rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	a, err1 := strconv.Atoi(first)
	b, err2 := strconv.Atoi(rest)
	if err1 != nil || err2 != nil {
		return false
	}
	return a < major || a == major && b < minor
}
