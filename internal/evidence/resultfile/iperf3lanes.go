package resultfile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// laneOf is a stream with what its figures are worth.
type laneOf struct {
	lane    record.Lane
	seconds float64
	// sender is set where the sender's count had to do.
	sender bool
	// lost is set where received datagrams were computed from the loss.
	lost bool
}

// lanes are the document's streams: from the end's rows, or summed over the
// intervals of a test that did not come to its end.
func (d document) lanes() []laneOf {
	var out []laneOf
	if d.cutOff && len(d.Intervals) > 0 && d.End.Sum == nil && d.End.Sent == nil && d.End.Received == nil {
		d.End.Streams = nil // some of the streams' rows may be lost: the intervals have all
	}
	for i := range d.End.Streams {
		s := d.End.Streams[i]
		switch {
		case s.UDP != nil:
			out = append(out, d.udpLane(i, *s.UDP))
		case s.Sender != nil || s.Receiver != nil:
			var sent, received span
			if s.Sender != nil {
				sent = *s.Sender
			}
			if s.Receiver != nil {
				received = *s.Receiver
			}
			out = append(out, d.tcpLane(i, sent, received))
		}
	}
	if len(out) == 0 && len(d.Intervals) > 0 {
		for i, row := range d.Intervals[0].Streams {
			if i == mostStreams {
				break
			}
			out = append(out, d.unfinishedLane(i, row))
		}
	}
	return out
}

// laneAt is the stream of that socket, or of that place, without figures.
func (d document) laneAt(place int, row span) record.Lane {
	sending := !d.onServer() == (d.Start.Test.Reverse <= 0) // before 3.7 the direction tells
	if row.Sender != nil {
		sending = *row.Sender
	}
	var l record.Lane
	l.Way = flow.Forward
	if sending == d.onServer() {
		l.Way = flow.Reverse
	}
	at := -1
	for i, c := range d.Start.Connected {
		if c.Socket == row.Socket {
			at = i
			break
		}
	}
	if at < 0 && place < len(d.Start.Connected) {
		at = place
	}
	if at < 0 {
		return l
	}
	c := d.Start.Connected[at]
	l.Src, l.Dst, l.Sport, l.Dport = addr(c.LocalHost), addr(c.RemoteHost), port(c.LocalPort), port(c.RemotePort)
	if !sending {
		l.Src, l.Dst, l.Sport, l.Dport = l.Dst, l.Src, l.Dport, l.Sport
	}
	return l
}

// receives reports whether whoever wrote the document is the row's receiver.
func (d document) receives(l record.Lane) bool { return (l.Way == flow.Forward) == d.onServer() }

func (d document) tcpLane(place int, sent, received span) laneOf {
	row := sent
	if row.Sender == nil && received.Sender != nil {
		row = received
	}
	out := laneOf{lane: d.laneAt(place, row), seconds: received.length()}
	out.lane.Goodput = unit.FromBytes(max(received.Bytes, 0), out.seconds)
	if received.Bytes <= 0 && sent.Bytes > 0 {
		out.lane.Goodput, out.seconds, out.sender = unit.FromBytes(sent.Bytes, sent.Seconds), sent.Seconds, true
	}
	out.lane.Goodput = rate(float64(out.lane.Goodput))
	out.lane.Retransmits = count(sent.Retransmits)
	mss := max(d.Start.MSS, d.Start.DefaultMSS, 0)
	out.lane.TCP = record.TCP{RTTMS: max(sent.MeanRTT, 0) / 1000, MinRTTMS: max(sent.MinRTT, 0) / 1000, SndMSS: int(min(mss, 1<<20))}
	out.lane.TCP.SndWnd, out.lane.TCP.Reordering = unit.Bytes(count(sent.MaxWnd)), int(min(max(sent.Reorder, 0), 1e9))
	if mss > 0 {
		out.lane.TCP.SndCwnd = int(min(max(sent.MaxCwnd, 0)/mss, 1e9))
	}
	out.lane.TCP.PathMTU, out.lane.TCP.MaxPacing = d.pathMTU(sent.Socket), d.pacing()
	d.addMeans(&out.lane.TCP, sent.Socket, mss)
	if asked := count(d.Start.AskedBuffer); asked > 0 {
		out.lane.Asked = &record.Socket{SndBuf: unit.Bytes(asked), RcvBuf: unit.Bytes(asked)}
		out.lane.Granted = &record.Socket{SndBuf: unit.Bytes(count(d.Start.SndBuf)), RcvBuf: unit.Bytes(count(d.Start.RcvBuf))}
	}
	return out
}

