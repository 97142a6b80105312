package profile

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func throughputKeys() []string {
	return []string{
		keyRmem, keyWmem, "net.ipv4.tcp_mem", "net.core.rmem_max", "net.core.wmem_max",
		"net.ipv4.tcp_window_scaling", "net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_sack", "net.ipv4.tcp_timestamps",
		"net.ipv4.tcp_adv_win_scale", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_no_metrics_save",
		"net.core.netdev_budget", "net.core.netdev_budget_usecs", "net.core.netdev_max_backlog",
	}
}

const (
	keyRmem = "net.ipv4.tcp_rmem"
	keyWmem = "net.ipv4.tcp_wmem"
)

// Throughput returns what the host needs to fill its links over its paths:
// buffers from rate times round trip, and nothing that a default does already.
// It raises only: what is higher stays. Congestion control and queueing are
// left to be measured.
func Throughput(in Input) Result {
	m := &maker{Input: in}
	if os := in.Host.Kernel.OS; os != "" && os != "linux" {
		m.leave("buffers of %s are not computed here", os)
		return m.result
	}
	m.buffers()
	m.switches()
	m.socketBuffers()
	m.afterIdle()
	m.softirq()
	if slices.Contains(in.Roles, "benchmark") && m.settable("net.ipv4.tcp_no_metrics_save") {
		m.setNumber("net.ipv4.tcp_no_metrics_save", 1, "a benchmark host: no connection begins with what another one learnt")
	}
	return m.result
}

// flight is the most that one path holds.
type flight struct {
	to    string
	rate  unit.BitRate
	rtt   time.Duration
	bytes unit.Bytes
	// bounds says what the rate is.
	bounds string
}

func (f flight) String() string {
	return fmt.Sprintf("%s (%s) x %s to %s = %s in flight", f.rate, f.bounds, f.rtt, f.to, f.bytes)
}

// largest is the path that holds the most; false while no path has both a
// round trip and a rate.
func (m *maker) largest() (flight, bool) {
	link, speed := fastest(m.Host)
	var most flight
	for _, p := range m.Paths {
		f := flight{to: p.To, rate: speed, rtt: p.RTT, bounds: link}
		if m.Host.Rate > 0 && (f.rate == 0 || m.Host.Rate < f.rate) {
			f.rate, f.bounds = m.Host.Rate, "the host's cap"
		}
		if p.Rate > 0 && (f.rate == 0 || p.Rate < f.rate) {
			f.rate, f.bounds = p.Rate, "the path's"
		}
		f.bytes = unit.Bytes(float64(f.rate) / 8 * f.rtt.Seconds())
		if f.bytes > most.bytes {
			most = f
		}
	}
	return most, most.bytes > 0
}

// fastest is the link with addresses that has the most bandwidth, a bond all
// of its ports'.
func fastest(h netstate.Host) (name string, most unit.BitRate) {
	for _, l := range h.Links {
		if len(l.Addresses) == 0 || l.Kind == "loopback" {
			continue
		}
		if speed := bandwidth(h, l, 0); speed > most {
			name, most = l.Name, speed
		}
	}
	return name, most
}

func bandwidth(h netstate.Host, l netstate.Link, depth int) unit.BitRate {
	if depth > 8 {
		return 0
	}
	var sum unit.BitRate
	switch {
	case l.Bond != nil:
		for _, name := range l.Bond.Ports {
			if port, ok := h.Link(name); ok {
				sum += port.Speed
			}
		}
	case l.VLAN != nil:
		parent, _ := h.Link(l.VLAN.Parent)
		return bandwidth(h, parent, depth+1)
	}
	if sum > 0 {
		return sum
	}
	return l.Speed
}

