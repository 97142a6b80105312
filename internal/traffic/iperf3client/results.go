package iperf3client

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/sampling"
)

// results is what this end tells the server, in the server's form.
func (s *session) results(seconds float64) iperf3.Results {
	out := iperf3.Results{HasRetransmits: iperf3.NotSender}
	s.mu.Lock()
	omitted := s.omitted
	s.mu.Unlock()
	busy := 0.0
	for i, st := range s.streams {
		busy += sampling.Seconds(int(st.thread.Load()))
		tcp, bytes := st.count()
		if i < len(omitted) {
			bytes -= min(omitted[i], bytes)
		}
		r := iperf3.StreamResult{ID: iperf3.StreamID(i), Bytes: whole(bytes), Retransmits: iperf3.NotSender, End: seconds}
		if st.sending && st.udp == nil && tcp.Present {
			r.Retransmits, out.HasRetransmits = whole(tcp.Retransmits), 1
		}
		if st.udp != nil {
			u := st.udp.counted()
			r.Packets, r.Jitter = whole(u.Datagrams), u.Jitter.Seconds()
			if !st.sending {
				r.Packets, r.Errors = whole(u.Highest), whole(u.Highest-min(u.Datagrams, u.Highest))
			}
		}
		out.Streams = append(out.Streams, r)
	}
	if seconds > 0 {
		out.CPUTotal = 100 * busy / seconds
	}
	return out
}

func whole(n uint64) iperf3.Whole { return iperf3.Whole(min(n, math.MaxInt64)) }

// mostName bounds what is kept of a server's name for something.
const mostName = 32

// shownName is a name that can be shown: printable and short, else "".
func shownName(s string) string {
	if len(s) > mostName || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return s
}

// fill takes what the server says of each stream. It is a stranger's word: what
// cannot be is an error, and the rest stays.
func fill(counts []agentapi.IPerf3Count, theirs iperf3.Results) error {
	byID := make(map[int]iperf3.StreamResult)
	for _, r := range theirs.Streams {
		byID[r.ID] = r
	}
	for i := range counts {
		r, ok := byID[iperf3.StreamID(i)]
		if !ok {
			return fmt.Errorf("%w: its results leave out stream %d", ErrProtocol, i)
		}
		if r.Bytes < 0 || !(r.End >= r.Start) || r.End-r.Start > 2*iperf3.MaxSeconds || r.Packets < 0 || r.Errors < 0 || !(math.Abs(r.Jitter) < 3600) {
			return fmt.Errorf("%w: its results of stream %d cannot be", ErrProtocol, i)
		}
		c := &counts[i]
		c.Server, c.ServerSeconds = uint64(r.Bytes), r.End-r.Start
		c.Packets, c.Lost = uint64(max(r.Packets-r.OmittedPackets, 0)), uint64(max(r.Errors-r.OmittedErrors, 0))
		c.Jitter = time.Duration(max(r.Jitter, 0) * float64(time.Second))
		if r.Retransmits > 0 {
			c.Retransmits = uint64(r.Retransmits)
		}
	}
	return nil
}
