package flow

import (
	"fmt"
	"strconv"
	"strings"
)

// PortRange is a range of ports, both ends included. The zero range is none.
type PortRange struct {
	First uint16 `json:"first"`
	Last  uint16 `json:"last"`
}

// Contains reports whether the port lies in the range.
func (r PortRange) Contains(port uint16) bool {
	return r.Last != 0 && r.First <= port && port <= r.Last
}

// Count is how many ports the range has.
func (r PortRange) Count() int {
	if r.Last == 0 {
		return 0
	}
	return int(r.Last) - int(r.First) + 1
}

// String prints "40000-40015", or "40000" for a range of one.
func (r PortRange) String() string {
	if r.First == r.Last {
		return strconv.Itoa(int(r.First))
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// ParsePortRange reads what String prints. Ports go from 0 to 65535.
func ParsePortRange(s string) (PortRange, error) {
	low, high, ranged := strings.Cut(strings.TrimSpace(s), "-")
	if !ranged {
		high = low
	}
	a, errA := strconv.ParseUint(low, 10, 16)
	z, errZ := strconv.ParseUint(high, 10, 16)
	switch {
	case errA != nil || errZ != nil:
		return PortRange{}, fmt.Errorf("parse ports %.40q: want a port or a range of ports from 0 to 65535", s)
	case a > z:
		return PortRange{}, fmt.Errorf("parse ports %s: the range ends before it begins", s)
	}
	return PortRange{uint16(a), uint16(z)}, nil
}

// ParsePortRanges reads a list such as "8080,9148,30000-30003", the form of
// net.ipv4.ip_local_reserved_ports. The empty list is no range.
func ParsePortRanges(s string) ([]PortRange, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var ranges []PortRange
	for part := range strings.SplitSeq(s, ",") {
		r, err := ParsePortRange(part)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}
