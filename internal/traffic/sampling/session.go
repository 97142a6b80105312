package sampling

import (
	"fmt"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Host is how counters are read that only the host knows; nil reads none.
type Host struct {
	Links func(names []string) ([]agentapi.LinkCount, error)
	CPU   func() (agentapi.CPUCount, error)
}

// Session is the samples of one session of streams, by its own clock. It is safe
// for many goroutines, and wants a Close.
type Session struct {
	host    Host
	links   []string
	opened  time.Time
	taking  sync.Mutex // one at a time: of two that overlap the later may end first
	streams Surest
	linked  Surest
	threads Threads
	closed  bool

	mu   sync.Mutex
	kept Log[agentapi.Sample]
}

// NewSession begins the clock of a session that counts these links.
func NewSession(host Host, links []string) *Session {
	return &Session{host: host, links: links, opened: time.Now()}
}

// Clock is the time since the session began.
func (s *Session) Clock() time.Duration { return time.Since(s.opened) }

// Take counts everything once and keeps it: the streams, of which there are so
// many, first, since they move fastest; then links, processors, and what the
// streams' threads used, whose ids threads tells. Read fills in the streams' counts.
func (s *Session) Take(streams int, read func(*agentapi.Sample), threads func(*agentapi.CPUCount) []int) (now agentapi.Sample, err error) {
	s.taking.Lock()
	defer s.taking.Unlock()
	begin := s.Clock()
	var reading agentapi.Sample
	at, _ := s.streams.Take(s.Clock, streams, func() error {
		reading = agentapi.Sample{}
		read(&reading)
		return nil
	}, func() { now = reading })
	now.At = at
	if s.host.Links != nil && len(s.links) > 0 {
		var links []agentapi.LinkCount
		at, err := s.linked.Take(s.Clock, streams, func() (err error) {
			links, err = s.host.Links(s.links)
			return err
		}, func() { now.Links = links })
		if err != nil {
			return now, fmt.Errorf("sample links: %w", err)
		}
		for i := range now.Links {
			now.Links[i].At = at
		}
	}
	if s.host.CPU != nil {
		if now.CPU, err = s.host.CPU(); err != nil {
			return now, fmt.Errorf("sample processors: %w", err)
		}
	}
	s.threads.Count(&now.CPU, s.Clock(), threads(&now.CPU))
	if s.closed { // nobody closes them any more
		s.threads.Close()
	}
	now.Took = s.Clock() - begin
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Add(now)
	return now, nil
}

// Since is the samples from an index on; whoever asks has those before. A negative
// one is the last.
func (s *Session) Since(index int) []agentapi.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.Since(index)
}

// Close ends sampling, after a sample that is being taken.
func (s *Session) Close() {
	s.taking.Lock()
	defer s.taking.Unlock()
	s.closed = true
	s.threads.Close()
}
