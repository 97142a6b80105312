// Package process reads which programs hold sockets, and how busy their threads
// are. It sees what its caller may see: the files of another user's program are
// hidden, and it says so rather than that there is no program. Of a program that was killed
// it waits for the end, and not for ever.
package process

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// Process is a running program.
type Process struct {
	PID int
	// Name is what it calls itself, at most 15 bytes (/proc/PID/comm).
	Name string
}

// Holding is who holds which sockets.
type Holding struct {
	// By is the lowest process number that holds each inode: a program that
	// forked shares its sockets.
	By map[uint32]Process
	// Hidden counts the processes whose files this caller may not see.
	Hidden int
}

// Thread is a thread's time so far.
type Thread struct {
	TID int
	// Ran is its time on a processor; Waited that it could have run and had
	// none, zero where the kernel does not count it (no schedstat).
	Ran, Waited time.Duration
}

// socketInode reads "socket:[4711]", what a socket's entry in /proc/PID/fd
// links to.
func socketInode(link []byte) (uint32, bool) {
	digits, ok := bytes.CutPrefix(link, []byte("socket:["))
	if !ok || !bytes.HasSuffix(digits, []byte("]")) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(digits[:len(digits)-1]), 10, 32)
	return uint32(n), err == nil
}

// parseSchedstat reads /proc/PID/task/TID/schedstat: nanoseconds on a
// processor, nanoseconds of waiting for one, and how often it ran.
func parseSchedstat(text []byte) (ran, waited time.Duration, err error) {
	f := bytes.Fields(text)
	if len(f) < 2 {
		return 0, 0, fmt.Errorf("parse schedstat: %d numbers, want 3", len(f))
	}
	a, err := strconv.ParseInt(string(f[0]), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("parse schedstat: %w", err)
	}
	b, err := strconv.ParseInt(string(f[1]), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("parse schedstat: %w", err)
	}
	return time.Duration(a), time.Duration(b), nil
}

// tick is USER_HZ of /proc/PID/stat (Documentation/filesystems/proc.rst).
const tick = 10 * time.Millisecond

// parseStat reads utime and stime, the 14th and 15th field of
// /proc/PID/task/TID/stat. The second is the name in brackets, which may hold
// blanks and brackets itself.
func parseStat(text []byte) (time.Duration, error) {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return 0, fmt.Errorf("parse stat: no name in it")
	}
	f := bytes.Fields(text[end+1:])
	if len(f) < 13 {
		return 0, fmt.Errorf("parse stat: %d fields behind the name, want 13", len(f))
	}
	var ticks int64
	for _, word := range f[11:13] {
		n, err := strconv.ParseInt(string(word), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("parse stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
