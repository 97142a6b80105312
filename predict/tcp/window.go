// Package tcp says what a TCP socket has in flight by its host's buffers, and
// what losses leave of it by its congestion control.
package tcp

import (
	"fmt"
	"strconv"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Flight is how many bytes a socket lets be in flight, and what it may be at
// least and at most where an input is uncertain. Zero bytes: nobody can say.
type Flight struct {
	Bytes, Low, High unit.Bytes
	// open says in plain words what makes it uncertain, why where it comes from.
	Open, Why string
}

// scaled is a part of the bytes.
func (s Flight) scaled(share float64) Flight {
	part := func(b unit.Bytes) unit.Bytes { return unit.Bytes(share * float64(b)) }
	s.Bytes, s.Low, s.High = part(s.Bytes), part(s.Low), part(s.High)
	return s
}

// Most bounds the size from above.
func (s Flight) Most(top unit.Bytes) Flight {
	s.Bytes, s.Low, s.High = min(s.Bytes, top), min(s.Low, top), min(s.High, top)
	return s
}

// Window returns how many bytes the host lets one peer have in flight towards
// one of its TCP sockets, and why in plain words. SocketBuffer is what the
// socket asks for with SO_RCVBUF; zero is autotuning. Zero bytes means
// unknown: a system that is not modelled, or neither sysctl nor kernel release
// known.
//
// Half of the buffer is usable: tcp_win_from_space takes off buffer /
// 2^tcp_adv_win_scale (1 by default) up to 6.5, and from 6.6 multiplies by
// scaling_ratio, which is near one half for full segments from a network card.
func Window(h netstate.Host, socketBuffer unit.Bytes) (unit.Bytes, string) {
	s := ReceiveFlight(h, socketBuffer, true)
	return s.Bytes, s.Why
}

// ReceiveFlight is Window with its range; carded says that a network card, and
// not a link that the kernel emulates, brings the packets.
func ReceiveFlight(h netstate.Host, asked unit.Bytes, carded bool) Flight {
	switch {
	case isFreeBSD(h):
		return freebsdBuffer(h, asked, "recv")
	case NotLinux(h):
		return Flight{Why: fmt.Sprintf("the receive window of %s is not modelled", h.Kernel.OS)}
	}
	buffer := receiveBuffer(h, asked)
	if buffer.Bytes == 0 {
		return buffer
	}
	s := usableOf(h, buffer, asked > 0, carded)
	s.Why = fmt.Sprintf("%s, of which %s is usable window (%s)", buffer.Why, s.Bytes, s.Why)
	if top := scaledMaximum(h, buffer.Bytes, asked > 0); s.Bytes > top {
		s.Why += fmt.Sprintf(", but the window field holds no more than %s", top)
		return s.Most(top)
	} else if s.High > top {
		return s.Most(top)
	}
	return s
}

// sendShare is the part of a full send buffer that is in flight: sk_buff
// overhead and the wait until the writer refills take the rest (measured
// on 6.1, RTT 9 ms, wmem 512 KiB to 2 MiB: 0.95 to 0.98).
const sendShare = 0.96

// SendFlight returns how many bytes one TCP socket of the host keeps in
// flight because of its send buffer, and why. Asked is what
// the socket asks for with SO_SNDBUF; zero is autotuning up to tcp_wmem's
// maximum (tcp_sndbuf_expand; where it starts, tcp_wmem's middle number, does
// not matter in steady state). Piece is what its links take at once, see Piece.
// Zero bytes means unknown. It holds for senders
// that write 64 KiB or more at once; small writes fill the buffer with
// overhead.
func SendFlight(h netstate.Host, asked, piece unit.Bytes) Flight {
	switch {
	case isFreeBSD(h):
		return freebsdBuffer(h, asked, "send")
	case NotLinux(h):
		return Flight{Why: fmt.Sprintf("the send buffer of %s is not modelled", h.Kernel.OS)}
	}
	buffer := sendBuffer(h, asked)
	if buffer.Bytes == 0 {
		return buffer
	}
	s := buffer.scaled(sendShare)
	s.Why = fmt.Sprintf("%s, of which about %s is in flight (%.2f)", buffer.Why, s.Bytes, sendShare)
	if piece < sendPiece {
		filled, _ := SendFilled(buffer.Bytes, piece)
		s = buffer.scaled(float64(filled) / float64(buffer.Bytes))
		s.Why = fmt.Sprintf("%s, which is filled in pieces of %s for the link's gso_max_segs, each with overhead: about %s in flight", buffer.Why, piece, s.Bytes)
		return s
	}
	if buffer.Bytes >= pieceMatters {
		return s
	}
	s.Low = unit.Bytes(pieceLeast * float64(buffer.Bytes))
	s.Bytes, s.High = SendFilled(buffer.Bytes, piece)
	if s.Open != "" {
		s.Open += "; "
	}
	s.Open += "a small send buffer is filled in pieces of 64 KiB"
	s.Why = fmt.Sprintf("%s, which is filled in pieces of 64 KiB: about %s in flight", buffer.Why, s.Bytes)
	return s
}

// What a send buffer takes in beyond its size: one more piece of up to 64 KB is
// admitted while less than the buffer is queued (sk_stream_memory_free,
// tcp_sendmsg_locked). Linux 6.1 over netem, one stream at MTU 1500: buffers of
// 68, 136 and 200 KiB at 32 to 34 ms kept 143, 157 and 220 KiB in flight (the
// middle here is 10, 2 and 4 % less), those from 512 KiB on their 0.96; at MTU
// 9000 one of 132 KiB kept 104 on a path that loses 1 in 4,300. It is no bound from above:
// what is added to a segment that was not sent whole asks for no room, so that 40,000 bytes
// kept 118 and 143 KB over 40 ms at 40 and 60 Mbit/s, and more on faster links.
const (
	sendPiece    = 64 * unit.KiB
	pieceMatters = 8 * sendPiece
	pieceMean    = 28 * unit.KiB // fitted to the three
	pieceLeast   = 0.75          // of the buffer: the writer is woken at two thirds (sk_stream_is_writeable)
)

// inPieces is what a small send buffer keeps in flight on average: never less
// than the two pieces, or the one, that it takes in whatever its size.
func inPieces(buffer unit.Bytes) unit.Bytes {
	more := float64(pieceMean) * (1 - float64(buffer)/float64(pieceMatters))
	mean := min(unit.Bytes(sendShare*float64(buffer)+more), pieces(buffer))
	return max(mean, min(pieces(buffer), 2*sendPiece))
}

// SendWindow is SendFlight by the host's own links, and why.
func SendWindow(h netstate.Host, asked unit.Bytes) (unit.Bytes, string) {
	s := SendFlight(h, asked, Piece(usualPayload, h.Links...))
	return s.Bytes, s.Why
}

// usualPayload is a segment's at MTU 1500 with timestamps.
const usualPayload = 1448

// Piece returns how many bytes the kernel puts into one sk_buff of segments with so much
// payload for those links: 64 KiB, or as many segments as the least gso_max_segs of theirs
// allows (tcp_xmit_size_goal).
func Piece(payload int, links ...netstate.Link) unit.Bytes {
	piece := sendPiece
	for _, l := range links {
		if segments, err := strconv.Atoi(l.Extra["gso_max_segs"]); err == nil && segments > 0 && payload > 0 {
			piece = min(piece, unit.Bytes(min(segments, 1<<16)*payload))
		}
	}
	return piece
}

// pieceOverhead is what an sk_buff takes beside its payload (SKB_TRUESIZE of
// tcp_stream_alloc_skb's head). Linux 6.1, gso_max_segs 1, RTT 18 ms: buffers of 14,336 to
// 200,000 bytes kept 6 to 73 segments of 1448 bytes in flight, 3 to 33 of 3948 and 2 to 10 of
// 8948, each what fits one by one while less than the buffer is taken.
const pieceOverhead unit.Bytes = 1280

// SendFilled returns what a send buffer of that size (as SO_SNDBUF reads back)
// keeps in flight when it is full, on average and at most: a small one more than
// its size where it is filled in pieces of 64 KiB, and less in small ones. Zero is unknown.
func SendFilled(buffer, piece unit.Bytes) (mean, most unit.Bytes) {
	switch {
	case buffer <= 0:
		return 0, 0
	case piece < sendPiece:
		each := piece + pieceOverhead
		most = (buffer + each - 1) / each * piece
		return unit.Bytes(sendShare * float64(most)), most
	case buffer >= pieceMatters:
		return unit.Bytes(sendShare * float64(buffer)), buffer
	}
	return inPieces(buffer), max(pieces(buffer), 2*sendPiece) * 9 / 8
}

// pieces is the most that a send buffer takes in.
func pieces(buffer unit.Bytes) unit.Bytes { return (buffer/sendPiece + 1) * sendPiece }

func NotLinux(h netstate.Host) bool { return h.Kernel.OS != "" && h.Kernel.OS != "linux" }
