package engine

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/unit"
)

// session is the streams of one trial at one end.
type session struct {
	cfg     Config
	links   []string
	opened  time.Time
	streams []*stream
	udp     []*datagrams   // one a stream, in a session of UDP
	started chan struct{}  // closed by start
	limit   uint64         // bytes a stream sends; zero is no limit; set before started closes
	ended   chan struct{}  // closed by stop
	source  *source        // of a sending TCP session
	sending sync.WaitGroup // threads that may use it
	// Unpinned leaves threads to the scheduler.
	unpinned bool
	mode     agentapi.Mode
	beside   beside

	startOnce, stopOnce sync.Once
	sampling            sync.Mutex
	// Under sampling: how sure the readings of each kind are, and what the
	// streams' threads use.
	surest  struct{ streams, links sampling.Surest }
	threads sampling.Threads

	mu      sync.Mutex
	stops   []func()
	samples sampling.Log[agentapi.Sample]
}

func (e *Engine) newSession(streams int, links []string) *session {
	s := &session{cfg: e.cfg, links: links, opened: time.Now(), started: make(chan struct{}), ended: make(chan struct{})}
	for range streams {
		s.streams = append(s.streams, &stream{session: s, core: -1})
	}
	return s
}

// onStop has f called when the session ends, at once if it has ended.
func (s *session) onStop(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() {
		f()
		return
	}
	s.stops = append(s.stops, f)
}

func (s *session) start(limit unit.Bytes) {
	s.startOnce.Do(func() {
		s.limit = uint64(max(limit, 0))
		close(s.started)
	})
}

// stop closes every socket, which ends the threads that block on them.
func (s *session) stop() {
	s.stopOnce.Do(func() {
		s.mu.Lock()
		close(s.ended)
		stops := s.stops
		s.mu.Unlock()
		for _, f := range stops {
			f()
		}
		for _, st := range s.streams {
			st.shut()
		}
		s.sampling.Lock() // a sample that runs ends first
		defer s.sampling.Unlock()
		s.threads.Close()
	})
}

func (s *session) stopped() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// releaseSource frees what the sending threads have in common, after the last
// of them.
func (s *session) releaseSource() {
	s.sending.Wait()
	s.source.release()
}

// attach gives an accepted connection its place.
func (s *session) attach(index int, c conn) error {
	if index < 0 || index >= len(s.streams) {
		return fmt.Errorf("%w: no stream %d", errOpening, index)
	}
	return s.streams[index].hold(c)
}

// clock is the session's.
func (s *session) clock() time.Duration { return time.Since(s.opened) }

// sample counts everything once. Streams first: they move fastest.
func (s *session) sample() error {
	// One at a time: of two that overlap the later may end first.
	s.sampling.Lock()
	defer s.sampling.Unlock()
	begin := s.clock()
	var now agentapi.Sample
	counted, infos := make([]uint64, len(s.streams)), make([]agentapi.TCPCount, len(s.streams))
	now.At, _ = s.surest.streams.Take(s.clock, len(s.streams), func() error {
		for i, st := range s.streams {
			infos[i], counted[i] = st.count()
		}
		return nil
	}, func() { now.Bytes, now.TCP = slices.Clone(counted), slices.Clone(infos) })
	if s.udp != nil {
		now.At = s.clock()
		now.UDP, now.Bytes = s.readDatagrams()
	}
	now.Copied = slices.ContainsFunc(s.streams, func(st *stream) bool { return st.copied.Load() })
	var err error
	if s.cfg.Links != nil && len(s.links) > 0 {
		var links []agentapi.LinkCount
		at, err := s.surest.links.Take(s.clock, len(s.streams), func() (err error) {
			links, err = s.cfg.Links(s.links)
			return err
		}, func() { now.Links = links })
		if err != nil {
			return fmt.Errorf("sample links: %w", err)
		}
		for i := range now.Links {
			now.Links[i].At = at
		}
	}
	if s.cfg.CPU != nil {
		if now.CPU, err = s.cfg.CPU(); err != nil {
			return fmt.Errorf("sample processors: %w", err)
		}
	}
	s.sampleThreads(&now.CPU)
	now.Took = s.clock() - begin
	s.mu.Lock()
	before, _ := s.samples.Last()
	s.samples.Add(now)
	s.mu.Unlock()
	s.wake(before, now)
	s.tryBeside(now)
	return nil
}

// since returns the samples from index on; whoever asks has those before. A
// negative index is the last one.
func (s *session) since(index int) []agentapi.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.samples.Since(index)
}

func (s *session) errors() []string {
	var faults []string
	for i, st := range s.streams {
		st.mu.Lock()
		if st.fault != nil && !s.stopped() {
			faults = append(faults, fmt.Sprintf("stream %d: %v", i, st.fault))
		}
		st.mu.Unlock()
	}
	return faults
}
