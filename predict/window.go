package predict

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	// hostDelay is what two hosts add to a path's round trip under load
	// (interrupts, GRO, the readers' wake-up) and the ping did not see: 0.15
	// ms lies between the 0.305 ms that fit six published cross-region points
	// (Linux 5.15, RTT 3.8 to 10.6 ms) and the 0.09 to 0.13 ms of a lab at
	// RTT 9 ms (Linux 6.1). It leaves both within 5 %.
	hostDelay = 150 * time.Microsecond
	// hostDelayShare bounds it on short paths, whose measured round trip is
	// mostly the hosts' own delay already.
	hostDelayShare = 20
	// sendShare is the part of a full send buffer that is in flight: sk_buff
	// overhead and the wait until the writer refills take the rest (measured
	// on 6.1, RTT 9 ms, wmem 512 KiB to 2 MiB: 0.95 to 0.98).
	sendShare = 0.96
	// defaultWmem is tcp_wmem's maximum since 2.6.17 (tcp_init).
	defaultWmem = 4 * unit.MiB
	// maxWindowScale is RFC 7323's.
	maxWindowScale = 14
)

// loadedRTT is the round trip to divide windows by; zero unknown.
func loadedRTT(rtt, loaded time.Duration) time.Duration {
	if loaded > 0 {
		return loaded
	}
	if rtt <= 0 {
		return 0
	}
	return rtt + min(hostDelay, rtt/hostDelayShare)
}

// Window returns how many bytes the host lets one peer have in flight towards
// one of its TCP sockets, and why in plain words. SocketBuffer is what the
// socket asks for with SO_RCVBUF; zero is autotuning. Zero bytes means
// unknown: a host that is not Linux, or neither sysctl nor kernel release
// known.
//
// Half of the buffer is usable: tcp_win_from_space takes off buffer /
// 2^tcp_adv_win_scale (1 by default) up to 6.5, and from 6.6 multiplies by
// scaling_ratio, which is near one half for full segments.
func Window(h netstate.Host, socketBuffer unit.Bytes) (unit.Bytes, string) {
	if notLinux(h) {
		return 0, fmt.Sprintf("the receive window of %s is not modelled", h.Kernel.OS)
	}
	buffer, source := receiveBuffer(h, socketBuffer)
	if buffer == 0 {
		return 0, source
	}
	window, ratio := usable(h, buffer)
	why := fmt.Sprintf("%s, of which %s is usable window (%s)", source, window, ratio)
	if top := scaledMaximum(h, buffer, socketBuffer > 0); window > top {
		return top, fmt.Sprintf("%s, but the window field holds no more than %s", why, top)
	}
	return window, why
}

// receiveBuffer is the socket's receive buffer at its largest; zero unknown.
// SO_RCVBUF is clamped to rmem_max, then doubled (sk_setsockopt,
// net/core/sock.c); autotuning stops at tcp_rmem's maximum and ignores
// rmem_max (tcp_rcv_space_adjust).
func receiveBuffer(h netstate.Host, asked unit.Bytes) (unit.Bytes, string) {
	if asked > 0 {
		return grantedBuffer(h, asked, "net.core.rmem_max")
	}
	if v := h.SysctlInts("net.ipv4.tcp_rmem"); len(v) == 3 && v[2] > 0 {
		return unit.Bytes(v[2]), fmt.Sprintf("tcp_rmem allows %s", unit.Bytes(v[2]))
	}
	// tcp_init: 6 MiB since 3.4, 32 MiB since 6.16 (commit 572be9bf9d0d).
	newer, known := h.Kernel.AtLeast(6, 16)
	switch old, _ := h.Kernel.AtLeast(3, 4); {
	case !known || !old:
		return 0, "tcp_rmem and the kernel release are unknown"
	case newer:
		return 32 * unit.MiB, fmt.Sprintf("Linux %s's default tcp_rmem allows %s", h.Kernel.Release, 32*unit.MiB)
	}
	return 6 * unit.MiB, fmt.Sprintf("Linux %s's default tcp_rmem allows %s", h.Kernel.Release, 6*unit.MiB)
}

// grantedBuffer is twice what the socket asked for, within the sysctl that
// bounds it. An unread sysctl bounds nothing, and the text says so.
func grantedBuffer(h netstate.Host, asked unit.Bytes, key string) (unit.Bytes, string) {
	if v := h.SysctlInts(key); len(v) == 1 && v[0] > 0 {
		if most := unit.Bytes(v[0]); asked > most {
			return 2 * most, fmt.Sprintf("the socket asks for %s, %s grants %s", asked, key, most)
		}
		return 2 * asked, fmt.Sprintf("the socket asks for and gets %s", asked)
	}
	return 2 * asked, fmt.Sprintf("the socket asks for %s (%s unknown: it may grant less)", asked, key)
}

// Usable returns how much of a receive buffer that the kernel granted, as
// SO_RCVBUF reads back, may be window, and the reason.
func Usable(h netstate.Host, granted unit.Bytes) (unit.Bytes, string) { return usable(h, granted) }

