package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Group is a group of the cpu controller and those above it. The zero Group has
// no quota.
type Group struct {
	version version
	// dirs are its directories, its own first, the root last.
	dirs []string
}

// Tree is where the groups of the cpu controller are. The zero Tree has none.
type Tree struct{ hierarchy hierarchy }

// Find finds the tree; where no cpu controller is mounted it is the zero Tree.
// It reads all mounts, of which a host of containers has thousands: once for
// many threads.
func Find() (Tree, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Tree{}, fmt.Errorf("find control groups: %w", err)
	}
	one, two, err := parseMounts(mounts, "cpu")
	if one.version == none {
		one = two
	}
	return Tree{one}, err
}

// Of finds the group of a thread, or of a process; the zero Tree's is the zero
// Group.
func (t Tree) Of(tid int) (Group, error) {
	if t.hierarchy.version == none {
		return Group{}, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", tid))
	if err != nil {
		return Group{}, fmt.Errorf("find control group: %w", err)
	}
	name, err := parseGroup(text, t.hierarchy.version, "cpu")
	if err != nil || name == "" {
		return Group{}, err
	}
	return Group{version: t.hierarchy.version, dirs: t.hierarchy.directories(name)}, nil
}

// Frozen reports a process whose group, or one above it, is frozen, by either version:
// it does nothing until it is thawed. Version 1 keeps even a killed one until then.
func Frozen(pid int) bool {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	one, two, _ := parseMounts(mounts, "freezer")
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	for _, f := range []struct {
		hierarchy
		file, line string
	}{{one, "freezer.state", "FROZEN"}, {two, "cgroup.events", "frozen 1"}} {
		group, err := parseGroup(text, f.version, "freezer")
		if f.version == none || err != nil || group == "" {
			continue
		}
		state, _ := os.ReadFile(filepath.Join(f.directories(group)[0], f.file))
		if slices.Contains(strings.Split(string(state), "\n"), f.line) {
			return true
		}
	}
	return false
}

// Name tells groups apart; "" is the zero Group's.
func (g Group) Name() string {
	if len(g.dirs) == 0 {
		return ""
	}
	return g.dirs[0]
}

// Read is what the group and those above it say now. A file that is not there,
// as at the root, is no quota.
func (g Group) Read() (State, error) {
	var out State
	var problems []error
	for _, dir := range g.dirs {
		quota, err := g.quota(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if quota <= 0 {
			continue
		}
		throttled, err := readThrottled(dir)
		if err != nil {
			problems = append(problems, err)
		}
		if out.Quota == 0 || quota < out.Quota {
			out.Quota = quota
		}
		out.Throttled += throttled
	}
	return out, errors.Join(problems...)
}

func (g Group) quota(dir string) (float64, error) {
	if g.version == v2 {
		text, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
		if err != nil {
			return 0, fmt.Errorf("read quota: %w", err)
		}
		return parseQuota2(text)
	}
	quota, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0, fmt.Errorf("read quota: %w", err)
	}
	period, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
	if err != nil {
		return 0, fmt.Errorf("read quota: %w", err)
	}
	return parseQuota1(quota, period)
}

func readThrottled(dir string) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return 0, fmt.Errorf("read throttled time: %w", err)
	}
	return parseThrottled(text)
}
