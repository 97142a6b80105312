package engine

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/unit"
)

// receive takes in bytes on a thread of its own until the connection ends.
func (st *stream) receive(c conn, mode agentapi.Mode) {
	defer lockThread(&st.thread)()
	st.settle()
	in, err := c.reader(mode, payload.ReceiveLength(len(st.session.streams)))
	if err != nil {
		st.end(c, err)
		return
	}
	var total uint64
	for {
		n, err := in.Receive()
		if n > 0 {
			total += uint64(n)
			st.bytes.Store(total)
		}
		if errors.Is(err, io.EOF) {
			st.end(c, nil)
			return
		}
		if err != nil {
			st.end(c, err)
			return
		}
	}
}

// pour sends until the connection ends, or until limit bytes are through;
// zero is no limit.
func (st *stream) sendFull(out payload.Writer, limit uint64) error {
	var total uint64
	for limit == 0 || total < limit {
		most := uint64(payload.SendLength)
		if limit > 0 {
			most = min(most, limit-total)
		}
		n, err := out.Send(most)
		st.account(out, n, &total)
		if err != nil {
			return err
		}
	}
	return nil
}

// account counts what a call handed over.
func (st *stream) account(out payload.Writer, n int, total *uint64) {
	if n > 0 {
		*total += uint64(n)
		st.bytes.Store(*total)
	}
	if out.Copied() {
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
func (st *stream) sendPaced(out payload.Writer, limit uint64, rate unit.BitRate) error {
	size := step(rate)
	pace, begin := newPacer(rate, size), time.Now()
	var total uint64
	for (limit == 0 || total < limit) && !st.session.stopped() {
		n, wait := pace.due(time.Since(begin), payload.SendLength/size)
		if n == 0 {
			time.Sleep(min(wait, longestPause))
			continue
		}
		for left := uint64(n * size); left > 0 && (limit == 0 || total < limit); {
			most := left
			if limit > 0 {
				most = min(most, limit-total)
			}
			sent, err := out.Send(most)
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
