package measure

import (
	"math"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// headerBytes is what a full-sized segment carries besides payload, from the
// Ethernet header on: Ethernet 14, IP 20 or 40, TCP 20, timestamps 12.
func headerBytes(v6 bool, tags int) float64 {
	ip := 20
	if v6 {
		ip = 40
	}
	return float64(14 + ip + 20 + 12 + 4*tags)
}

// result turns the samples of the window into a record.
func (t *trial) result(stop string) (record.Trial, error) {
	ceiling, mtu, err := t.ceiling()
	if err != nil {
		return record.Trial{}, err
	}
	out := record.Trial{
		Phase: t.spec.Phase, Step: t.spec.Step, From: t.spec.From, To: t.spec.To, Direction: t.spec.Direction,
		Streams: t.spec.Streams, Protocol: "tcp", Tool: "linerate", Ports: t.spec.Ports, Started: t.started,
		Ceiling: ceiling, CeilingMTU: mtu, WarmUp: t.warmUp.Seconds(), Stop: stop, Notes: t.notes,
	}
	if out.Ports == "" {
		out.Ports = "chosen"
	}
	for _, e := range t.ends {
		if !e.sending {
			t.addLanes(&out, e)
		}
		t.addLinks(&out, e)
		t.addCPU(&out, e)
	}
	for _, l := range out.Lanes {
		if l.Way == flow.Forward {
			out.Forward += l.Goodput
		} else {
			out.Reverse += l.Goodput
		}
	}
	out.Goodput = out.Forward + out.Reverse
	if t.spec.Direction != flow.Both {
		out.Forward, out.Reverse = 0, 0
	}
	t.addInterval(&out)
	if out.Notes == nil {
		out.Notes = []string{}
	}
	out.Notes = append(out.Notes, out.Check()...)
	return out, nil
}

func (t *trial) addInterval(out *record.Trial) {
	out.GoodputLow, out.GoodputHigh = out.Goodput, out.Goodput
	if _, half := interval(t.ends.blocks()); !math.IsInf(half, 0) {
		out.GoodputLow = out.Goodput - unit.BitRate(half)
		out.GoodputHigh = out.Goodput + unit.BitRate(half)
	}
}

// addLanes adds a receiving end's streams, with what TCP said at both ends.
func (t *trial) addLanes(out *record.Trial, sink *end) {
	open, shut := sink.edges()
	window := (shut.At - open.At).Seconds()
	out.Window = max(out.Window, window)
	source := t.other(sink)
	sopen, sshut := source.edges()
	swindow := (sshut.At - sopen.At).Seconds()
	for i, s := range t.streams[sink.way.name] {
		lane := record.Lane{Lane: s.Lane, Way: sink.way.name, Sport: s.Sport, Dport: s.Dport}
		lane.Goodput = unit.FromBytes(float64(grown(open.Bytes[i], shut.Bytes[i])), window)
		lane.EgressLink = place(t.cfg.Network, sink.way, flow.Tuple{Proto: flow.TCP, Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: s.Dport})
		if below := physical(t.cfg.Network.Host(sink.host), sink.way.lanes, false); len(below) == 1 {
			lane.IngressLink = below[0]
		}
		segments := uint64(0)
		if a, b := tcpOf(sopen, i), tcpOf(sshut, i); b.Present {
			lane.TCP = b.Last
			lane.TCP.BusyRatio = ratio((b.Busy - a.Busy).Seconds(), swindow)
			lane.TCP.RwndLimited = ratio((b.RwndLimited - a.RwndLimited).Seconds(), swindow)
			lane.TCP.SndbufLimited = ratio((b.SndbufLimited - a.SndbufLimited).Seconds(), swindow)
			lane.Retransmits = grown(a.Retransmits, b.Retransmits)
			lane.TCP.BytesRetrans = grown(a.BytesRetrans, b.BytesRetrans)
			lane.TCP.SegmentsOut = grown(a.SegmentsOut, b.SegmentsOut)
			lane.SndBuf = b.SndBuf
			segments = lane.TCP.SegmentsOut
		}
		if a, b := tcpOf(open, i), tcpOf(shut, i); b.Present {
			lane.TCP.SegmentsIn = grown(a.SegmentsIn, b.SegmentsIn)
			out.Unread += unit.FromBytes(float64(b.Unread-a.Unread), window)
			lane.TCP.RcvSpace, lane.RcvBuf = b.Last.RcvSpace, b.RcvBuf
			lane.TCP.RcvOutOfOrder = grown(a.Last.RcvOutOfOrder, b.Last.RcvOutOfOrder)
			segments = lane.TCP.SegmentsIn
		}
		tags := 0
		if link, ok := egress(t.cfg.Network.Host(sink.way.from), s.Lane); ok {
			_, tags, _ = t.cfg.Network.Host(sink.way.from).Below(link.Name)
			out.MTU = link.MTU
		}
		out.Wire += lane.Goodput + unit.FromBytes(float64(segments)*headerBytes(s.Src.Is6(), tags), window)
		out.Lanes = append(out.Lanes, lane)
	}
}

// grown is how much a counter grew; zero when it was set back in between.
func grown(from, to uint64) uint64 { return to - min(from, to) }

// tcpOf is what a sample says of a stream; absent where TCP_INFO was not read.
func tcpOf(s agentapi.Sample, stream int) agentapi.TCPCount {
	if stream < len(s.TCP) {
		return s.TCP[stream]
	}
	return agentapi.TCPCount{}
}

// other is the sending end of a receiving one.
func (t *trial) other(sink *end) *end {
	for _, e := range t.ends {
		if e.sending && e.way.name == sink.way.name {
			return e
		}
	}
	return sink // cannot be: open makes both or fails
}

func ratio(part, whole float64) float64 {
	if whole <= 0 || part <= 0 {
		return 0
	}
	return min(math.Round(part/whole*1e4)/1e4, 1)
}

// addLinks adds the counters of an end's links over the window.
func (t *trial) addLinks(out *record.Trial, e *end) {
	open, shut := e.edges()
	h := t.cfg.Network.Host(e.host)
	link, _ := h.LinkWith(e.address())
	_, tags, _ := h.Below(link.Name)
	for i, b := range shut.Links {
		if i >= len(open.Links) || open.Links[i].Link != b.Link {
			continue
		}
		a := open.Links[i]
		seconds := (b.At - a.At).Seconds()
		physical, _ := h.Link(b.Link)
		v6 := e.address().Is6()
		use := record.LinkUse{
			Host: e.host, Link: b.Link,
			Tx:      unit.FromBytes(float64(grown(a.C.TxBytes, b.C.TxBytes)), seconds),
			Rx:      unit.FromBytes(float64(grown(a.C.RxBytes, b.C.RxBytes)), seconds),
			Ceiling: predict.LinkPayload(physical, link.MTU, tags, v6),
			Drops:   grown(dropped(a.C), dropped(b.C)),

			TxPackets: grown(a.C.TxPackets, b.C.TxPackets), RxPackets: grown(a.C.RxPackets, b.C.RxPackets),
			QdiscDrops: grown(a.QdiscDrops, b.QdiscDrops), QdiscOverlimits: grown(a.QdiscOverlimits, b.QdiscOverlimits),
			QdiscBacklog: b.QdiscBacklog,
		}
		header := headerBytes(v6, tags)
		use.TxPayload = less(use.Tx, unit.FromBytes(float64(use.TxPackets)*header, seconds))
		use.RxPayload = less(use.Rx, unit.FromBytes(float64(use.RxPackets)*header, seconds))
		out.Links = append(out.Links, use)
	}
}

func less(a, b unit.BitRate) unit.BitRate { return max(a-b, 0) }

func dropped(c netstate.Counters) uint64 {
	return c.RxDropped + c.TxDropped + c.RxErrors + c.TxErrors
}

// addCPU adds an end's processors, once a host.
func (t *trial) addCPU(out *record.Trial, e *end) {
	open, shut := e.edges()
	window := (shut.At - open.At).Seconds()
	threads := 0.0
	for i := range min(len(open.CPU.Threads), len(shut.CPU.Threads)) {
		threads = max(threads, ratio(shut.CPU.Threads[i]-open.CPU.Threads[i], window))
	}
	for i := range out.CPU {
		if out.CPU[i].Host == e.host {
			out.CPU[i].BusiestThread = max(out.CPU[i].BusiestThread, threads)
			return
		}
	}
	use := record.CPUUse{Host: e.host, Cores: len(shut.CPU.Busy), BusiestThread: threads, Shared: t.shared(e.host)}
	for i := range min(len(open.CPU.Busy), len(shut.CPU.Busy)) {
		busy := ratio(shut.CPU.Busy[i]-open.CPU.Busy[i], window)
		use.Busy += busy
		use.Busiest = max(use.Busiest, busy)
		if i < len(shut.CPU.Softirq) && i < len(open.CPU.Softirq) {
			use.Softirq += ratio(shut.CPU.Softirq[i]-open.CPU.Softirq[i], window)
		}
	}
	out.CPU = append(out.CPU, use)
}

// shared reports whether another host of the trial runs on the same machine.
func (t *trial) shared(host string) bool {
	m := t.cfg.Network.Machines
	for _, other := range []string{t.spec.From, t.spec.To} {
		if other != host && m[other] != "" && m[other] == m[host] {
			return true
		}
	}
	return false
}

// address is an address of the end's own host in the trial.
func (e *end) address() netip.Addr {
	if e.sending {
		return e.way.lanes[0].Src
	}
	return e.way.lanes[0].Dst
}
