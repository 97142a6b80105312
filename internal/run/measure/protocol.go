package measure

import (
	"cmp"
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// The protocols of a trial, as the contract names them.
const (
	protocolTCP   = "tcp"
	protocolUDP   = "udp"
	protocolMPTCP = "mptcp"
)

func (s Spec) protocol() string { return cmp.Or(s.Protocol, protocolTCP) }

// proto is what a link's hash sees of the trial's flows.
func (s Spec) proto() flow.Proto {
	if s.protocol() == protocolUDP {
		return flow.UDP
	}
	return flow.TCP
}

// transport is a way's protocol; TCP where nothing is said.
func (w way) transport() flow.Proto { return cmp.Or(w.proto, flow.TCP) }

// datagrams is what both ends are asked for; nil for other protocols.
func (s Spec) datagrams() *agentapi.Datagrams {
	if s.protocol() != protocolUDP {
		return nil
	}
	if s.Datagrams == nil {
		return &agentapi.Datagrams{}
	}
	return s.Datagrams
}

// Traffic is what the trial sends, as predict wants it: what is asked for goes
// over what its hosts are set to. The rate is that of steady state, as the window
// has it; a round trip under load is not known yet.
func (s Spec) Traffic() predict.Traffic {
	out := predict.Between(s.From, s.To, s.Direction, s.Streams)
	out.Protocol, out.Ports, out.Lanes = s.protocol(), s.Ports, s.Lanes
	out.Congestion, out.SocketBuffer, out.Pace = s.Socket.Congestion, max(s.Socket.SndBuf, s.Socket.RcvBuf), s.Socket.Pacing
	if each := s.ratePerStream(s.Streams); each > 0 && (out.Pace == 0 || each < out.Pace) {
		out.Pace = each
	}
	return out
}

// traffic is one stream of the trial, in one direction of it.
func (t *trial) traffic(d flow.Direction) predict.Traffic {
	out := t.spec.Traffic()
	out.Direction, out.Streams = d, 1
	return out
}

// offer is the rate that each stream of a way keeps to; zero is none. UDP has
// no congestion control: without a rate it would push everybody else off the
// path, so it keeps to what the path can carry by prediction unless it was
// told to flood.
func (t *trial) offer(w way) (unit.BitRate, error) {
	if t.spec.Rate > 0 || t.spec.protocol() != protocolUDP || t.spec.Flood {
		return t.spec.ratePerStream(w.streams), nil
	}
	ceiling, mtu, err := t.ceilingOf(w.name)
	if err != nil {
		return 0, fmt.Errorf("choose a rate for UDP from %s to %s: %w: give --rate-limit", w.from, w.to, err)
	}
	rate := ceiling * unit.BitRate(datagramShare(t.spec.datagrams().Payload, mtu, w.lanes[0].Dst.Is6()))
	t.offered = max(t.offered, rate)
	t.note(fmt.Sprintf("%s to %s was offered %v, what the path can carry by prediction: no --rate-limit was given", w.from, w.to, rate))
	return rate / unit.BitRate(w.streams), nil
}

// datagramShare is what datagrams of that payload carry of what full ones do
// on the same Ethernet; 1 where they are full, and where they are longer.
func datagramShare(payload, mtu int, ipv6 bool) float64 {
	const ethernet = 38 // header, checksum, preamble and gap
	headers := framing.HeaderBytes(protocolUDP, ipv6)
	full := mtu - headers
	if payload <= 0 || full <= 0 || payload >= full {
		return 1
	}
	share := func(n int) float64 { return float64(n) / float64(n+headers+ethernet) }
	return share(payload) / share(full)
}

// udpOf is what a sample says of a stream's datagrams; nil where it counts
// none.
func udpOf(s agentapi.Sample, stream int) *agentapi.UDPCount {
	if stream < len(s.UDP) {
		return &s.UDP[stream]
	}
	return nil
}

// udpAt is udpOf, zero for none.
func udpAt(s agentapi.Sample, stream int) agentapi.UDPCount {
	if c := udpOf(s, stream); c != nil {
		return *c
	}
	return agentapi.UDPCount{}
}

// datagramsOf is a stream's datagrams over the window as its receiver knows
// them: what was sent is the sequence numbers that it saw pass, so that sent
// and received are of one moment. Where it saw none, the sender's word counts.
func datagramsOf(open, shut agentapi.UDPCount, sent, bytes uint64) *record.UDP {
	out := &record.UDP{
		Sent:        netstate.Grown(open.Highest, shut.Highest),
		Received:    netstate.Grown(open.Datagrams-open.Twice, shut.Datagrams-shut.Twice),
		Reordered:   netstate.Grown(open.Reordered, shut.Reordered),
		Twice:       netstate.Grown(open.Twice, shut.Twice),
		SocketDrops: netstate.Grown32(open.Dropped, shut.Dropped),
		JitterMS:    unit.Milliseconds(shut.Jitter),
	}
	if out.Received == 0 && out.Sent == 0 {
		out.Sent = sent
	}
	out.Sent = max(out.Sent, out.Received) // late ones may be from before the window
	out.Lost = out.Sent - out.Received
	if out.Received > 0 {
		out.Payload = int((bytes + out.Received/2) / out.Received)
	}
	out.LossRatio = lossRatio(*out)
	return out
}

func lossRatio(u record.UDP) float64 {
	if u.Sent == 0 {
		return 0
	}
	return float64(u.Lost) / float64(u.Sent)
}

// socketDropsTold is the share of lost datagrams from which the receiver's own
// part in it is said.
const socketDropsTold = 0.01

// addDatagrams sums the lanes' datagrams up; the jitter is their mean.
func (t *trial) addDatagrams(out *record.Trial) {
	if t.spec.protocol() != protocolUDP {
		return
	}
	var sum record.UDP
	for _, l := range out.Lanes {
		if l.UDP == nil {
			continue
		}
		sum.Payload = max(sum.Payload, l.UDP.Payload)
		sum.Sent += l.UDP.Sent
		sum.Received += l.UDP.Received
		sum.Lost += l.UDP.Lost
		sum.Reordered += l.UDP.Reordered
		sum.Twice += l.UDP.Twice
		sum.SocketDrops += l.UDP.SocketDrops
		sum.JitterMS += l.UDP.JitterMS / float64(len(out.Lanes))
	}
	sum.LossRatio = lossRatio(sum)
	out.UDP = &sum
	if n := fragments(t.spec, *out); n > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("datagrams of %d bytes do not fit the MTU of %d: each is sent in %d fragments, and one that is lost loses them all", t.spec.Datagrams.Payload, out.MTU, n))
	}
	if sum.SocketDrops > 0 && float64(sum.SocketDrops) >= socketDropsTold*float64(sum.Lost) {
		out.Notes = append(out.Notes, fmt.Sprintf("of %d lost datagrams the receiver's own sockets dropped %d packets, with all the datagrams in them: it did not keep up, and that part is not the path's loss", sum.Lost, sum.SocketDrops))
	}
}

