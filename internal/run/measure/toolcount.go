package measure

import (
	"slices"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
)

// beside adds what the host counted at a moment of its clock: its links' bytes
// and packets between two samples in proportion, the rest as the nearest one
// has it.
func beside(s agentapi.Sample, counted []agentapi.ToolSample, at, begin time.Time) agentapi.Sample {
	if len(counted) == 0 {
		return s
	}
	nearest := nearestTo(counted, at)
	s.CPU = nearest.CPU
	s.Links = slices.Clone(nearest.Links)
	for i := range s.Links {
		s.Links[i].At = nearest.At.Sub(begin)
	}
	next := slices.IndexFunc(counted, func(c agentapi.ToolSample) bool { return !c.At.Before(at) })
	if next < 1 || len(counted[next-1].Links) != len(s.Links) || len(counted[next].Links) != len(s.Links) {
		return s
	}
	low, high := counted[next-1], counted[next]
	length := high.At.Sub(low.At).Seconds()
	if length <= 0 {
		return s
	}
	share := at.Sub(low.At).Seconds() / length
	for i := range s.Links {
		a, b, c := low.Links[i].Counters, high.Links[i].Counters, &s.Links[i].Counters
		for _, n := range [...]struct {
			to       *uint64
			from, by uint64
		}{
			{&c.RxBytes, a.RxBytes, netstate.Grown(a.RxBytes, b.RxBytes)}, {&c.TxBytes, a.TxBytes, netstate.Grown(a.TxBytes, b.TxBytes)},
			{&c.RxPackets, a.RxPackets, netstate.Grown(a.RxPackets, b.RxPackets)}, {&c.TxPackets, a.TxPackets, netstate.Grown(a.TxPackets, b.TxPackets)},
		} {
			*n.to = n.from + uint64(share*float64(n.by))
		}
		s.Links[i].At = at.Sub(begin)
	}
	return s
}

// nearestTo is the sample that was taken nearest to a moment; counted has one at
// least.
func nearestTo(counted []agentapi.ToolSample, at time.Time) agentapi.ToolSample {
	away := func(c agentapi.ToolSample) time.Duration { return c.At.Sub(at).Abs() }
	return slices.MinFunc(counted, func(a, b agentapi.ToolSample) int { return int(away(a) - away(b)) })
}

// socketsOf is what the kernel counted of each stream nearest to a moment, at the
// receiving end or the sending one; nil unless it is known of every stream, as it
// is not where several programs run, of which one is sampled.
func socketsOf(counted []agentapi.ToolSample, streams []agentapi.Stream, receiving bool, at time.Time) []agentapi.TCPCount {
	if len(counted) == 0 {
		return nil
	}
	byPorts := make(map[[2]uint16]agentapi.TCPCount)
	for _, s := range nearestTo(counted, at).Sockets {
		ports := [2]uint16{s.Sport, s.Dport}
		if receiving {
			ports = [2]uint16{s.Dport, s.Sport}
		}
		byPorts[ports] = s.Count
	}
	all := make([]agentapi.TCPCount, len(streams))
	for i, s := range streams {
		count, known := byPorts[[2]uint16{s.Sport, s.Dport}]
		if !known {
			return nil
		}
		all[i] = count
	}
	return all
}
