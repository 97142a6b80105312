package link

import (
	"log/slog"
	"sync"
	"time"
)

// LimitedLog logs at most mostLines a second, and how many lines it left out:
// whoever sends rubbish must not fill the disk. It is safe for many goroutines.
type LimitedLog struct {
	log *slog.Logger

	mu    sync.Mutex
	since time.Time
	lines int
	left  int
}

const mostLines = 20

// NewLimitedLog is one that logs to another.
func NewLimitedLog(log *slog.Logger) *LimitedLog { return &LimitedLog{log: log} }

// Warn logs, unless too much was.
func (s *LimitedLog) Warn(what string, args ...any) {
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
