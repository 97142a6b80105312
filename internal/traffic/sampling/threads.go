package sampling

import (
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/cgroup"
	"github.com/linerate/linerate/internal/kernel/procfs"
)

const (
	// switchesMost is of how many threads the context switches are read: it takes
	// the kernel some 20 µs each.
	switchesMost = 64
	// delaysMost is of how many threads the run delay is read, for the same reason:
	// what the first wait for a core the others do too.
	delaysMost = 16
)

// Threads reads what threads of this process used and waited for, and what
// their control groups allow them. Its zero value has read nothing; it is for
// one goroutine at a time, and wants a Close.
type Threads struct {
	quota cgroup.Watch
	files map[int]*threadFiles // by thread id
}

// threadFiles are a thread's files; nil is one that is not read or not there.
type threadFiles struct {
	switches *procfs.Kept[procfs.Switches]
	delay    *procfs.Kept[time.Duration]
	seen     bool
}

func (f *threadFiles) close() {
	if f.switches != nil {
		_ = f.switches.Close()
	}
	if f.delay != nil {
		_ = f.delay.Close()
	}
}

// Count adds to c what the threads of these ids used until now, in their order;
// zero is a thread that does not run, at a moment of the caller's clock.
func (t *Threads) Count(c *agentapi.CPUCount, at time.Duration, ids []int) {
	t.open(ids)
	for i, id := range ids {
		c.Threads = append(c.Threads, Seconds(id))
		f := t.files[id]
		if f == nil {
			continue
		}
		if f.switches != nil {
			if n, err := f.switches.Read(); err == nil {
				c.Switches = append(padded(c.Switches, i), agentapi.Switches{Voluntary: n.Voluntary, Involuntary: n.Involuntary})
			}
		}
		if f.delay != nil {
			if d, err := f.delay.Read(); err == nil {
				c.Waited = append(padded(c.Waited, i), d.Seconds())
			}
		}
	}
	allowed := t.quota.See(at, ids)
	c.Quota, c.Throttled = allowed.Quota, allowed.Throttled.Seconds()
}

// padded is the list with zeros up to a length.
func padded[T any](list []T, length int) []T {
	if len(list) >= length {
		return list
	}
	return append(list, make([]T, length-len(list))...)
}

// open opens the files of threads that are new, and closes those of threads
// that are gone.
func (t *Threads) open(ids []int) {
	if t.files == nil {
		t.files = make(map[int]*threadFiles)
	}
	for i, id := range ids[:min(len(ids), switchesMost)] {
		if id == 0 {
			continue
		}
		f := t.files[id]
		if f == nil {
			f = new(threadFiles)
			f.switches, _ = procfs.OpenSwitches(id)
			if i < delaysMost {
				f.delay, _ = procfs.OpenRunDelay(id)
			}
			t.files[id] = f
		}
		f.seen = true
	}
	for id, f := range t.files {
		if !f.seen {
			f.close()
			delete(t.files, id)
		}
		f.seen = false
	}
}

// Close closes the files; a later Count opens them again.
func (t *Threads) Close() {
	for _, f := range t.files {
		f.close()
	}
	t.files = nil
}
