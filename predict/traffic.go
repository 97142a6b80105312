package predict

import (
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Traffic is made here and by measure.Spec alone: a literal leaves out what it
// forgets, and a zero value means something else (a test holds that).

// Between is streams of TCP by chosen ports over every lane of a pair, with what
// its hosts are set to. Whoever knows more of the traffic adds it.
func Between(from, to string, d flow.Direction, streams int) Traffic {
	return Traffic{From: from, To: to, Direction: d, Streams: streams}
}

// TrafficOf is one direction and stream count of what m asks for, on a path.
func TrafficOf(path fabric.Path, m fabric.Measure, d flow.Direction, streams int) Traffic {
	t := Between(path.From, path.To, d, streams)
	t.Protocol, t.Ports, t.SocketBuffer, t.Window = m.Protocol, m.Ports, m.SocketBuffer, m.Duration
	return t
}

// TrafficOfTrial is the traffic that a trial was, in steady state. What it does
// not say is the hosts' choice, its ports among it.
func TrafficOfTrial(t record.Trial) Traffic {
	out := Between(t.From, t.To, t.Direction, max(t.Streams, 1))
	out.Protocol, out.Ports, out.Congestion = t.Protocol, t.Ports, t.Congest
	if out.Ports != PortsChosen && out.Ports != PortsKernel {
		out.Ports = PortsKernel // whoever says nothing chose none
	}
	unpaced := false
	for _, l := range t.Lanes {
		if l.Asked != nil {
			out.SocketBuffer = max(out.SocketBuffer, l.Asked.RcvBuf)
		}
		pace := PaceOf(l)
		out.Pace, unpaced = max(out.Pace, pace), unpaced || pace == 0
	}
	if unpaced {
		out.Pace = 0
	}
	// What UDP offers unasked is the ceiling itself, and holds nothing.
	if each := t.RateLimit / unit.BitRate(out.Streams); each > 0 && (t.Ceiling == 0 || t.RateLimit < t.Ceiling) && (out.Pace == 0 || each < out.Pace) {
		out.Pace = each
	}
	return out
}

// PaceOf is the rate that a stream's socket was limited to, by the run or by the
// program itself; zero is none.
func PaceOf(l record.Lane) unit.BitRate {
	if l.Asked == nil || l.Asked.Pacing <= 0 {
		return l.TCP.MaxPacing
	}
	if l.Granted != nil && l.Granted.Pacing > 0 {
		return l.Granted.Pacing
	}
	return l.Asked.Pacing
}
