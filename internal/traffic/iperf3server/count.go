package iperf3server

import (
	"time"

	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// count is what one stream has carried since it began.
type count struct {
	bytes       uint64 // received, or handed to the kernel
	moved       uint64 // received, or received by the client as far as TCP knows
	retransmits uint64
	window      uint64           // congestion window, bytes
	arrived     iperf3.Reception // UDP; of a sending stream only Highest
	quiet       time.Duration    // since data came last, TCP receiving; the kernel's ticks, 1 to 10 ms
}

// mark is the counts of all streams at one moment of a test.
type mark struct {
	at     time.Duration // since the test began
	counts []count
}

func (m mark) moved() uint64 {
	var n uint64
	for _, c := range m.counts {
		n += c.moved
	}
	return n
}

// quiet is how long nothing has come for any receiving stream.
func (m mark) quiet(streams []bool) time.Duration {
	least := time.Duration(-1)
	for i, receives := range streams {
		if q := m.counts[i].quiet; receives && (least < 0 || q < least) {
			least = q
		}
	}
	return max(least, 0)
}

// since is what one stream carried from one count to a later one.
func (c count) since(before count) count {
	c.bytes -= min(before.bytes, c.bytes)
	c.moved -= min(before.moved, c.moved)
	c.retransmits -= min(before.retransmits, c.retransmits)
	c.arrived.Highest -= min(before.arrived.Highest, c.arrived.Highest)
	// A late datagram may have taken back a loss of before.
	c.arrived.Lost -= min(before.arrived.Lost, c.arrived.Lost)
	c.arrived.OutOfLine -= min(before.arrived.OutOfLine, c.arrived.OutOfLine)
	return c
}