// fragments is how many packets a datagram of the asked payload takes, by its
// lane's MTU (RFC 791 section 3.2, RFC 8200 section 4.5); zero where that is not
// known, or none was asked for.
func fragments(s Spec, out record.Trial) int {
	if s.Datagrams == nil || s.Datagrams.Payload == 0 || out.MTU == 0 || len(out.Lanes) == 0 {
		return 0
	}
	const udp = 8
	header, fragment := 20, 20
	if out.Lanes[0].Src.Is6() {
		header, fragment = 40, 48
	}
	whole := s.Datagrams.Payload + udp
	if whole+header <= out.MTU {
		return 1
	}
	room := (out.MTU - fragment) &^ 7 // all but the last are of whole eights
	if room <= 0 {
		return 0
	}
	return (whole + room - 1) / room
}

// subflows are an MPTCP connection's, the sender's address first, with the
// sender's link that each takes.
func (t *trial) subflows(w way, c agentapi.TCPCount) []record.Subflow {
	if c.MPTCP == nil {
		return nil
	}
	var out []record.Subflow
	for _, f := range c.MPTCP.Subflows {
		f.Proto = flow.TCP
		out = append(out, record.Subflow{Lane: flow.Lane{Src: f.Src, Dst: f.Dst}, Sport: f.Sport, Dport: f.Dport, EgressLink: place(t.cfg.Network, w, f)})
	}
	return out
}
