package engine

import (
	"fmt"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/unit"
)

// session is the streams of one trial at one end.
type session struct {
	links   []string
	opened  time.Time
	streams []*stream
	udp     []*datagrams    // one a stream, in a session of UDP
	started chan struct{}   // closed by start
	limit   uint64          // bytes a stream sends; zero is no limit; set before started closes
	ended   chan struct{}   // closed by stop
	source  *payload.Source // of a sending TCP session
	sending sync.WaitGroup  // threads that may use it
	// Unpinned leaves threads to the scheduler.
	unpinned bool
	mode     agentapi.Mode
	beside   beside

	startOnce, stopOnce sync.Once
	samples             *sampling.Session

	mu    sync.Mutex
	stops []func()
}

func (e *Engine) newSession(streams int, links []string) *session {
	s := &session{links: links, opened: time.Now(), started: make(chan struct{}), ended: make(chan struct{}), samples: sampling.NewSession(e.cfg.Host, links)}
	payload.Room(streams)
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
		s.samples.Close()
	})
}

// finish stops the session and returns its last sample.
func (s *session) finish() ([]agentapi.Sample, error) {
	err := s.sample()
	s.stop()
	return s.samples.Since(-1), err
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
	s.source.Release()
}

// attach gives an accepted connection its place.
func (s *session) attach(index int, c conn) error {
	if index < 0 || index >= len(s.streams) {
		return fmt.Errorf("%w: no stream %d", errOpening, index)
	}
	return s.streams[index].hold(c)
}

// sample counts everything once.
func (s *session) sample() error {
	now, err := s.samples.Take(len(s.streams), func(now *agentapi.Sample) {
		now.Bytes, now.TCP = make([]uint64, len(s.streams)), make([]agentapi.TCPCount, len(s.streams))
		for i, st := range s.streams {
			now.TCP[i], now.Bytes[i] = st.count()
			now.Copied = now.Copied || st.copied.Load()
		}
		if s.udp != nil {
			now.UDP, now.Bytes = s.readDatagrams()
		}
	}, s.threads)
	if err != nil {
		return err
	}
	s.tryBeside(now)
	return nil
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
