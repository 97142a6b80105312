package measure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/record"
)

// ask has the streams' sockets asked for what the trial wants.
func (t *trial) ask(w way, streams []agentapi.Stream) []agentapi.Stream {
	socket := t.spec.Socket
	socket.Congestion = t.settle(w)
	for i := range streams {
		streams[i].Socket = socket
	}
	return streams
}

// receiving is what of a trial's socket options a receiver is asked for: a
// device is the sender's, and so is the pace.
func (s Spec) receiving() record.Socket {
	socket := s.Socket
	socket.Device, socket.Pacing = "", 0
	return socket
}

// asked is what a sender's socket was asked for, and what it was granted; nil
// where nothing was asked.
func (s Spec) asked(granted record.Socket) (want, got *record.Socket) {
	if s.Socket == (record.Socket{}) {
		return nil, nil
	}
	return &s.Socket, &granted
}

const (
	defaultCongestion   = "net.ipv4.tcp_congestion_control"
	availableCongestion = "net.ipv4.tcp_available_congestion_control"
)

// settle makes the trial's choice explicit that is the hosts' otherwise: what
// is compared must have one congestion control. It is the default of the host
// that the trial is named from; a sender that lacks it keeps its own.
func (t *trial) settle(w way) string {
	if t.spec.protocol() == protocolUDP {
		return "" // it has none
	}
	if chosen := t.spec.Socket.Congestion; chosen != "" {
		return chosen
	}
	chosen := t.cfg.Network.Host(t.spec.From).Sysctls[defaultCongestion].Value
	have := strings.Fields(t.cfg.Network.Host(w.from).Sysctls[availableCongestion].Value)
	if chosen == "" || !slices.Contains(have, chosen) {
		return ""
	}
	return chosen
}

// granted notes what a way's sockets became: the sender's as the kernel made
// them, and of the receiver's what bounds the window.
func (t *trial) granted(w way, source []agentapi.Stream, sink record.Socket) {
	receiver := t.cfg.Network.Host(w.to)
	for i := range source {
		s := &source[i].Socket
		if s.RcvBuf = sink.RcvBuf; sink.RcvBuf > 0 && t.spec.Socket.RcvBuf > 0 {
			s.Window, _ = tcp.Usable(receiver, sink.RcvBuf)
		}
		t.congest(s.Congestion)
	}
	if len(source) == 0 {
		return
	}
	for _, n := range shortfalls(t.spec.Socket, source[0].Socket) {
		t.note(fmt.Sprintf("%s to %s: %s", w.from, w.to, n))
	}
}

// congest keeps the congestion control that the sockets read back.
func (t *trial) congest(name string) {
	switch {
	case name == "" || name == t.congestion:
	case t.congestion == "":
		t.congestion = name
	default:
		t.note(fmt.Sprintf("the senders' congestion control differs: %s and %s", t.congestion, name))
	}
}

// methods is how the trial's bytes were moved.
func (t *trial) methods() record.Method {
	m := t.method
	for _, e := range t.ends {
		if n := len(e.samples); n > 0 && e.sending {
			m.Copied = m.Copied || e.samples[n-1].Copied
		}
	}
	if m.Copied {
		t.note("asked for zero-copy: the kernel copied what was sent (SO_EE_CODE_ZEROCOPY_COPIED, or a protocol that takes no pages)")
	}
	if t.spec.Mode != agentapi.ModeCopy && m.Send != "" {
		t.note(fmt.Sprintf("zero-copy: sent by %s, received by %s", m.Send, cmp.Or(m.Receive, "the usual calls")))
	}
	return m
}

// segmentOptions is what a segment's options may take of its size: what is
// granted is without them (timestamps, RFC 7323).
const segmentOptions = 12

// shortfalls say, a line each, where the kernel granted less than was asked.
func shortfalls(asked, granted record.Socket) []string {
	var out []string
	if asked.RcvBuf > 0 && granted.RcvBuf > 0 && granted.RcvBuf < 2*asked.RcvBuf {
		window := ""
		if granted.Window > 0 {
			window = fmt.Sprintf(", usable as window %v", granted.Window)
		}
		out = append(out, fmt.Sprintf("asked for a receive buffer of %v, granted %v%s: net.core.rmem_max", asked.RcvBuf, granted.RcvBuf, window))
	}
	if asked.SndBuf > 0 && granted.SndBuf > 0 && granted.SndBuf < 2*asked.SndBuf {
		out = append(out, fmt.Sprintf("asked for a send buffer of %v, granted %v: net.core.wmem_max", asked.SndBuf, granted.SndBuf))
	}
	if asked.MSS > 0 && granted.MSS > 0 && granted.MSS+segmentOptions < asked.MSS {
		out = append(out, fmt.Sprintf("asked for segments of %d B, granted %d B: the MTU, or the peer, allows no more", asked.MSS, granted.MSS))
	}
	return out
}
