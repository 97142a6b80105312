package agentapi

import (
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Sample is everything counted at one moment on one host's own clock.
type Sample struct {
	// At is the monotonic time since the session opened.
	At    time.Duration `json:"at_ns"`
	Bytes []uint64      `json:"bytes"` // payload so far, per stream
	Links []LinkCount   `json:"links"`
	CPU   CPUCount      `json:"cpu"`
	// TCP is TCP_INFO per stream, where it was read.
	TCP []TCPCount `json:"tcp,omitempty"`
	// UDP is datagrams per stream, of a session that asked for them.
	UDP []UDPCount `json:"udp,omitempty"`
	// Copied is set when the kernel copied though asked not to.
	Copied bool `json:"copied,omitempty"`
	// Took is how long the host was at this sample; zero is not known.
	Took time.Duration `json:"took_ns,omitempty"`
}

// UDPCount is a stream's datagrams so far.
type UDPCount struct {
	Datagrams uint64 `json:"datagrams_count"` // sent, or received
	// What a receiver knows by the sequence numbers. Highest is the highest
	// seen plus one; lost at a moment is Highest - (Datagrams - Twice).
	Highest   uint64        `json:"highest_count,omitempty"`
	Reordered uint64        `json:"reordered_count,omitempty"`
	Twice     uint64        `json:"duplicate_count,omitempty"`
	Jitter    time.Duration `json:"jitter_ns,omitempty"`
	Calls     uint64        `json:"calls_count,omitempty"` // system calls made
	// Dropped is how many packets the receiver's own socket dropped, for want
	// of room, at least: they are among the lost.
	Dropped uint64 `json:"socket_dropped_count,omitempty"`
}

// LinkCount is a link's counters at one moment.
type LinkCount struct {
	Link string        `json:"link"`
	At   time.Duration `json:"at_ns"`
	netstate.LinkCounters
	// Driver are the driver's counters that say why packets wait or are lost;
	// nil in samples that did not read them: it costs more than the others.
	Driver map[string]uint64 `json:"driver,omitzero"`
	// State is nil where it was not read.
	State *LinkState `json:"state,omitempty"`
}

// LinkState is whether a link can carry anything at one moment.
type LinkState struct {
	Carrier bool `json:"carrier"` // administratively up, and the lower layer is
	// Changes counts the times that the carrier went or came
	// (IFLA_CARRIER_CHANGES, Linux 3.15); zero before.
	Changes uint64 `json:"carrier_changes_count,omitempty"`
	// Port is set for a port of a bond: what the driver holds of it.
	Port *PortState `json:"port,omitempty"`
}

// PortState is a bond's port (IFLA_BOND_SLAVE_*).
type PortState struct {
	Up     bool `json:"mii_up"` // what the bond's monitor believes
	Active bool `json:"active"` // not in the backup state
}

// CPUCount is processor time so far, in seconds, per core.
type CPUCount struct {
	// Cores are the kernel's numbers of the cores below; empty where they are
	// the indexes.
	Cores   []int     `json:"cores,omitempty"`
	Busy    []float64 `json:"busy_s"`
	Softirq []float64 `json:"softirq_s"`
	// Threads is each stream thread's processor time in seconds.
	Threads []float64 `json:"threads_s,omitempty"`
	// Switches is each stream thread's context switches, Pinned the core it is
	// kept on, negative for none. Empty where they are not read.
	Switches []Switches `json:"switches,omitempty"`
	Pinned   []int      `json:"pinned,omitempty"`
	// SoftnetDropped and SoftnetSqueezed are sums over the cores
	// (/proc/net/softnet_stat).
	SoftnetDropped  uint64 `json:"softnet_dropped_count,omitempty"`
	SoftnetSqueezed uint64 `json:"softnet_squeezed_count,omitempty"`
	// Steal is the time that a hypervisor took away, over all cores.
	Steal float64 `json:"steal_s,omitempty"`
	// Waited is how long each stream thread could have run and had no core;
	// empty where the kernel does not say.
	Waited []float64 `json:"waited_s,omitempty"`
	// Quota is how many cores the streams' control group may use, zero no
	// limit, and Throttled how long it was stopped so far, in seconds.
	Quota     float64 `json:"quota_cores,omitempty"`
	Throttled float64 `json:"throttled_s,omitempty"`
	// TCPExt are counters of /proc/net/netstat and snmp by name, those that are not zero;
	// nil in samples that did not read them.
	TCPExt map[string]uint64 `json:"tcp_ext,omitzero"`
}

// Switches is a thread's context switches so far.
type Switches struct {
	Voluntary   uint64 `json:"voluntary_count"`
	Involuntary uint64 `json:"involuntary_count"`
}

// TCPCount is TCP_INFO at one moment: cumulative counters and last values.
// Present is false where the kernel or system has none, and for MPTCP, where
// each subflow has its own.
type TCPCount struct {
	Present       bool          `json:"present"`
	Busy          time.Duration `json:"busy_ns"`
	RwndLimited   time.Duration `json:"rwnd_limited_ns"`
	SndbufLimited time.Duration `json:"sndbuf_limited_ns"`
	Retransmits   uint64        `json:"total_retrans"`
	BytesRetrans  uint64        `json:"bytes_retrans"`
	// BytesSent is payload sent, repetitions included; zero where the kernel
	// does not count it (Linux before 4.19).
	BytesSent   uint64 `json:"bytes_sent,omitempty"`
	SegmentsOut uint64 `json:"data_segs_out"`
	SegmentsIn  uint64 `json:"data_segs_in"`
	// AllSegmentsOut counts acknowledgements too; zero where the kernel does
	// not count them (Linux before 4.2).
	AllSegmentsOut uint64     `json:"segs_out,omitempty"`
	Last           record.TCP `json:"last"`
	RcvBuf         unit.Bytes `json:"rcvbuf_bytes"`
	SndBuf         unit.Bytes `json:"sndbuf_bytes"`
	// Received is the payload that arrived in order so far; zero where the
	// kernel does not count it (Linux before 4.1).
	Received uint64 `json:"bytes_received,omitempty"`
	// Unread is what the links delivered and the receiver has not taken yet.
	Unread unit.Bytes `json:"unread_bytes,omitempty"`
	// InFlight is how many segments are on the way.
	InFlight int `json:"in_flight_packets,omitempty"`
	// Below is what the socket handed to this host's queues and drivers and they
	// hold still (sk_wmem_alloc), SocketDrops what it had no room for so far.
	Below       unit.Bytes `json:"below_bytes,omitempty"`
	SocketDrops uint64     `json:"socket_drops,omitempty"`
	// MPTCP is nil for a connection that is plain TCP.
	MPTCP *MPTCPCount `json:"mptcp,omitempty"`
}

// MPTCPCount is an MPTCP connection at one moment.
type MPTCPCount struct {
	// Subflows are the TCP flows that carry it, this host's address first.
	Subflows []flow.Tuple `json:"subflows"`
}
