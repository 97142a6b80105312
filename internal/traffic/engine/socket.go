package engine

import (
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// askedOf is what a socket is asked for: what its own says, and for the rest
// what is asked for all.
func askedOf(own record.Socket, buffer unit.Bytes, congestion string) record.Socket {
	if own.SndBuf == 0 {
		own.SndBuf = buffer
	}
	if own.RcvBuf == 0 {
		own.RcvBuf = buffer
	}
	if own.Congestion == "" {
		own.Congestion = congestion
	}
	return own
}

// sinkOptions are a sink's, for what it accepts.
func sinkOptions(req agentapi.SinkRequest) socketOptions {
	return socketOptions{Socket: askedOf(req.Socket, req.SocketBuffer, req.Congestion), MPTCP: req.MPTCP}
}

// sourceOptions are one stream's.
func sourceOptions(req agentapi.SourceRequest, want agentapi.Stream) socketOptions {
	return socketOptions{Socket: askedOf(want.Socket, req.SocketBuffer, req.Congestion), MPTCP: req.MPTCP}
}

// The largest values that a socket takes: the window field scaled to its
// utmost, the largest code point.
const (
	largestBuffer = 1 << 30
	largestMSS    = 65535
	largestDSCP   = 63
	linkNameMost  = 15 // IFNAMSIZ less the end
)

// checkSocket refuses what no socket takes.
func checkSocket(s record.Socket) error {
	switch {
	case s.SndBuf < 0 || s.RcvBuf < 0 || s.SndBuf > largestBuffer || s.RcvBuf > largestBuffer:
		return fmt.Errorf("socket buffer: want 0 to %d bytes", int64(largestBuffer))
	case s.MSS < 0 || s.MSS > largestMSS:
		return fmt.Errorf("maximum segment size %d: want 0 to %d bytes", s.MSS, largestMSS)
	case s.DSCP < 0 || s.DSCP > largestDSCP:
		return fmt.Errorf("DSCP %d: want 0 to %d", s.DSCP, largestDSCP)
	case !(s.Pacing >= 0):
		return fmt.Errorf("pacing rate %v: want none or more", float64(s.Pacing))
	case len(s.Device) > linkNameMost:
		return fmt.Errorf("device %q: longer than a link's name can be", s.Device)
	}
	return nil
}

func checkSource(req agentapi.SourceRequest) error {
	if err := checkMode(req.Mode); err != nil {
		return err
	}
	if !(req.Rate >= 0) {
		return fmt.Errorf("rate %v: want none or more", float64(req.Rate))
	}
	for i, want := range req.Streams {
		if err := checkSocket(want.Socket); err != nil {
			return fmt.Errorf("stream %d: %w", i, err)
		}
	}
	return nil
}
