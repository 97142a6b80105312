package tcp

import (
	"fmt"
	"math/bits"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

const (
	// defaultWmem is tcp_wmem's maximum since 2.6.17 (tcp_init).
	defaultWmem = 4 * unit.MiB
	// maxWindowScale is RFC 7323's, MaxUnscaled what the 16-bit field holds.
	maxWindowScale = 14
	MaxUnscaled    = unit.Bytes(65535)
)

// receiveBuffer is the socket's receive buffer at its largest; zero unknown.
// SO_RCVBUF is clamped to rmem_max, then doubled (sk_setsockopt,
// net/core/sock.c); autotuning stops at tcp_rmem's maximum and ignores
// rmem_max (tcp_rcv_space_adjust). With tcp_moderate_rcvbuf 0 a buffer stays
// what it starts as, tcp_rmem's middle number (tcp_init_sock).
func receiveBuffer(h netstate.Host, asked unit.Bytes) Flight {
	if asked > 0 {
		return grantedBuffer(h, asked, "net.core.rmem_max")
	}
	rmem := h.SysctlInts("net.ipv4.tcp_rmem")
	if v := h.SysctlInts("net.ipv4.tcp_moderate_rcvbuf"); len(v) == 1 && v[0] == 0 {
		// tcp_init: 87380 up to 4.19, 131072 since (commit a337531b942b).
		initial := 128 * unit.KiB
		if newer, known := h.Kernel.AtLeast(4, 20); known && !newer {
			initial = 87380
		}
		if len(rmem) == 3 && rmem[1] > 0 {
			initial = unit.Bytes(rmem[1])
		}
		return Flight{Bytes: initial, Why: fmt.Sprintf("tcp_moderate_rcvbuf 0 leaves the buffer at tcp_rmem's %s", initial)}
	}
	if len(rmem) == 3 && rmem[1] > rmem[2] && rmem[2] > 0 {
		// Autotuning only ever grows a buffer. Measured: 48 KiB beneath 128 KiB
		// kept 61 KB in flight (Linux 6.1).
		return Flight{Bytes: unit.Bytes(rmem[1]), Why: fmt.Sprintf("tcp_rmem starts at %s, above its most", unit.Bytes(rmem[1]))}
	}
	if len(rmem) == 3 && rmem[2] > 0 {
		return Flight{Bytes: unit.Bytes(rmem[2]), Why: fmt.Sprintf("tcp_rmem allows %s", unit.Bytes(rmem[2]))}
	}
	// tcp_init: 6 MiB since 3.4, 32 MiB since 6.16 (commit 572be9bf9d0d).
	newer, known := h.Kernel.AtLeast(6, 16)
	size := 6 * unit.MiB
	switch old, _ := h.Kernel.AtLeast(3, 4); {
	case !known || !old:
		return Flight{Why: "tcp_rmem and the kernel release are unknown"}
	case newer:
		size = 32 * unit.MiB
	}
	return Flight{Bytes: size, Why: fmt.Sprintf("Linux %s's default tcp_rmem allows %s", h.Kernel.Release, size)}
}

// distributionMax is net.core.rmem_max and wmem_max where nobody set them (256
// sk_buffs' overhead, _SK_MEM_PACKETS of include/net/sock.h) up to 6.15; 4 MiB
// since 6.16.
const distributionMax = 208 * unit.KiB

// grantedBuffer is twice what the socket asked for, within the sysctl that
// bounds it. An unread sysctl may bound it at the kernel's default, and the
// text says so.
func grantedBuffer(h netstate.Host, asked unit.Bytes, key string) Flight {
	if v := h.SysctlInts(key); len(v) == 1 && v[0] > 0 {
		if most := unit.Bytes(v[0]); asked > most {
			return Flight{Bytes: 2 * most, Why: fmt.Sprintf("the socket asks for %s, %s grants %s", asked, key, most)}
		}
		return Flight{Bytes: 2 * asked, Why: fmt.Sprintf("the socket asks for and gets %s", asked)}
	}
	s := Flight{Bytes: 2 * asked, Why: fmt.Sprintf("the socket asks for %s (%s unknown: it may grant less)", asked, key)}
	least := distributionMax
	if newer, _ := h.Kernel.AtLeast(6, 16); newer {
		least = 4 * unit.MiB
	}
	if asked > least {
		s.Low, s.Open = 2*least, fmt.Sprintf("%s is unknown and may grant %s", key, least)
	}
	return s
}

// sendBuffer is the socket's send buffer at its largest; zero unknown.
func sendBuffer(h netstate.Host, asked unit.Bytes) Flight {
	if asked > 0 {
		return grantedBuffer(h, asked, "net.core.wmem_max")
	}
	if v := h.SysctlInts("net.ipv4.tcp_wmem"); len(v) == 3 && v[2] > 0 {
		return Flight{Bytes: unit.Bytes(v[2]), Why: fmt.Sprintf("tcp_wmem allows %s", unit.Bytes(v[2]))}
	}
	if recent, known := h.Kernel.AtLeast(2, 7); !known || !recent {
		return Flight{Why: "tcp_wmem and the kernel release are unknown"}
	}
	return Flight{Bytes: defaultWmem, Why: fmt.Sprintf("Linux %s's default tcp_wmem allows %s", h.Kernel.Release, defaultWmem)}
}

// The share of a receive buffer that becomes window from 6.6 on is the payload
// of the first full packet over what it occupies (scaling_ratio,
// tcp_measure_rcv_mss), which the receiving card's driver decides. It is one
// half before the first packet (TCP_DEFAULT_SCALING_RATIO), and that is taken
// for a card: half pages of 2 KiB and a head make 0.51 at MTU 1500, ENA was
// reported at 0.66. A page for each packet makes 1448 / 4672 = 0.31, five half
// pages at MTU 9000 8948 / 11008 = 0.81. What comes over a virtual link still
// lies in the sender's own pages: 0.87 at MTU 1500 and 0.94 at 9000 with a
// fixed buffer on 6.18, 0.77 to 0.93 with a growing one.
const (
	cardRatio, cardRatioLow, cardRatioHigh          = 0.5, 0.31, 0.81
	virtualRatio, virtualRatioLow, virtualRatioHigh = 0.9, 0.77, 0.98
	// earlyRatio is where 6.6 to 6.9 start, 1200 bytes a page, and where a
	// fixed buffer stays: the window does not follow the ratio there. Their
	// stable releases of May 2024 and 6.10 start at a half (commit
	// 697a6c8cec03); from 6.11 a fixed buffer's window follows too.
	earlyRatio = 65.0 / 256
)

// Usable returns how much of a receive buffer that the kernel granted, as
// SO_RCVBUF reads back, may be window, and the reason.
func Usable(h netstate.Host, granted unit.Bytes) (unit.Bytes, string) {
	s := usableOf(h, Flight{Bytes: granted}, true, true)
	return s.Bytes, s.Why
}

// usableOf is the part of a receive buffer that becomes window, its range and
// in why the reason. Fixed is a buffer that the application set.
func usableOf(h netstate.Host, buffer Flight, fixed, carded bool) Flight {
	if newer, known := h.Kernel.AtLeast(6, 6); known && newer {
		return measuredRatio(h, buffer, fixed, carded)
	}
	v := h.SysctlInts("net.ipv4.tcp_adv_win_scale")
	s := buffer.scaled(0.5)
	switch {
	case len(v) != 1 || v[0] == 1 || v[0] < -31 || v[0] > 31:
		s.Why = "half: tcp_adv_win_scale 1"
		return s
	case v[0] <= 0:
		s = buffer.shifted(func(b unit.Bytes) unit.Bytes { return b >> uint(-v[0]) })
	default:
		s = buffer.shifted(func(b unit.Bytes) unit.Bytes { return b - b>>uint(v[0]) })
	}
	s.Why = fmt.Sprintf("tcp_adv_win_scale %d", v[0])
	return s
}

func (s Flight) shifted(by func(unit.Bytes) unit.Bytes) Flight {
	s.Bytes, s.Low, s.High = by(s.Bytes), by(s.Low), by(s.High)
	return s
}

// measuredRatio is usableOf from 6.6 on.
func measuredRatio(h netstate.Host, buffer Flight, fixed, carded bool) Flight {
	ratio, low, high := cardRatio, cardRatioLow, cardRatioHigh
	word, open := "about half from 6.6 on", "receive buffer efficiency unknown (scaling_ratio)"
	if !carded {
		ratio, low, high = virtualRatio, virtualRatioLow, virtualRatioHigh
		word, open = "about 0.9 from 6.6 on over a virtual link", "efficiency for the first packets unknown (scaling_ratio)"
	}
	started, _ := h.Kernel.AtLeast(6, 10)
	follows, _ := h.Kernel.AtLeast(6, 11)
	switch {
	case fixed && !started:
		ratio, low, high = 0.5, earlyRatio, 0.5
		word, open = "half; 6.6 to 6.9 without a later fix give a quarter", "6.6 to 6.9 give a fixed buffer a quarter or a half, by point release"
	case fixed && !follows:
		ratio, low, high, word, open = 0.5, 0, 0, "half", ""
	case !started:
		word += "; these kernels start at a quarter"
	}
	least := buffer.Bytes
	if buffer.Low > 0 {
		least = buffer.Low
	}
	s := buffer.scaled(ratio)
	s.Why = word
	if open == "" {
		return s
	}
	s.Low, s.High = unit.Bytes(low*float64(least)), unit.Bytes(high*float64(buffer.Bytes))
	if s.Open != "" {
		s.Open += "; "
	}
	s.Open += open
	return s
}

// scaledMaximum is the largest window that the 16-bit field can say with the
// scale the kernel picks at SYN (tcp_select_initial_window): from the larger
// of tcp_rmem's maximum and rmem_max, or from a fixed buffer's size.
func scaledMaximum(h netstate.Host, buffer unit.Bytes, fixed bool) unit.Bytes {
	if NoScaling(h) {
		return MaxUnscaled
	}
	space := buffer
	if v := h.SysctlInts("net.core.rmem_max"); !fixed && len(v) == 1 {
		space = max(space, unit.Bytes(v[0]))
	}
	scale := min(max(bits.Len64(uint64(space))-1-15, 0), maxWindowScale)
	return MaxUnscaled << scale
}

// NoScaling reports a host that refuses RFC 7323's window scale; the option
// takes both ends.
func NoScaling(h netstate.Host) bool {
	v := h.SysctlInts("net.ipv4.tcp_window_scaling")
	return len(v) == 1 && v[0] == 0
}

func isFreeBSD(h netstate.Host) bool { return h.Kernel.OS == "freebsd" }

// freebsdBuffer is a FreeBSD socket's buffer, "recv" or "send", all of which
// is window (sbspace counts payload). Autotuning stops at
// net.inet.tcp.recvbuf_max or sendbuf_max (sys/netinet/tcp_input.c,
// tcp_output.c), 2 MiB up to FreeBSD 14 and reported as 8 MiB since; without
// it (recvbuf_auto 0) a buffer stays at recvspace. What the socket asks for is
// not doubled, and refused above kern.ipc.maxsockbuf.
func freebsdBuffer(h netstate.Host, asked unit.Bytes, which string) Flight {
	read := func(key string) (unit.Bytes, bool) {
		v := h.SysctlInts(key)
		if len(v) != 1 || v[0] <= 0 {
			return 0, false
		}
		return unit.Bytes(v[0]), true
	}
	if asked > 0 {
		return Flight{Bytes: asked, Why: fmt.Sprintf("the socket asks for %s, which FreeBSD grants whole or not at all (kern.ipc.maxsockbuf)", asked)}
	}
	name := "net.inet.tcp." + which
	if v := h.SysctlInts(name + "buf_auto"); len(v) == 1 && v[0] == 0 {
		size, ok := read(name + "space")
		if !ok {
			return Flight{Why: fmt.Sprintf("%sbuf_auto is 0 and %sspace unknown", name, name)}
		}
		return Flight{Bytes: size, Why: fmt.Sprintf("%sbuf_auto 0 leaves the buffer at %s", name, size)}
	}
	key := name + "buf_max"
	if size, ok := read(key); ok {
		return Flight{Bytes: size, Why: fmt.Sprintf("%s allows %s", key, size)}
	}
	return Flight{Bytes: 2 * unit.MiB, Low: 2 * unit.MiB, High: 8 * unit.MiB,
		Open: key + " is unknown: 2 MiB up to FreeBSD 14, 8 MiB later",
		Why:  fmt.Sprintf("FreeBSD's default %s allows %s", key, 2*unit.MiB)}
}
