package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Where both ends of a link are on one machine (namespaces, containers), the
// sender's thread does the receiver's share of the kernel's work, and what it
// copied lies in its own core's cache. Whether a single stream's reader does
// better on that core or on another is the machine's matter: on some virtual
// ones twice as well, a quarter better where cores share no near cache, on
// others not at all. So both are tried by turns while
// the stream warms up, and the better one is kept for the session. Where a card
// is between nothing is tried, nor where bytes are not copied.
type beside struct {
	mu    sync.Mutex
	state int // of besideSteps; besideSteps is decided
	at    time.Duration
	bytes uint64
	rate  [2]float64 // sums, bytes a second: free, and on the sender's core
	free  []int      // the cores that the thread had
}

const (
	// besideSteps is how many spans a try takes: one to get going, then free and
	// beside by turns, twice.
	besideSteps = 5
	// besideSpan is the least span that tells a rate.
	besideSpan = 100 * time.Millisecond
	// besideFast is the rate from which it is worth it, in bytes a second.
	besideFast = 1e9
	// besideGain is the share of the other rate that must be reached to be kept: as
	// much on one core instead of two is a gain.
	besideGain = 1.0
)

// tryBeside takes a session's try a step further at a sample.
func (s *session) tryBeside(now agentapi.Sample) {
	b := &s.beside
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.unpinned || s.udp != nil || s.mode != agentapi.ModeCopy || len(s.streams) != 1 || s.streams[0].core >= 0 || b.state >= besideSteps || len(now.Bytes) != 1 || s.stopped() {
		return
	}
	span := now.At - b.at
	if b.at != 0 && span < besideSpan {
		return
	}
	carried := now.Bytes[0] - min(b.bytes, now.Bytes[0])
	first := b.at == 0
	b.at, b.bytes = now.At, now.Bytes[0]
	if first || carried == 0 { // it has not begun
		return
	}
	rate := float64(carried) / span.Seconds()
	st := s.streams[0]
	core, near := st.incoming()
	if !near || rate < besideFast && b.state == 0 {
		b.state = besideSteps
		return
	}
	if s.source != nil {
		// A sender stays where it is, or its reader would run after it.
		b.state = besideSteps
		st.stay()
		return
	}
	b.step(st, rate, core)
}

// step counts the span that is over and begins the next one.
func (b *beside) step(st *stream, rate float64, core int) {
	if b.state > 0 {
		b.rate[1-b.state%2] += rate
	}
	b.state++
	want := b.state%2 == 0
	if b.state == besideSteps {
		want = b.rate[1] >= besideGain*b.rate[0]
	}
	if want {
		b.free = st.keep(core, b.free)
	} else {
		st.release(b.free)
	}
}

func (st *stream) incoming() (int, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.conn == nil || st.session.stopped() {
		return 0, false
	}
	return st.conn.incoming()
}

// keep keeps the stream's thread on a core, and returns the cores it had.
func (st *stream) keep(core int, had []int) []int {
	id := int(st.thread.Load())
	if id == 0 {
		return had
	}
	if had == nil {
		var err error
		if had, err = affinity(id); err != nil {
			return nil
		}
	}
	if !slices.Contains(had, core) { // whoever keeps this process from that core has a reason
		return had
	}
	if setAffinity(id, core) == nil {
		st.kept.Store(int32(core) + 1)
	}
	return had
}

// release gives the thread its cores back.
func (st *stream) release(had []int) {
	if id := int(st.thread.Load()); id != 0 && len(had) > 0 && setAffinity(id, had...) == nil {
		st.kept.Store(0)
	}
}

// stay keeps a sender's thread on one core: those of the two directions between
// two addresses on different ones.
func (st *stream) stay() {
	id := int(st.thread.Load())
	cores, err := affinity(id)
	if id == 0 || err != nil || len(cores) < 2 {
		return
	}
	st.mu.Lock()
	c := st.conn
	st.mu.Unlock()
	if c == nil {
		return
	}
	at := 0
	if c.Local().Addr().Compare(c.Remote().Addr()) > 0 {
		at = 1
	}
	st.keep(cores[at], cores)
}