// pathMTU is the last that the intervals say of a stream.
func (d document) pathMTU(socket float64) int {
	for i := len(d.Intervals) - 1; i >= 0; i-- {
		for _, row := range d.Intervals[i].Streams {
			if row.Socket == socket && row.PathMTU > 0 {
				return int(min(row.PathMTU, 1<<20))
			}
		}
	}
	return 0
}

// udpLane is a stream of datagrams. The row's bytes are the sender's; what
// arrived is counted where the receiver wrote the document, else it is the
// sender's less the share that the receiver missed.
func (d document) udpLane(place int, row span) laneOf {
	out := laneOf{lane: d.laneAt(place, row), seconds: max(row.Seconds, 0)}
	packets, lost := max(row.Packets, 0), max(row.Lost, 0)
	bytes := max(row.Bytes, 0)
	if packets > 0 {
		bytes *= max(1-lost/packets, 0)
		out.lost = lost > 0
	}
	if d.receives(out.lane) {
		if counted, seconds := d.counted(row.Socket); counted > 0 {
			bytes, out.seconds, out.lost = counted, seconds, false
		}
	}
	out.lane.Goodput = rate(float64(unit.FromBytes(bytes, out.seconds)))
	out.lane.UDP = &record.UDP{
		Payload: int(min(max(d.Start.Test.Block, 0), 65535)), Sent: count(packets), Received: count(packets - min(lost, packets)),
		Lost: count(lost), Reordered: count(row.Reordered), JitterMS: max(row.JitterMS, 0),
	}
	out.lane.UDP.LossRatio = share(out.lane.UDP.Lost, out.lane.UDP.Sent)
	return out
}

// counted sums a stream's intervals, the omitted left out.
func (d document) counted(socket float64) (bytes, seconds float64) {
	for _, i := range d.Intervals {
		for _, row := range i.Streams {
			if row.Socket == socket && !row.Omitted && row.Bytes > 0 && row.Seconds > 0 {
				bytes += row.Bytes
				seconds += row.Seconds
			}
		}
	}
	return bytes, seconds
}

func (d document) unfinishedLane(place int, row span) laneOf {
	out := laneOf{lane: d.laneAt(place, row)}
	bytes, seconds := d.counted(row.Socket)
	out.seconds, out.lane.Goodput = seconds, rate(float64(unit.FromBytes(bytes, seconds)))
	out.sender = !d.receives(out.lane)
	for _, i := range d.Intervals {
		for _, r := range i.Streams {
			if r.Socket == row.Socket && !r.Omitted {
				out.lane.Retransmits += count(r.Retransmits)
				out.lane.TCP.RTTMS = max(r.RTT, 0) / 1000
			}
		}
	}
	d.addMeans(&out.lane.TCP, row.Socket, max(d.Start.MSS, d.Start.DefaultMSS, 0))
	return out
}

// notes say what the figures are worth.
func (d document) notes(lanes []laneOf, t record.Trial) []string {
	wrote := "client"
	if d.onServer() {
		wrote = "server"
	}
	notes := []string{fmt.Sprintf("read from a file that %s wrote at the %s: no counters of links and no time series of the kernel's evidence",
		cmp.Or(strings.TrimSpace(d.Start.Version), "iperf3"), wrote)}
	var sender, lost int
	for _, l := range lanes {
		if l.sender {
			sender++
		}
		if l.lost {
			lost++
		}
	}
	switch {
	case sender > 0:
		notes = append(notes, "iperf3's sender counts what sits in its buffer: the receiver's figure is not in the file, so the rate may be too high")
	case t.Protocol == "tcp" && t.Direction == flow.Forward && !d.onServer():
		notes = append(notes, "iperf3's sender counts what sits in its buffer: the receiver's figure is used")
	}
	if lost > 0 {
		notes = append(notes, "received datagrams are the sender's count less the share that the receiver missed")
	}
	if len(t.Blocks) > 0 && !d.onServer() && t.Direction != flow.Reverse && d.ServerOutput == nil {
		notes = append(notes, "the intervals are the sender's: its buffer evens out what the network did (iperf3 --get-server-output has the receiver's)")
	}
	if d.Start.Test.Omit <= 0 && t.Protocol == "tcp" {
		notes = append(notes, "nothing was omitted (-O): slow start is part of the rate")
	}
	switch {
	case d.Error != "":
		notes = append(notes, "iperf3 ended with an error: "+d.Error)
	case d.cutOff:
		notes = append(notes, "the file ends in the middle: what is there was counted")
	}
	return notes
}
