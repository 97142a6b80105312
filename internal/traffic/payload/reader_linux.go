package payload

import (
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// receiveTimes is as much as one call takes in (MSG_WAITALL), in buffers. What TCP
// says of the connection counts meanwhile; where it says nothing one buffer is the
// grain of the counters.
const receiveTimes = 16

// ReceiveMethod is how streams are taken in, as record.Method has it.
func ReceiveMethod(m agentapi.Mode) string {
	if m == agentapi.ModeCopy {
		return "read"
	}
	return "MSG_TRUNC"
}

// NewReader takes in a connected socket's bytes with a buffer of so many bytes; at is
// how many the thread that sends them had sent before, such as a stream's opening.
// The kernel lays a thread's bytes one after the other into pages of its own
// (skb_page_frag_refill), and a copy is fastest where both its ends stand at the same place in a page: with 20 bytes
// between them a receiver took half as long again for the same bytes.
//
// Copying, it takes over the socket's SO_RCVLOWAT and SO_RCVTIMEO.
func NewReader(fd int, mode agentapi.Mode, buffer, at int) Reader {
	if mode != agentapi.ModeCopy {
		return dropReader{fd, make([]byte, dropLength)}
	}
	// What wakes a reader of MPTCP is the subflows' business.
	_, multipath := socket.Multipath(fd)
	return &vectorReader{fd: fd, to: sys.NewVector(make([]byte, buffer), buffer*receiveTimes, at), alarm: alarm{fd: fd, off: multipath, low: 1}}
}

// vectorReader is recvmsg into one buffer many times over. Full calls: fewer,
// larger ones cost the processor less, in the kernel and in the runtime, which
// looks after every blocked call.
type vectorReader struct {
	fd    int
	to    *sys.Vector
	alarm alarm
	turn  turn
}

func (in *vectorReader) Receive() (int, error) {
	n, err := in.to.Receive(in.fd, sys.WaitAll)
	switch {
	case errors.Is(err, syscall.EAGAIN):
		err = nil
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	now := time.Now()
	in.alarm.came(n, now)
	in.turn.over(now)
	return n, err
}

// dropReader has the kernel drop what came in.
type dropReader struct {
	fd   int
	room []byte
}

const (
	// dropLength is what one call drops.
	dropLength = 64 << 10
	// dropTries is how often it is asked before the thread sleeps, some 8 µs: to
	// wake it takes the sender's core longer than to drop the bytes takes this.
	dropTries = 20
)

func (in dropReader) Receive() (int, error) {
	n, err := sys.Drop(in.fd, in.room, dropTries)
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return 0, nil
	case err == nil && n == 0:
		return 0, io.EOF
	}
	return n, err
}
