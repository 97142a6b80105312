package engine

import (
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
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

// sampleThreads reads what the streams' threads used.
func (s *session) sampleThreads(c *agentapi.CPUCount) {
	pinned := false
	ids := make([]int, len(s.streams))
	for i, st := range s.streams {
		ids[i] = int(st.thread.Load())
		pinned = pinned || st.pinned.Load() || st.kept.Load() > 0
	}
	s.threads.Count(c, time.Since(s.opened), ids)
	if s.stopped() { // nobody closes them after stop
		s.threads.Close()
	}
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
