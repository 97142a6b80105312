package station

import (
	"log/slog"
	"sync"
	"time"
)

// seldom logs at most mostLines a second, and how many lines it left out:
// whoever sends rubbish must not fill the disk.
type seldom struct {
	log *slog.Logger

	mu    sync.Mutex
	since time.Time
	lines int
	left  int
}

const mostLines = 20

func (s *seldom) warn(what string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.since) > time.Second {
		if s.left > 0 {
			s.log.Warn("more of these were not logged", "count", s.left)
		}
		s.since, s.lines, s.left = now, 0, 0
	}
	if s.lines++; s.lines > mostLines {
		s.left++
		return
	}
	s.log.Warn(what, args...)
}
