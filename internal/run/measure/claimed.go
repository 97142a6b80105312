package measure

import (
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

// claimed is what the trial's senders would report in sum if each counted for
// itself, as clients that are started side by side do: what it handed to its
// socket, over its own time from its first byte to its end. What waits in the
// socket's buffer then counts, though it was never carried, and times that do
// not coincide are added up as if they did.
func (t *trial) claimed() unit.BitRate {
	var sum unit.BitRate
	for _, e := range t.ends {
		if !e.sending || len(e.samples) < 2 {
			continue
		}
		last := e.samples[len(e.samples)-1]
		for i := range e.way.streams {
			if took := last.At - firstByte(e.samples, i); took > 0 {
				sum += unit.FromBytes(float64(handed(last, i)), took.Seconds())
			}
		}
	}
	return sum
}

// firstByte is when a stream began: the last sample before it had handed over
// anything.
func firstByte(samples []agentapi.Sample, stream int) time.Duration {
	at := samples[0].At
	for _, s := range samples {
		if handed(s, stream) > 0 {
			break
		}
		at = s.At
	}
	return at
}

// handed is what a sender gave its socket so far: what TCP sent, each byte
// once, and what it has not sent yet. A call that is still writing counts as
// far as it has come; where TCP does not say, only calls that are over.
func handed(s agentapi.Sample, stream int) uint64 {
	done := s.Bytes[stream]
	c := tcpOf(s, stream)
	if c.BytesSent < c.BytesRetrans {
		return done
	}
	return max(done, c.BytesSent-c.BytesRetrans+uint64(max(c.Last.NotSent, 0)))
}
