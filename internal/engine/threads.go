package engine

import (
	"time"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/kernel/procfs"
)

// place chooses the cores of a session's threads, other than those of sessions
// that are open.
func (e *Engine) place(s *session, unpinned bool) {
	s.unpinned = unpinned
	if e.cfg.Place == nil || unpinned || len(s.links) == 0 {
		return
	}
	var taken []int
	e.mu.Lock()
	for _, open := range e.sessions {
		for _, st := range open.streams {
			if st.core >= 0 {
				taken = append(taken, st.core)
			}
		}
	}
	e.mu.Unlock()
	for i, core := range e.cfg.Place(s.links, len(s.streams), taken) {
		if i < len(s.streams) {
			s.streams[i].core = core
		}
	}
}

// settle keeps the calling thread, which is locked, on the stream's core. A
// core that the kernel refuses is no loss: the thread stays free.
func (st *stream) settle() {
	if st.core >= 0 && pin(st.core) == nil {
		st.pinned.Store(true)
	}
}

// switchesMost is of how many threads the context switches are read: it takes
// the kernel some 20 µs each, and a sample must cost little.
const switchesMost = 64

// delaysMost is of how many threads the run delay is read, for the same reason:
// what the first wait for a core the others do too.
const delaysMost = 16

// sampleThreads reads what the streams' threads used.
func (s *session) sampleThreads(c *agentapi.CPUCount) {
	pinned := false
	ids := make([]int, len(s.streams))
	for i, st := range s.streams {
		id := int(st.thread.Load())
		ids[i] = id
		c.Threads = append(c.Threads, threadSeconds(id))
		if i < switchesMost && id != 0 {
			n, err := procfs.ThreadSwitches(id)
			if err == nil {
				for len(c.Switches) < i {
					c.Switches = append(c.Switches, agentapi.Switches{})
				}
				c.Switches = append(c.Switches, agentapi.Switches{Voluntary: n.Voluntary, Involuntary: n.Involuntary})
			}
		}
		if i < delaysMost && id != 0 {
			if d, err := procfs.RunDelay(id); err == nil {
				for len(c.Waited) < i {
					c.Waited = append(c.Waited, 0)
				}
				c.Waited = append(c.Waited, d.Seconds())
			}
		}
		pinned = pinned || st.pinned.Load() || st.kept.Load() > 0
	}
	allowed := s.quota.See(time.Since(s.opened), ids)
	c.Quota, c.Throttled = allowed.Quota, allowed.Throttled.Seconds()
	if !pinned {
		return
	}
	for _, st := range s.streams {
		core := -1
		if st.pinned.Load() {
			core = st.core
		}
		if kept := st.kept.Load(); kept > 0 {
			core = int(kept) - 1
		}
		c.Pinned = append(c.Pinned, core)
	}
}