// usable is the part of a receive buffer that becomes window, and the reason.
func usable(h netstate.Host, buffer unit.Bytes) (unit.Bytes, string) {
	if newer, known := h.Kernel.AtLeast(6, 6); known && newer {
		if settled, _ := h.Kernel.AtLeast(6, 11); !settled {
			return buffer / 2, "about half from 6.6 on; these kernels start at a quarter"
		}
		return buffer / 2, "about half from 6.6 on"
	}
	v := h.SysctlInts("net.ipv4.tcp_adv_win_scale")
	if len(v) != 1 || v[0] == 1 || v[0] < -31 || v[0] > 31 {
		return buffer / 2, "half: tcp_adv_win_scale 1"
	}
	reason := fmt.Sprintf("tcp_adv_win_scale %d", v[0])
	if v[0] <= 0 {
		return buffer >> uint(-v[0]), reason
	}
	return buffer - buffer>>uint(v[0]), reason
}

// scaledMaximum is the largest window that the 16-bit field can say with the
// scale the kernel picks at SYN (tcp_select_initial_window): from the larger
// of tcp_rmem's maximum and rmem_max, or from a fixed buffer's size.
func scaledMaximum(h netstate.Host, buffer unit.Bytes, fixed bool) unit.Bytes {
	if v := h.SysctlInts("net.ipv4.tcp_window_scaling"); len(v) == 1 && v[0] == 0 {
		return 65535
	}
	space := buffer
	if v := h.SysctlInts("net.core.rmem_max"); !fixed && len(v) == 1 {
		space = max(space, unit.Bytes(v[0]))
	}
	scale := min(max(bits.Len64(uint64(space))-1-15, 0), maxWindowScale)
	return 65535 << scale
}

// SendWindow returns how many bytes one TCP socket of the host keeps in
// flight at most because of its send buffer, and why. SocketBuffer is what
// the socket asks for with SO_SNDBUF; zero is autotuning up to tcp_wmem's
// maximum (tcp_sndbuf_expand). Zero bytes means unknown. It holds for senders
// that write 64 KiB or more at once; small writes fill the buffer with
// overhead.
func SendWindow(h netstate.Host, socketBuffer unit.Bytes) (unit.Bytes, string) {
	if notLinux(h) {
		return 0, fmt.Sprintf("the send buffer of %s is not modelled", h.Kernel.OS)
	}
	buffer, source := sendBuffer(h, socketBuffer)
	window := unit.Bytes(sendShare * float64(buffer))
	if buffer == 0 {
		return 0, source
	}
	return window, fmt.Sprintf("%s, of which about %s is in flight (0.96)", source, window)
}

func sendBuffer(h netstate.Host, asked unit.Bytes) (unit.Bytes, string) {
	if asked > 0 {
		return grantedBuffer(h, asked, "net.core.wmem_max")
	}
	if v := h.SysctlInts("net.ipv4.tcp_wmem"); len(v) == 3 && v[2] > 0 {
		return unit.Bytes(v[2]), fmt.Sprintf("tcp_wmem allows %s", unit.Bytes(v[2]))
	}
	if recent, known := h.Kernel.AtLeast(2, 7); !known || !recent {
		return 0, "tcp_wmem and the kernel release are unknown"
	}
	return defaultWmem, fmt.Sprintf("Linux %s's default tcp_wmem allows %s", h.Kernel.Release, defaultWmem)
}

func notLinux(h netstate.Host) bool { return h.Kernel.OS != "" && h.Kernel.OS != "linux" }

// windowLimits are what the receive window and the send buffer let one TCP
// stream carry in a round trip.
func (w *way) windowLimits() []streamLimit {
	t := w.traffic
	if !protocols[t.protocol()].tcp {
		return nil
	}
	window, windowWhy := Window(w.receiver, t.SocketBuffer)
	buffer, bufferWhy := SendWindow(w.sender, t.SocketBuffer)
	return []streamLimit{
		w.windowLimit(record.ReceiveWindow, w.receiver.Name, "receive window", window, windowWhy),
		w.windowLimit(record.SendBuffer, w.sender.Name, "send buffer", buffer, bufferWhy),
	}
}

func (w *way) windowLimit(cause record.Cause, where, word string, window unit.Bytes, why string) streamLimit {
	rtt := loadedRTT(w.path.RTT, w.traffic.LoadedRTT)
	switch {
	case window == 0:
		return streamLimit{cause: cause, where: where, why: word + ": " + why}
	case rtt == 0:
		return streamLimit{cause: cause, where: w.between(),
			why: fmt.Sprintf("%s: %s; the round trip is unknown, so the rate it allows is too (measure latency)", word, why)}
	}
	trip := fmt.Sprintf("%.3f ms", unit.Milliseconds(rtt))
	if w.traffic.LoadedRTT == 0 {
		trip += fmt.Sprintf(" (the path's %.3f and the hosts' own delay)", unit.Milliseconds(w.path.RTT))
	}
	one := windowRate(window, rtt)
	return streamLimit{cause: cause, where: where, each: estimate{rate: one},
		why: fmt.Sprintf("%s; %s / %s = %s", why, window, trip, one)}
}

// windowRate is a window's rate over a round trip; zero when either is unknown.
func windowRate(window unit.Bytes, rtt time.Duration) unit.BitRate {
	if window <= 0 || rtt <= 0 {
		return 0
	}
	return unit.FromBytes(float64(window), rtt.Seconds())
}
