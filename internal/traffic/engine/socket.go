package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
)

// asNow is a request as this build asks for its sockets.
func asNow(req agentapi.SourceRequest) agentapi.SourceRequest {
	if req.UDP != nil {
		req.Congestion = "" // it was of TCP
	}
	req.Streams = slices.Clone(req.Streams)
	for i := range req.Streams {
		req.Streams[i].Socket = req.Under(req.Streams[i].Socket)
	}
	return req
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

func checkSink(req agentapi.SinkRequest) error {
	if req.UDP != nil {
		return errors.Join(checkDatagrams(*req.UDP), checkWithin(req.Within))
	}
	return errors.Join(checkMode(req.Mode), checkSocket(req.Socket), checkWithin(req.Within))
}

func checkSource(req agentapi.SourceRequest) error {
	if req.UDP != nil {
		return checkDatagrams(*req.UDP)
	}
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
