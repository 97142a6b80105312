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
		return newDropReader(fd)
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

// dropReader has the kernel drop what came in, in the way that carries most.
type dropReader struct {
	fd        int
	multipath bool
	room      []byte
	alarm     alarm
	trial     trial
}

// dropWay is a way to wait for what is dropped.
type dropWay struct {
	length int     // of a call
	tries  int     // how often it is asked before the thread sleeps
	alarm  bool    // it sleeps until much has come
	weight float64 // of its rate
}

// dropWays are in the order in which they are tried. To wake a thread takes the
// sender's core longer than to drop the bytes takes the reader's: it asks for some
// 8 µs before it sleeps. One that waits for much costs both the least, and one that
// hardly ever sleeps a core, which must be worth it.
var dropWays = [...]dropWay{
	{length: 64 << 10, tries: 20, weight: 1},
	{length: 1 << 20, alarm: true, weight: 1.05},
	{length: 64 << 10, tries: 200, weight: 0.9},
}

// dropStart is when a reader begins to try: once the writer has.
const dropStart = (1+2*trialRounds)*trialSpan + trialSpan

func newDropReader(fd int) *dropReader {
	_, multipath := socket.Multipath(fd)
	in := &dropReader{fd: fd, multipath: multipath, alarm: alarm{fd: fd, low: 1}, trial: trial{start: dropStart}}
	most := 0
	for _, way := range dropWays {
		in.trial.ways, most = append(in.trial.ways, way.weight), max(most, way.length)
	}
	in.room = make([]byte, most)
	return in
}

func (in *dropReader) Receive() (int, error) {
	way := dropWays[in.trial.way]
	n, err := sys.Drop(in.fd, in.room[:way.length], way.tries)
	switch {
	case errors.Is(err, syscall.EAGAIN):
		err = nil
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	now := time.Now()
	in.trial.moved(n, now)
	if in.alarm.off = in.multipath || !way.alarm; in.alarm.off {
		in.alarm.wait(1)
	}
	in.alarm.came(n, now)
	return n, err
}
