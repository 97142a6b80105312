package iperf3server

import (
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/payload"
)

// job is what the streams of one test have in common.
type job struct {
	params iperf3.Parameters
	source *payload.Source
	pace   pace
	burst  int // calls between two looks at the clock
	call   int // bytes of one call, a whole number of the client's blocks
	mode   agentapi.Mode
	began  time.Time

	limit uint64        // bytes that all streams together send; zero is no limit
	taken atomic.Uint64 // of it
}

// defaultBlock is what an iperf3 client asks for when its user asked for none. Where
// nothing depends on it, more is sent in one call.
const defaultBlock = 128 << 10

func newJob(p iperf3.Parameters, from *payload.Source) *job {
	block := int(p.Block)
	if block == 0 {
		block = defaultBlock
	}
	j := &job{params: p, source: from, burst: max(int(p.Burst), 1), call: block, mode: agentapi.ModeCopy,
		pace: pace{rate: p.BitRate(), grain: time.Duration(p.Pacing) * time.Microsecond}, began: time.Now()}
	if p.ZeroCopy {
		j.mode = agentapi.ModeZeroCopy
	}
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
		j.call = payload.SendLength
	}
	return j
}

// more takes one call's bytes of what is to be sent, if there is any left. The
// last call may go over: clients count whole blocks.
func (j *job) more() bool {
	return j.limit == 0 || j.taken.Add(uint64(j.call))-uint64(j.call) < j.limit
}