// switches turns on what windows beyond 64 KB, and losses, cannot do without.
func (m *maker) switches() {
	f, known := m.largest()
	on := func(key, format string, args ...any) {
		if v, there := m.value(key); there && v == 0 && m.settable(key) {
			m.setNumber(key, 1, format, args...)
		}
	}
	if known && f.bytes > 65535 {
		on("net.ipv4.tcp_window_scaling", "%s: without it the window field holds 64 KiB", f)
		on("net.ipv4.tcp_moderate_rcvbuf", "without it a receive buffer stays as small as it starts")
	}
	on("net.ipv4.tcp_sack", "without it every loss in a window costs a round trip of its own")
	if _, speed := fastest(m.Host); speed > 0 {
		again := time.Duration(math.Exp2(32) / (float64(speed) / 8) * float64(time.Second))
		if again < time.Minute {
			on("net.ipv4.tcp_timestamps", "at %s sequence numbers come again after %s: old segments are told apart by timestamps (RFC 7323, PAWS)", speed, again.Round(100*time.Millisecond))
		}
	}
}

// socketBuffers raises what bounds SO_RCVBUF and SO_SNDBUF, where sockets are
// known to ask.
func (m *maker) socketBuffers() {
	if m.SocketBuffer <= 0 {
		return
	}
	for _, key := range []string{"net.core.rmem_max", "net.core.wmem_max"} {
		if v, there := m.value(key); there && unit.Bytes(v) >= m.SocketBuffer || !m.settable(key) {
			continue
		}
		m.setNumber(key, int64(m.SocketBuffer), "sockets ask for %s (measure.socket_buffer), and it bounds what they get", m.SocketBuffer)
	}
}

// initialWindow is how many segments a stream starts with (RFC 6928).
const initialWindow = 10

// afterIdle keeps windows over pauses where filling them again takes long.
func (m *maker) afterIdle() {
	f, known := m.largest()
	const key = "net.ipv4.tcp_slow_start_after_idle"
	if v, there := m.value(key); !known || f.rtt < time.Millisecond || !there || v == 0 || !m.settable(key) {
		return
	}
	trips := math.Ceil(math.Log2(float64(f.bytes) / (initialWindow * 1448)))
	if trips < 2 {
		return
	}
	m.setNumber(key, 0, "%s: a stream that paused would start over with %d segments and take %.0f round trips, %s, to fill it",
		f, initialWindow, trips, (time.Duration(trips) * f.rtt).Round(time.Millisecond))
}

// What the kernel takes in at once before others get a turn (net/core/dev.c).
const (
	squeezedBudget   = 600
	squeezedInterval = 8000 // microseconds
	// worth is the part of all packets that must be concerned before a
	// counter is a reason.
	worth = 1.0 / 1000
)

// softirq raises what the kernel's own counters say is too little, and nothing
// else: a budget only for polls that ended with work left, a backlog only for
// packets that found it full.
func (m *maker) softirq() {
	var processed, squeezed, dropped float64
	for _, s := range m.Host.Softnet {
		processed, squeezed, dropped = processed+float64(s.Processed), squeezed+float64(s.Squeezed), dropped+float64(s.Dropped)
	}
	if m.InNamespace || processed == 0 {
		return
	}
	if budget, there := m.value("net.core.netdev_budget"); there && squeezed*float64(budget) > worth*processed {
		why := fmt.Sprintf("%.0f polls ended with work left (softnet_stat time_squeeze), of %.0f packets", squeezed, processed)
		m.atLeast("net.core.netdev_budget", squeezedBudget, why)
		m.atLeast("net.core.netdev_budget_usecs", squeezedInterval, why)
	}
	if link, speed := fastest(m.Host); dropped > worth*processed && speed > 0 {
		l, _ := m.Host.Link(link)
		frame := float64(max(l.MTU, 1500) + 38)
		packets := math.Ceil(float64(speed) / 8 / frame * 0.002)
		m.atLeast("net.core.netdev_max_backlog", int64(packets),
			fmt.Sprintf("%.0f of %.0f packets found it full; %s brings %.0f in the 2 ms that a core may take others'", dropped, processed, speed, packets))
	}
}

func (m *maker) atLeast(key string, least int64, why string) {
	if v, there := m.value(key); there && v < least && m.settable(key) {
		m.setNumber(key, least, "%s", why)
	}
}
