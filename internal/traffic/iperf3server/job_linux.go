package iperf3server

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// job is what the streams of one test have in common.
type job struct {
	params   iperf3.Parameters
	payload  *payload
	pace     pace
	burst    int // calls between two looks at the clock
	call     int // bytes of one call, a whole number of the client's blocks
	zeroCopy bool
	began    time.Time

	limit uint64        // bytes that all streams together send; zero is no limit
	taken atomic.Uint64 // of it
}

// The block that an iperf3 client asks for when its user asked for none, and
// what is sent in one call instead when nothing depends on it.
const (
	defaultBlock = 128 << 10
	largeCall    = 1 << 20
)

func newJob(p iperf3.Parameters, pay *payload) *job {
	block := int(p.Block)
	if block == 0 {
		block = defaultBlock
	}
	j := &job{params: p, payload: pay, burst: max(int(p.Burst), 1), call: block, zeroCopy: bool(p.ZeroCopy),
		pace: pace{rate: p.BitRate(), grain: time.Duration(p.Pacing) * time.Microsecond}, began: time.Now()}
	if p.Pacing == 0 {
		j.pace.grain = defaultGrain
	}
	// A client stops at so many bytes by its own count, which an omitted time
	// sets back; and of datagrams some may be lost. Before 3.16, of one thread,
	// it waits ten seconds for the rest of a block that it reads out of step.
	if p.Omit == 0 && !bool(p.UDP) && !p.VersionBefore(3, 16) {
		j.limit = uint64(p.Bytes)
		if p.Blocks > 0 {
			j.limit = uint64(p.Blocks) * uint64(block)
		}
	}
	if block == defaultBlock && p.Rate == 0 && p.Bytes == 0 && p.Blocks == 0 {
		j.call = largeCall
	}
	return j
}

// more takes one call's bytes of what is to be sent, if there is any left. The
// last call may go over: clients count whole blocks.
func (j *job) more() bool {
	return j.limit == 0 || j.taken.Add(uint64(j.call))-uint64(j.call) < j.limit
}

// payload is what is sent: bytes that no link compresses away, one copy for
// all, never written again.
type payload struct {
	bytes []byte
	file  *os.File // the same, for sendfile
}

func newPayload() (*payload, error) {
	p := &payload{bytes: make([]byte, largeCall)}
	socket.Pattern(p.bytes)
	f, err := os.CreateTemp("", "linerate-listen-")
	if err != nil {
		return nil, fmt.Errorf("make file to send: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("hide file to send: %w", err)
	}
	if _, err := f.Write(p.bytes); err != nil {
		f.Close()
		return nil, fmt.Errorf("write file to send: %w", err)
	}
	p.file = f
	return p, nil
}

func (p *payload) close() { _ = p.file.Close() }

// write sends the first n bytes, or as many as the socket takes.
func (p *payload) write(fd, n int, zeroCopy bool) (int, error) {
	if zeroCopy {
		var from int64
		return syscall.Sendfile(fd, int(p.file.Fd()), &from, n)
	}
	return syscall.Write(fd, p.bytes[:n])
}
