package engine

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/socket"
	"github.com/linerate/linerate/unit"
)

// source is the bytes that all streams of a session send, again and again:
// few, so that they stay in the processor's cache.
type source struct {
	bytes []byte
	file  pageFile // the same bytes, for sendfile
}

// sourceLength is shared by all streams: larger than what a level-1 cache
// holds costs nothing, larger than level 2 does.
const sourceLength = 128 << 10

func newSource() *source {
	s := &source{bytes: make([]byte, sourceLength)}
	socket.Pattern(s.bytes)
	return s
}

// pageFile is a file without a name, made when it is first asked for.
type pageFile struct {
	once sync.Once
	fd   int
	err  error
}

// sendLength is how much one call hands over, of a small buffer many times over.
// A blocked call that returns early costs the runtime a hand-over: in a lab kernel
// two thirds of the processor. Larger calls cost less per byte, but nothing of a
// call is counted before it is over.
const sendLength = 4 << 20

// receiveLength is a stream's own buffer: it stays in the cache. A call fills
// it as often as receiveTimes says before it returns.
func receiveLength(streams int) int {
	if streams > 64 { // memory counts more
		return 64 << 10
	}
	return 256 << 10
}

// receiveTimes is as much as one call takes in (MSG_WAITALL), in buffers; it begins
// where the stream's opening ends, as a copy between like places of two pages takes
// two thirds of the time. What TCP says of
// the connection counts meanwhile, see handedOver; where it says nothing one
// buffer is the grain of the counters.
const receiveTimes = 16

// receive takes in bytes on a thread of its own until the connection ends.
func (st *stream) receive(c conn, mode agentapi.Mode) {
	defer lockThread(&st.thread)()
	st.settle()
	in, err := c.reader(mode, receiveLength(len(st.session.streams)))
	if err != nil {
		st.end(c, err)
		return
	}
	var total uint64
	for {
		n, err := in.receive()
		if n > 0 {
			total += uint64(n)
			st.bytes.Store(total)
		}
		if err != nil || n == 0 {
			st.end(c, err)
			return
		}
	}
}

// pour sends until the connection ends, or until limit bytes are through;
// zero is no limit.
func (st *stream) sendFull(out writer, limit uint64) error {
	var total uint64
	for limit == 0 || total < limit {
		most := uint64(sendLength)
		if limit > 0 {
			most = min(most, limit-total)
		}
		n, err := out.send(most)
		st.account(out, n, &total)
		if err != nil {
			return err
		}
	}
	return nil
}

// account counts what a call handed over.
func (st *stream) account(out writer, n int, total *uint64) {
	if n > 0 {
		*total += uint64(n)
		st.bytes.Store(*total)
	}
	if out.copied() {
		st.copied.Store(true)
	}
}

// step is what a paced stream hands over at once: what its rate carries in a
// millisecond, within reason.
func step(rate unit.BitRate) int {
	return int(min(max(float64(rate)/8/1000, 512), 256<<10))
}

// drip is pour at a rate of payload, kept by small writes: it holds for every
// protocol and build, and to the byte. --pacing asks the kernel instead.
func (st *stream) sendPaced(out writer, limit uint64, rate unit.BitRate) error {
	size := step(rate)
	pace, begin := newPacer(rate, size), time.Now()
	var total uint64
	for (limit == 0 || total < limit) && !st.session.stopped() {
		n, wait := pace.due(time.Since(begin), sendLength/size)
		if n == 0 {
			time.Sleep(min(wait, longestPause))
			continue
		}
		for left := uint64(n * size); left > 0 && (limit == 0 || total < limit); {
			most := left
			if limit > 0 {
				most = min(most, limit-total)
			}
			sent, err := out.send(most)
			st.account(out, sent, &total)
			left -= min(uint64(max(sent, 0)), left)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkMode refuses words that this version does not know.
func checkMode(m agentapi.Mode) error {
	switch m {
	case agentapi.ModeCopy, agentapi.ModeZeroCopy, agentapi.ModeSendfile, agentapi.ModeMsgZeroCopy:
		return nil
	}
	return fmt.Errorf("mode %q: %w", m, errors.ErrUnsupported)
}
