package engine

import "github.com/linerate/linerate/internal/agent/agentapi"

// place chooses the cores of a session's threads, other than those of sessions
// that are open.
func (e *Engine) place(s *session, unpinned bool) {
	s.unpinned = unpinned
	if e.cfg.Place == nil || unpinned || len(s.links) == 0 {
		return
	}
	var taken []int
	for _, open := range e.sessions.All() {
		for _, st := range open.streams {
			if st.core >= 0 {
				taken = append(taken, st.core)
			}
		}
	}
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

// threads are the ids of the streams' threads; where some are kept on a core it
// says on which.
func (s *session) threads(c *agentapi.CPUCount) []int {
	ids, cores, pinned := make([]int, len(s.streams)), make([]int, len(s.streams)), false
	for i, st := range s.streams {
		ids[i], cores[i] = int(st.thread.Load()), -1
		if st.pinned.Load() {
			cores[i] = st.core
		}
		if kept := st.kept.Load(); kept > 0 {
			cores[i] = int(kept) - 1
		}
		pinned = pinned || cores[i] >= 0
	}
	if pinned {
		c.Pinned = cores
	}
	return ids
}
