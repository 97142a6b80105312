// Package cgroup reads what a thread's control groups allow it of the
// processors, and how long they stopped it: the quota of both versions' cpu
// controller; and whether they are frozen. What is not there is absent, never a
// limit of zero.
package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/kernel/procfs"
)

// State is what the groups of a thread say of processor time.
type State struct {
	// Quota is the tightest on the way up to the root, in cores; zero is none.
	Quota float64
	// Throttled is how long the groups that have a quota were stopped for having
	// used it up, since they were made. The kernel adds up the processors on
	// which they had something to run: two that wait one second are two.
	Throttled time.Duration
}

// Merge adds another thread's state: the tighter quota, the longer stop.
func (s State) Merge(other State) State {
	if s.Quota == 0 || other.Quota > 0 && other.Quota < s.Quota {
		s.Quota = other.Quota
	}
	s.Throttled = max(s.Throttled, other.Throttled)
	return s
}

// version is a controller's interface.
type version int

const (
	none version = iota
	v1
	v2
)

var errMalformed = errors.New("not as the kernel writes it")

// hierarchy is where a controller's groups are: the directory at which it
// is mounted, and the group that is seen there.
type hierarchy struct {
	version version
	point   string
	root    string
}

// parseMounts finds a controller of version 1, and version 2's groups, in
// /proc/self/mountinfo. None is no error.
func parseMounts(text []byte, controller string) (one, two hierarchy, err error) {
	for _, line := range bytes.Split(text, []byte("\n")) {
		// ID parent major:minor root point options [tags] - type source options
		before, after, ok := strings.Cut(string(line), " - ")
		if !ok {
			continue
		}
		at, kind := strings.Fields(before), strings.Fields(after)
		if len(at) < 6 || len(kind) < 1 {
			return hierarchy{}, hierarchy{}, fmt.Errorf("parse mountinfo: line %.60q: %w", line, errMalformed)
		}
		here := hierarchy{point: procfs.Unescaped(at[4]), root: procfs.Unescaped(at[3])}
		switch {
		case kind[0] == "cgroup" && one.version == none && slices.Contains(strings.Split(kind[len(kind)-1], ","), controller):
			here.version = v1
			one = here
		case kind[0] == "cgroup2" && two.version == none:
			here.version = v2
			two = here
		}
	}
	return one, two, nil
}

// parseGroup finds the group of a controller in /proc/PID/cgroup:
// "4:cpu,cpuacct:/user.slice" of version 1, "0::/user.slice" of version 2. ""
// is in none.
func parseGroup(text []byte, v version, controller string) (string, error) {
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" {
			continue
		}
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			return "", fmt.Errorf("parse cgroup: line %.60q: %w", line, errMalformed)
		}
		is := parts[0] == "0" && parts[1] == ""
		if v == v1 {
			is = slices.Contains(strings.Split(parts[1], ","), controller)
		}
		if is {
			return parts[2], nil
		}
	}
	return "", nil
}

// deepest bounds the way from a group up to the root.
const deepest = 64

// directories are a group's and those above it that are to be seen, its own
// first. A group outside of what is mounted (a container that sees its own part
// only) is taken for that part's root.
func (h hierarchy) directories(group string) []string {
	below, ok := strings.CutPrefix(path.Clean("/"+group), strings.TrimSuffix(path.Clean("/"+h.root), "/"))
	if !ok || below != "" && below[0] != '/' || strings.HasPrefix(group, "/..") {
		below = ""
	}
	dir := path.Join(h.point, below)
	out := []string{dir}
	for dir != path.Clean(h.point) && len(out) < deepest {
		dir = path.Dir(dir)
		out = append(out, dir)
	}
	return out
}

// parseQuota1 reads cpu.cfs_quota_us and cpu.cfs_period_us: cores; zero is no
// limit (-1).
func parseQuota1(quota, period []byte) (float64, error) {
	q, err := strconv.ParseInt(strings.TrimSpace(string(quota)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse cpu.cfs_quota_us %.20q: %w", quota, errMalformed)
	}
	if q < 0 {
		return 0, nil
	}
	p, err := strconv.ParseInt(strings.TrimSpace(string(period)), 10, 64)
	if err != nil || p <= 0 {
		return 0, fmt.Errorf("parse cpu.cfs_period_us %.20q: %w", period, errMalformed)
	}
	return float64(q) / float64(p), nil
}

// parseQuota2 reads cpu.max, "max 100000" or "50000 100000": cores; zero is no
// limit.
func parseQuota2(text []byte) (float64, error) {
	f := bytes.Fields(text)
	if len(f) != 2 {
		return 0, fmt.Errorf("parse cpu.max %.40q: %w", text, errMalformed)
	}
	if string(f[0]) == "max" {
		return 0, nil
	}
	return parseQuota1(f[0], f[1])
}

// parseThrottled reads cpu.stat: throttled_time in nanoseconds of version 1,
// throttled_usec of version 2. A text without either is zero.
func parseThrottled(text []byte) (time.Duration, error) {
	for _, line := range bytes.Split(text, []byte("\n")) {
		f := bytes.Fields(line)
		if len(f) != 2 {
			continue
		}
		scale := map[string]time.Duration{"throttled_time": time.Nanosecond, "throttled_usec": time.Microsecond}[string(f[0])]
		if scale == 0 {
			continue
		}
		n, err := strconv.ParseUint(string(f[1]), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("parse cpu.stat: %s %.24q: %w", f[0], f[1], errMalformed)
		}
		return time.Duration(min(n, uint64(math.MaxInt64/scale))) * scale, nil
	}
	return 0, nil
}
