package remedy

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// The tunables of TCP's buffers, and what else keeps a receive window small.
const (
	receiveBuffers = "net.ipv4.tcp_rmem"
	sendBuffers    = "net.ipv4.tcp_wmem"
	scaling        = "net.ipv4.tcp_window_scaling"
	moderating     = "net.ipv4.tcp_moderate_rcvbuf"
)

const (
	// ample is how many times what it needs a buffer has, so that it does not bind while
	// a queue grows. What part of it is overhead is the same before and after.
	ample = 2
	// leastMost and mostMost bound the buffer's maximum: Linux's own, and what
	// tcp_rmem can hold twice without passing 31 bits.
	leastMost = 6 * unit.MiB
	mostMost  = unit.GiB
	// growth is how much more a buffer allows where nobody knows what the links carry.
	growth = 8
)

// ReceiveBuffers lets streams to the host have more times the receive window that
// they had; more is at least 1, zero unknown. What turns the kernel's tuning off goes
// first: with it a larger maximum changes nothing.
func ReceiveBuffers(from, to netstate.Host, more float64) record.Way {
	var w record.Way
	for _, h := range []netstate.Host{from, to} {
		if off(h, scaling) {
			w = append(w, record.Sysctl(h.Name, scaling, "1"))
		}
	}
	if off(to, moderating) {
		w = append(w, record.Sysctl(to.Name, moderating, "1"))
	}
	if len(w) == 0 {
		w = append(w, larger(to, receiveBuffers, 131072, more))
	}
	return w
}

// SendBuffers is the same for what the host sends.
func SendBuffers(from netstate.Host, more float64) record.Way {
	return record.Way{larger(from, sendBuffers, 16384, more)}
}

// Buffers is what raises the buffer that a cause names: SendBuffers or ReceiveBuffers.
func Buffers(cause record.Cause, from, to netstate.Host, more float64) record.Way {
	if cause == record.SendBuffer {
		return SendBuffers(from, more)
	}
	return ReceiveBuffers(from, to, more)
}

func off(h netstate.Host, key string) bool {
	v := h.SysctlInts(key)
	return len(v) == 1 && v[0] == 0
}

// Scaled reports that neither host has window scaling off.
func Scaled(hosts ...netstate.Host) bool {
	for _, h := range hosts {
		if off(h, scaling) {
			return false
		}
	}
	return true
}

// larger raises a buffer's maximum, and keeps its other two values.
func larger(h netstate.Host, key string, usual int64, more float64) record.Action {
	if !(more >= 1) || math.IsInf(more, 0) {
		more = growth
	}
	least, most := int64(4096), int64(0)
	if v := h.SysctlInts(key); len(v) == 3 {
		least, usual, most = v[0], max(usual, v[1]), v[2]
	}
	want := min(max(float64(most)*more*ample, float64(leastMost)), float64(mostMost))
	size := int64(1) << bits.Len64(uint64(want)-1)
	return record.Sysctl(h.Name, key, fmt.Sprintf("%d %d %d", least, min(usual, size), min(size, int64(mostMost))))
}
