package apply

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/kernel/cgroup"
)

// Owner tells one process of one boot from every other: process ids come
// round again, also after a reboot.
type Owner struct {
	PID int `json:"pid"`
	// Start is the process's start in clock ticks since boot (field 22 of
	// /proc/PID/stat); zero where there is no /proc.
	Start uint64 `json:"start_ticks"`
	// Boot is /proc/sys/kernel/random/boot_id; "" where there is none.
	Boot string `json:"boot"`
}

// CurrentOwner is the calling process.
func CurrentOwner() Owner {
	return OwnerOf(os.Getpid())
}

// OwnerOf is a process that runs; one that does not is not Alive.
func OwnerOf(pid int) Owner {
	o := Owner{PID: pid, Boot: bootID()}
	o.Start, _ = startTicks(pid)
	return o
}

// ThisBoot reports whether the process is, or was, one of the machine's
// present boot.
func (o Owner) ThisBoot() bool { return o.Boot == bootID() }

// Alive reports whether the process still runs, in this boot.
func (o Owner) Alive() bool {
	if o.Boot != bootID() {
		return false
	}
	start, ok := startTicks(o.PID)
	return ok && start == o.Start
}

// Stopped reports whether the process is there and was stopped, by a signal or with its
// control group (a container that is paused, a unit that is frozen): it does nothing until
// it is told to go on.
func (o Owner) Stopped() bool {
	state, start, ok := processState(o.PID)
	return ok && start == o.Start && o.Boot == bootID() && (state == "T" || state != "Z" && state != "X" && cgroup.Frozen(o.PID))
}

// sinceBoot is how long the machine runs, time that it slept included
// (/proc/uptime, proc(5)); zero where there is no /proc.
func sinceBoot() time.Duration {
	b, _ := os.ReadFile("/proc/uptime")
	text, _, _ := strings.Cut(string(b), " ")
	up, err := time.ParseDuration(text + "s")
	if err != nil {
		return 0
	}
	return up
}

func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// startTicks is when a process started; a zombie counts as ended.
func startTicks(pid int) (ticks uint64, ok bool) {
	state, ticks, ok := processState(pid)
	if state == "Z" || state == "X" {
		return 0, false
	}
	return ticks, ok
}

// processState reads /proc/PID/stat (proc(5)). The command in it, between
// brackets, may hold blanks and brackets itself.
func processState(pid int) (letter string, ticks uint64, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0, false
	}
	_, rest, found := bytes.Cut(b[max(bytes.LastIndexByte(b, ')'), 0):], []byte(") "))
	fields := bytes.Fields(rest)
	const state, start = 0, 22 - 3 // the first field after the command is number 3
	if !found || len(fields) <= start {
		return "", 0, false
	}
	ticks, err = strconv.ParseUint(string(fields[start]), 10, 64)
	return string(fields[state]), ticks, err == nil
}
