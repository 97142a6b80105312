package resultfile

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// errTooMuch is a file beyond the bounds.
var errTooMuch = errors.New("too much in one file")

// addDocument adds what one test says: a trial, or a failure where nothing
// was carried.
func addDocument(d document, out *record.Record) error {
	if len(out.Trials)+len(out.Failures) >= mostTrials {
		return fmt.Errorf("%w: more than %d tests", errTooMuch, mostTrials)
	}
	if len(d.Start.Connected) > mostStreams || len(d.End.Streams) > mostStreams {
		return fmt.Errorf("%w: more than %d streams", errTooMuch, mostStreams)
	}
	near, far := d.hosts()
	from, to := near, far
	if d.onServer() {
		from, to = far, near
	}
	lanes := d.lanes()
	var carried unit.BitRate
	for _, l := range lanes {
		carried += l.lane.Goodput
	}
	if carried == 0 {
		if why := d.failure(); why != "" {
			out.Failures = append(out.Failures, record.Failure{
				From: from, To: to, Direction: d.direction(), Streams: d.streams(), Error: "iperf3: " + why,
			})
		}
		return nil
	}
	t := record.Trial{
		From: from, To: to, Direction: d.direction(), Streams: d.streams(), Protocol: d.protocol(),
		Tool: "iperf3", Ports: "kernel", Started: d.started(), WarmUp: max(d.Start.Test.Omit, 0), Stop: "duration",
		Congest: d.End.SenderCongestion, RateLimit: d.rateLimit(),
	}
	for _, l := range lanes {
		t.Lanes = append(t.Lanes, l.lane)
		t.Window = max(t.Window, l.seconds)
	}
	d.addSeries(&t)
	d.addCPU(&t, near, far)
	if t.Protocol == "udp" {
		t.UDP = d.datagrams(lanes, t.Window)
	}
	settle(&t)
	t.Notes = append(d.notes(lanes, t), t.Check()...)
	out.Trials = append(out.Trials, t)
	if kernel := d.kernel(); kernel != "" && out.Environment.Kernel == "" {
		out.Environment.Kernel = kernel
	}
	return nil
}

// onServer reports a document that the server wrote.
func (d document) onServer() bool { return d.Start.Accepted != nil && d.Start.ConnectingTo == nil }

func (d document) direction() flow.Direction {
	forward, reverse := false, false
	for _, s := range d.End.Streams {
		for _, row := range []*span{s.Sender, s.UDP} {
			if row == nil || row.Sender == nil {
				continue
			}
			if *row.Sender != d.onServer() {
				forward = true
			} else {
				reverse = true
			}
		}
	}
	switch {
	case d.Start.Test.Bidir > 0, forward && reverse:
		return flow.Both
	case d.Start.Test.Reverse > 0, reverse && !forward:
		return flow.Reverse
	}
	return flow.Forward
}

// streams is how many ran each way.
func (d document) streams() int {
	n := len(d.Start.Connected)
	if n == 0 {
		n = int(min(max(d.Start.Test.Streams, 0), mostStreams))
	} else if d.direction() == flow.Both {
		n = (n + 1) / 2
	}
	return n
}

// protocol is the record's word. MPTCP does not show in the file.
func (d document) protocol() string {
	if p := strings.ToLower(d.Start.Test.Protocol); p == "udp" || p == "sctp" {
		return p
	}
	return "tcp"
}

func (d document) started() time.Time {
	switch ts := d.Start.Timestamp; {
	case ts.Millis > 0 && ts.Millis < 1e14:
		return time.UnixMilli(int64(ts.Millis)).UTC()
	case ts.Seconds > 0 && ts.Seconds < 1e11:
		return time.Unix(int64(ts.Seconds), 0).UTC()
	}
	return time.Time{}
}

// hosts are the names of the host that wrote the document and of the other:
// uname's node name where there is one, and the host as it was asked for.
func (d document) hosts() (near, far string) {
	near, far = "client", "server"
	if d.onServer() {
		near, far = far, near
	}
	if len(d.Start.Connected) > 0 {
		near, far = cmp.Or(d.Start.Connected[0].LocalHost, near), cmp.Or(d.Start.Connected[0].RemoteHost, far)
	}
	if words := strings.Fields(d.Start.SystemInfo); len(words) > 2 {
		near = words[1]
	}
	if d.Start.ConnectingTo != nil {
		far = cmp.Or(d.Start.ConnectingTo.Host, far)
	}
	if d.Start.Accepted != nil && d.onServer() {
		far = cmp.Or(d.Start.Accepted.Host, far)
	}
	return near, far
}

// kernel is uname's release.
func (d document) kernel() string {
	if words := strings.Fields(d.Start.SystemInfo); len(words) > 2 {
		return words[2]
	}
	return ""
}

func (d document) failure() string {
	switch {
	case len(d.Start.Connected) == 0 && strings.Contains(d.Error, "the server has terminated"):
		return "" // a server that was stopped while it waited
	case d.Error != "":
		return d.Error
	case d.cutOff:
		return "the file ends before anything was counted"
	case len(d.Start.Connected) > 0 || d.Start.Version != "":
		return "nothing was carried"
	}
	return ""
}

func (d document) addCPU(t *record.Trial, near, far string) {
	for _, h := range []struct {
		name    string
		percent float64
	}{{near, d.End.CPU.Host}, {far, d.End.CPU.Remote}} {
		if h.percent > 0 && h.percent < 1e5 {
			// Of iperf3's process alone, whatever else the host did.
			t.CPU = append(t.CPU, record.CPUUse{Host: h.name, Busy: h.percent / 100, BusiestThread: d.busiestThread(h.percent / 100)})
		}
	}
}

// addSeries takes the sums of the intervals: those of the server, where the
// client asked for them and was the sender, since the receiver counts.
func (d document) addSeries(t *record.Trial) {
	rows := d.Intervals
	if d.ServerOutput != nil && t.Direction == flow.Forward && len(d.ServerOutput.Intervals) > 1 {
		rows = d.ServerOutput.Intervals
	}
	if len(rows) > mostRows {
		return
	}
	var rates []unit.BitRate
	var lengths []float64
	var before, last float64 // iperf3's clock starts again behind the omitted
	omitted := false
	for _, i := range rows {
		if !(i.Sum.Seconds > 0) || !(i.Sum.End > 0) {
			continue
		}
		if omitted && !i.Sum.Omitted {
			before = last
		}
		omitted, last = i.Sum.Omitted, i.Sum.End
		sum := rate(i.Sum.Rate + max(i.SumBack.Rate, 0))
		t.Series, t.SeriesAt = append(t.Series, sum), append(t.SeriesAt, before+i.Sum.End)
		if !omitted {
			rates, lengths = append(rates, sum), append(lengths, i.Sum.Seconds)
		}
	}
	t.Blocks, t.BlockLength = blocksOf(rates, lengths)
}

// datagrams sums the lanes'.
func (d document) datagrams(lanes []laneOf, window float64) *record.UDP {
	var u record.UDP
	for _, l := range lanes {
		if l.lane.UDP == nil {
			continue
		}
		u.Sent += l.lane.UDP.Sent
		u.Received += l.lane.UDP.Received
		u.Lost += l.lane.UDP.Lost
		u.Reordered += l.lane.UDP.Reordered
		u.JitterMS = max(u.JitterMS, l.lane.UDP.JitterMS)
	}
	u.LossRatio = share(u.Lost, u.Sent)
	u.Payload = int(min(max(d.Start.Test.Block, 0), 65535))
	return &u
}

func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return min(float64(part)/float64(whole), 1)
}

func addr(s string) netip.Addr {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap()
}
