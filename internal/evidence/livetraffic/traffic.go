// Package livetraffic is what one host shows of the traffic that is there already:
// its connections, links and cores over a while, with nothing sent. It must
// never judge what they show. Don't pass what could not be seen for what is not
// there.
package livetraffic

import (
	"net/netip"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Watched is a host that was watched for a while.
type Watched struct {
	Host netstate.Host `json:"host"`
	Span time.Duration `json:"span_ns"`
	// Flows are the heaviest connections, heaviest first.
	Flows []Flow `json:"flows"`
	Rest  Rest   `json:"rest,omitzero"`
	// Unanswered are the peers that connections wait for.
	Unanswered []Unanswered `json:"unanswered,omitempty"`
	Links      []Link       `json:"links"`
	Cores      []Core       `json:"cores,omitempty"`
	// SoftnetDropped and SoftnetSqueezed are sums over the cores
	// (/proc/net/softnet_stat).
	SoftnetDropped  uint64 `json:"softnet_dropped_count,omitempty"`
	SoftnetSqueezed uint64 `json:"softnet_squeezed_count,omitempty"`
	// TCPExt are the differences of /proc/net/netstat's counters that moved, and of
	// snmp's TcpInCsumErrors.
	TCPExt map[string]uint64 `json:"tcp_ext_count,omitempty"`
	// Unseen says what could not be seen and why, one line each.
	Unseen []string `json:"unseen,omitempty"`
}

// Rest is what is not among the flows.
type Rest struct {
	// Connections carried something and were not among the heaviest; Rate is
	// what they moved, both ways.
	Connections int          `json:"connections_count,omitempty"`
	Rate        unit.BitRate `json:"rate_bps,omitempty"`
	// Idle connections carried next to nothing.
	Idle int `json:"idle_count,omitempty"`
	// Inside are connections of the host with itself, which use no link.
	Inside int `json:"inside_count,omitempty"`
}

// Unanswered is a peer that has answered nothing at all: the connections to it wait for
// the answer to their SYN for all of the time that was watched, or after it was sent three
// times.
type Unanswered struct {
	Peer        netip.AddrPort `json:"peer"`
	Connections int            `json:"connections_count"`
}

// Link is what a link carried and dropped meanwhile; whole frames as the
// kernel counts them.
type Link struct {
	Name string       `json:"link"`
	Tx   unit.BitRate `json:"tx_bps"`
	Rx   unit.BitRate `json:"rx_bps"`
	// TxPackets and RxPackets are a second. On virtual links a packet may be a
	// unit of up to 64 KB with one header.
	TxPackets float64 `json:"tx_packets_pps,omitempty"`
	RxPackets float64 `json:"rx_packets_pps,omitempty"`
	// Drops are those of the link and of its queue, outgoing and incoming.
	TxDrops uint64 `json:"tx_drops_count,omitempty"`
	RxDrops uint64 `json:"rx_drops_count,omitempty"`
	// Backlog is the mean of what waited in the link's queue.
	Backlog    unit.Bytes `json:"mean_backlog_bytes,omitempty"`
	Overlimits uint64     `json:"overlimits_count,omitempty"`
	Requeues   uint64     `json:"requeues_count,omitempty"`
}

// Core is the share of its time that a core was busy, and in software
// interrupts, where the network's receive path runs.
type Core struct {
	Core    int     `json:"core"`
	Busy    float64 `json:"busy_ratio"`
	Softirq float64 `json:"softirq_ratio"`
	Steal   float64 `json:"steal_ratio,omitempty"`
}

// Link returns what the named link carried.
func (w Watched) Link(name string) (Link, bool) {
	for _, l := range w.Links {
		if l.Name == name {
			return l, true
		}
	}
	return Link{}, false
}

// Busiest is the core that was busy most; ok is false where none was read.
func (w Watched) Busiest() (busiest Core, ok bool) {
	for _, c := range w.Cores {
		if !ok || c.Busy > busiest.Busy {
			busiest, ok = c, true
		}
	}
	return busiest, ok
}
