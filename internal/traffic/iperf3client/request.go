package iperf3client

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// defaultDatagram fits an MTU of 1500 behind IPv6 headers, as iperf3's own
// default without a route's MTU does.
const defaultDatagram = 1448

// mostStreams bounds the sockets of one test; a server may take fewer.
const mostStreams = 1024

// check refuses what makes no sense and fills in defaults.
func check(r *agentapi.IPerf3OpenRequest) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrRequest, fmt.Sprintf(format, args...))
	}
	switch {
	case r.Session == "":
		return refuse("no session")
	case !r.Server.IsValid() || r.Server.Port() == 0:
		return refuse("no server address")
	case r.Src.IsValid() && r.Src.Unmap().Is4() != r.Server.Addr().Unmap().Is4():
		return refuse("source %s and server %s are of two families", r.Src, r.Server.Addr())
	case len(r.Direction.Ways()) == 0, r.Direction != flow.Forward && r.Direction != flow.Reverse && r.Direction != flow.Both:
		return refuse("direction %q", r.Direction)
	case r.Streams < 1 || r.Streams > mostStreams:
		return refuse("%d streams, want 1 to %d", r.Streams, mostStreams)
	case len(r.Sports) > streamsOf(*r):
		return refuse("%d source ports for %d streams", len(r.Sports), streamsOf(*r))
	case r.Longest <= 0 || r.Longest > 24*time.Hour:
		return refuse("a test of %v, want at most a day", r.Longest)
	case r.Omit < 0 || r.Omit%time.Second != 0:
		return refuse("omit %v: want whole seconds", r.Omit)
	case r.UDP && r.MPTCP:
		return refuse("UDP by MPTCP")
	case r.Rate < 0 || float64(r.Rate) > math.MaxInt64/2:
		return refuse("rate %v", r.Rate)
	}
	r.Src = r.Src.Unmap()
	if r.UDP && r.Block == 0 {
		r.Block = defaultDatagram
	}
	if r.Lifetime <= 0 {
		r.Lifetime = r.Longest + time.Minute
	}
	p := parameters(*r, iperf3.Cookie{})
	if err := p.Check(mostStreams); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	return nil
}

// streamsOf is how many a test has, both ways together.
func streamsOf(r agentapi.IPerf3OpenRequest) int { return r.Streams * len(r.Direction.Ways()) }

// tcpBlock is what a server moves with a call unless told otherwise.
const tcpBlock = 128 << 10

// parameters is the request in iperf3's words.
func parameters(r agentapi.IPerf3OpenRequest, cookie iperf3.Cookie) iperf3.Parameters {
	p := iperf3.Parameters{
		TCP: iperf3.Flag(!r.UDP), UDP: iperf3.Flag(r.UDP), MPTCP: iperf3.Flag(r.MPTCP),
		Time: iperf3.Whole(math.Ceil(r.Longest.Seconds())), Omit: iperf3.Whole(r.Omit / time.Second),
		Parallel: iperf3.Whole(r.Streams), Reverse: r.Direction == flow.Reverse, Both: r.Direction == flow.Both,
		Block: iperf3.Whole(r.Block), Rate: iperf3.Whole(r.Rate), Pacing: 1000,
		MSS: iperf3.Whole(r.Socket.MSS), NoDelay: iperf3.Flag(r.Socket.NoDelay), TOS: iperf3.Whole(r.Socket.DSCP << 2),
		Window: iperf3.Whole(max(r.Socket.SndBuf, r.Socket.RcvBuf)), FQRate: iperf3.Whole(r.Socket.Pacing),
		Congestion: r.Socket.Congestion, Counters64: iperf3.Mark(r.UDP && counters64), Version: "linerate",
	}
	if p.Block == 0 {
		p.Block = tcpBlock
	}
	if r.Token != "" {
		p.Proof = iperf3.Prove([]byte(r.Token), cookie, time.Now())
	}
	return p
}
