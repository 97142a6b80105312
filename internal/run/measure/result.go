package measure

import (
	"errors"
	"fmt"
	"math"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// headerBytes is what a full-sized packet carries besides payload, from the
// Ethernet header on: Ethernet 14, IP 20 or 40, for TCP 20 and timestamps 12.
func headerBytes(protocol string, v6 bool, under tunnel.Stack) float64 {
	return float64(14 + framing.HeaderBytes(protocol, v6) + 4*under.Tags + under.Outer)
}

// result turns the samples of the window into a record.
func (t *trial) result(stop string) (record.Trial, error) {
	ceiling, mtu, err := t.ceiling()
	if errors.Is(err, predict.ErrUnknownSpeed) {
		t.notes = append(t.notes, fmt.Sprintf("no ceiling: %v (a fabric file says it under hardware.links)", err))
		err = nil
	}
	if err != nil && t.feed == nil { // what is behind a listener need not be known
		return record.Trial{}, err
	}
	method := t.methods()
	out := record.Trial{
		Phase: t.spec.Phase, Step: t.spec.Step, From: t.spec.From, To: t.spec.To, Direction: t.spec.Direction,
		Streams: t.spec.Streams, Protocol: t.spec.protocol(), Tool: "linerate", Ports: t.spec.Ports, Started: t.started,
		Ceiling: ceiling, CeilingMTU: mtu, WarmUp: t.warmUp.Seconds(), Stop: stop, Notes: t.notes,
		Group: t.spec.Group, Variant: t.spec.Variant, RateLimit: max(t.spec.Rate, t.offered), Method: method, Congest: t.congestion,
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
	t.addDatagrams(&out)
	t.addServer(&out)
	t.addOutages(&out)
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
	t.addSeries(&out)
	if t.spec.Claim {
		out.Claimed = t.claimed()
	}
	if out.Notes == nil {
		out.Notes = []string{}
	}
	out.Notes = append(out.Notes, backlogNotes(out)...)
	out.Notes = append(out.Notes, processorNotes(out)...)
	if !t.spec.Idle { // what others send is no contradiction
		out.Notes = append(out.Notes, out.Check()...)
	}
	return out, nil
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
		lane.Asked, lane.Granted = t.spec.asked(s.Socket)
		lane.Goodput = unit.FromBytes(float64(netstate.Grown(open.Bytes[i], shut.Bytes[i])), window)
		lane.EgressLink = place(t.cfg.Network, sink.way, flow.Tuple{Proto: sink.way.transport(), Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: s.Dport})
		if below := physical(t.cfg.Network.Host(sink.host), sink.way.lanes, false); len(below) == 1 {
			lane.IngressLink = below[0]
		}
		segments := uint64(0)
		if a, b := tcpOf(sopen, i), tcpOf(sshut, i); b.Present {
			lane.TCP = b.Last
			lane.TCP.BusyRatio = ratio((b.Busy - a.Busy).Seconds(), swindow)
			lane.TCP.RwndLimited = ratio((b.RwndLimited - a.RwndLimited).Seconds(), swindow)
			lane.TCP.SndbufLimited = ratio((b.SndbufLimited - a.SndbufLimited).Seconds(), swindow)
			lane.Retransmits = source.grown(i, func(c agentapi.TCPCount) uint64 { return c.Retransmits })
			lane.TCP.BytesRetrans = netstate.Grown(a.BytesRetrans, b.BytesRetrans)
			lane.TCP.SegmentsOut = source.grown(i, func(c agentapi.TCPCount) uint64 { return c.SegmentsOut })
			lane.SndBuf = b.SndBuf
			addSent(&lane.TCP, source.present(i))
			segments = lane.TCP.SegmentsOut
		}
		if a, b := tcpOf(open, i), tcpOf(shut, i); b.Present {
			lane.TCP.SegmentsIn = sink.grown(i, func(c agentapi.TCPCount) uint64 { return c.SegmentsIn })
			out.Unread += unit.FromBytes(float64(b.Unread-a.Unread), window)
			lane.RcvBuf = b.RcvBuf
			addTaken(&lane.TCP, sink.present(i))
			lane.TCP.RcvOutOfOrder = netstate.Grown32(a.Last.RcvOutOfOrder, b.Last.RcvOutOfOrder)
			segments = lane.TCP.SegmentsIn
		}
		if c := udpOf(shut, i); c != nil {
			lane.UDP = datagramsOf(udpAt(open, i), *c, netstate.Grown(udpAt(sopen, i).Datagrams, udpAt(sshut, i).Datagrams), netstate.Grown(open.Bytes[i], shut.Bytes[i]))
			segments = lane.UDP.Received
		}
		var under tunnel.Stack
		if link, ok := egress(t.cfg.Network.Host(sink.way.from), s.Lane); ok {
			under, _ = tunnel.Below(t.cfg.Network.Host(sink.way.from), link)
			out.MTU = link.MTU
		}
		if c := tcpOf(shut, i).MPTCP; c != nil {
			lane.Subflows = t.subflows(sink.way, tcpOf(sshut, i))
			out.Unread += unit.FromBytes(float64(tcpOf(shut, i).Unread-tcpOf(open, i).Unread), window)
			// The kernel counts segments of each subflow only: full ones are taken.
			if full := out.MTU - framing.HeaderBytes(protocolMPTCP, s.Src.Is6()); full > 0 {
				segments = netstate.Grown(open.Bytes[i], shut.Bytes[i]) / uint64(full)
			}
		}
		out.Wire += lane.Goodput + unit.FromBytes(float64(segments)*headerBytes(t.spec.protocol(), s.Src.Is6(), under), window)
		out.Lanes = append(out.Lanes, lane)
	}
}

// grown is how much a counter of a stream's grew over an end's window, sample by
// sample: the kernel keeps it in 32 bits, and a fast stream is through with them
// in an hour.
func (e *end) grown(stream int, of func(agentapi.TCPCount) uint64) (sum uint64) {
	before := of(tcpOf(e.samples[e.opened], stream))
	for _, c := range e.present(stream) {
		sum += netstate.Grown32(before, of(c))
		before = of(c)
	}
	return sum
}

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
	link, _ := egress(h, e.lane())
	under, _ := tunnel.Below(h, link)
	mtu := under.Whole(link.MTU)
	for i, b := range shut.Links {
		if i >= len(open.Links) || open.Links[i].Link != b.Link {
			continue
		}
		a := open.Links[i]
		seconds, more := (b.At - a.At).Seconds(), b.Sub(a.LinkCounters)
		physical := t.counted(e, h, b.Link)
		v6 := e.lane().Src.Is6()
		use := record.LinkUse{
			Host: e.host, Link: b.Link,
			Tx:      unit.FromBytes(float64(more.Counters.TxBytes), seconds),
			Rx:      unit.FromBytes(float64(more.Counters.RxBytes), seconds),
			Ceiling: framing.PacketPayload(t.spec.protocol(), physical, mtu, t.packet(e.way), under.Tags, under.Outer, v6),
			Drops:   more.Counters.Lost(),

			TxPackets: more.Counters.TxPackets, RxPackets: more.Counters.RxPackets,
			QdiscDrops: more.QdiscDrops, QdiscOverlimits: more.QdiscOverlimits,
			QdiscBacklog: more.QdiscBacklog, MeanBacklog: e.meanBacklog(i), Requeues: more.QdiscRequeues, Throttled: more.QdiscThrottled,
			RxMissed: more.Counters.RxMissed, RxCRC: more.Counters.RxCRC, Driver: e.increases(driverOf(i)),
		}
		header := headerBytes(t.spec.protocol(), v6, under)
		use.TxPayload = less(use.Tx, unit.FromBytes(float64(use.TxPackets)*header, seconds))
		use.RxPayload = less(use.Rx, unit.FromBytes(float64(use.RxPackets)*header, seconds))
		out.Links = append(out.Links, use)
	}
}

// counted is the link as its ceiling counts at an end: a qdisc of a receiver's own holds
// what it answers, and not what it receives.
func (t *trial) counted(e *end, h netstate.Host, name string) netstate.Link {
	link, _ := h.Link(name)
	if !e.sending && t.spec.Direction != flow.Both && link.Speed > 0 {
		link.Qdiscs = nil
	}
	return link
}

func less(a, b unit.BitRate) unit.BitRate { return max(a-b, 0) }

// lane is the trial's first, the address of the end's own host first.
func (e *end) lane() flow.Lane {
	if e.sending {
		return e.way.lanes[0]
	}
	return e.way.lanes[0].Reverse()
}
