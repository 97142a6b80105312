package engine

import (
	"math/bits"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

// A reader that is woken for every packet costs both ends: the sender's core
// wakes it (a seventh of its time), and it contends for the socket. A reader of a fast stream sleeps
// until as much waits as arrives in wakeAfter: so little that neither the
// window nor a counter notices, and on a slow stream nothing at all. A reader
// that drops what it gets is always done at once and gains nothing by it.
const (
	wakeAfter = 64 * time.Microsecond
	wakeLeast = 16 << 10
	wakeMost  = 256 << 10
	// wakeShare is the part of the receive buffer that may wait at the most.
	wakeShare = 8
	// shortestSpan is how far two samples must be apart to tell a rate.
	shortestSpan = 10 * time.Millisecond
)

// lowWater is how many bytes a reader should wait for at a rate; 1 is any.
func lowWater(bytesPerSecond float64, buffer unit.Bytes) int {
	most := min(wakeMost, int(buffer)/wakeShare)
	n := min(int(min(bytesPerSecond, 1e12)*wakeAfter.Seconds()), most)
	if n < wakeLeast {
		return 1
	}
	return 1 << (bits.Len(uint(n)) - 1)
}

// wake has the readers of a receiving session wait for as much as their rate
// between two samples asks for.
func (s *session) wake(before, now agentapi.Sample) {
	span := now.At - before.At
	if s.source != nil || s.udp != nil || s.mode != agentapi.ModeCopy || span < shortestSpan {
		return
	}
	for i, st := range s.streams {
		if i >= len(before.Bytes) || i >= len(now.TCP) || !now.TCP[i].Present {
			continue
		}
		grown := now.Bytes[i] - min(before.Bytes[i], now.Bytes[i])
		st.setReceiveLowWater(lowWater(float64(grown)/span.Seconds(), now.TCP[i].RcvBuf))
	}
}

func (st *stream) setReceiveLowWater(bytes int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.conn == nil || st.session.stopped() || bytes == max(st.low, 1) {
		return
	}
	st.low = bytes
	st.conn.setReceiveLowWater(bytes)
}
