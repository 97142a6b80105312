package livetraffic

import (
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Flow is one TCP connection over the time it was watched, this host's end
// first.
type Flow struct {
	flow.Tuple
	Program Program `json:"program"`
	// Span is how long it was watched: less than the whole when it began or
	// ended meanwhile.
	Span  time.Duration `json:"span_ns"`
	Ended bool          `json:"ended,omitempty"`
	// Sent and Received are payload acknowledged by the peer, and arrived in
	// order.
	Sent     unit.BitRate `json:"sent_bps"`
	Received unit.BitRate `json:"received_bps"`
	Way      Way          `json:"way"`
	// Group joins the subflows of one MPTCP connection; zero is plain TCP.
	Group uint32  `json:"mptcp_token,omitempty"`
	Out   Sending `json:"out"`
	In    Reading `json:"in"`
	// Congestion is the congestion control's name; "" unknown.
	Congestion string `json:"congestion_control,omitempty"`
}

// Rate is what the flow moved, both ways.
func (f Flow) Rate() unit.BitRate { return f.Sent + f.Received }

// Outgoing reports a flow that mostly sends.
func (f Flow) Outgoing() bool { return f.Sent >= f.Received }

// Program is who holds a connection.
type Program struct {
	// PID and Name are zero where nobody is known to hold it.
	PID  int    `json:"pid,omitempty"`
	Name string `json:"name,omitempty"`
	// UID owns the socket.
	UID uint32 `json:"uid"`
	// Hidden: another user's program that may not be looked into.
	Hidden bool `json:"hidden,omitempty"`
	// Kernel says what the kernel itself uses the connection for, such as
	// "NFS mount /data of 10.0.0.2"; "" for a program's.
	Kernel string `json:"kernel,omitempty"`
	// Ran is the share of the time that the program's busiest thread was on a
	// processor, Waited that it could have been and had none. Threads counts
	// the threads looked at; zero: not read.
	Ran     float64 `json:"busiest_thread_ratio,omitempty"`
	Waited  float64 `json:"busiest_thread_waited_ratio,omitempty"`
	Threads int     `json:"threads_count,omitempty"`
	// Quota is how many cores its control group may use, zero no limit, and
	// Throttled the share of the time that it was stopped for it.
	Quota     float64 `json:"quota_cores,omitempty"`
	Throttled float64 `json:"throttled_ratio,omitempty"`
}

// Way is where the kernel sends a flow's packets.
type Way struct {
	// Link is the interface of the route; "" unknown, and Why says why.
	Link   string   `json:"link,omitempty"`
	SrcMAC flow.MAC `json:"src_mac,omitzero"`
	DstMAC flow.MAC `json:"dst_mac,omitzero"` // the next hop's
	VLAN   uint16   `json:"vlan,omitempty"`
	// Doubt says why the kernel's answer may not be the flow's own way.
	Doubt string `json:"doubt,omitempty"`
	Why   string `json:"why,omitempty"`
}

// Frame is the flow's packets as a bond's hash reads them.
func (f Flow) Frame() flow.Frame {
	return flow.Frame{Tuple: f.Tuple, SrcMAC: f.Way.SrcMAC, DstMAC: f.Way.DstMAC, VLAN: f.Way.VLAN}
}

// Sending is what TCP says of the outgoing way. The ratios are shares of the
// time the flow was watched.
type Sending struct {
	// Clock is set where the kernel keeps the three times (Linux 4.10): Busy
	// is all time with something to send, the others are parts of it.
	Clock         bool    `json:"clock,omitempty"`
	Busy          float64 `json:"busy_ratio"`
	RwndLimited   float64 `json:"rwnd_limited_ratio"`
	SndbufLimited float64 `json:"sndbuf_limited_ratio"`
	// Starved is the share of the samples in which everything written was
	// sent and the last rate seen was the program's.
	Starved float64 `json:"starved_ratio"`
	// Filled is the share of the samples in which everything written was on
	// its way and took so much of the send buffer that the kernel let the
	// program write no more.
	Filled float64 `json:"send_buffer_full_ratio"`
	// NotSent is the mean of what was written and not sent yet.
	NotSent unit.Bytes `json:"mean_not_sent_bytes"`
	// Acked is what the peer has acknowledged since the connection began, its SYN counted
	// as one.
	Acked unit.Bytes `json:"acked_bytes,omitempty"`
	// Loss is the share of the bytes sent that were sent again; negative where
	// the kernel does not count it (before 4.19).
	Loss        float64 `json:"loss_ratio"`
	Retransmits uint64  `json:"retransmits_count,omitempty"`
	// Marked is the share of the segments that a router marked for congestion (ECN).
	Marked float64 `json:"marked_ratio,omitempty"`
	// Spurious are repetitions that the peer had (DSACK), Reordered how often
	// packets were seen to overtake each other.
	Spurious  uint64 `json:"dsack_count,omitempty"`
	Reordered uint64 `json:"reorderings_count,omitempty"`
	// Recovering is the share of the samples in recovery or loss.
	Recovering float64 `json:"recovering_ratio,omitempty"`
	// RTT is the mean, MinRTT the least that the connection has seen.
	RTT    time.Duration `json:"rtt_ns"`
	MinRTT time.Duration `json:"min_rtt_ns"`
	MSS    unit.Bytes    `json:"mss_bytes"`
	// Cwnd and InFlight are means.
	Cwnd     unit.Bytes `json:"mean_cwnd_bytes"`
	InFlight unit.Bytes `json:"mean_in_flight_bytes"`
	// Windows is set where the kernel shows what the peer offers (Linux 5.4):
	// Window is its mean, MostWindow the largest seen, Shut the share of the
	// looks in which it had no room for a segment.
	Windows    bool       `json:"windows,omitempty"`
	Shut       float64    `json:"window_shut_ratio,omitempty"`
	Window     unit.Bytes `json:"mean_window_bytes,omitempty"`
	MostWindow unit.Bytes `json:"most_window_bytes,omitempty"`
	// Unscaled: the ends did not agree on scaling windows, none is larger than 64 KiB.
	Unscaled bool `json:"window_unscaled,omitempty"`
	// Buffer is what the socket's send buffer holds, Queued the mean in it;
	// packets with their overhead.
	Buffer unit.Bytes `json:"buffer_bytes,omitempty"`
	Queued unit.Bytes `json:"mean_queued_bytes,omitempty"`
	// Pacing is the rate the kernel spaces packets by, MaxPacing what the
	// program asked for at most; zero none.
	Pacing    unit.BitRate `json:"pacing_bps,omitempty"`
	MaxPacing unit.BitRate `json:"max_pacing_bps,omitempty"`
	// Bandwidth is what BBR believes the path carries; zero for others.
	Bandwidth unit.BitRate `json:"bbr_bandwidth_bps,omitempty"`
}

// Reading is what the kernel says of the incoming way: the receiver's side.
type Reading struct {
	// Unread is the mean of what arrived and was not taken; Full the share of
	// the samples in which it was more than half of what the window was.
	Unread unit.Bytes `json:"mean_unread_bytes"`
	Full   float64    `json:"full_ratio"`
	// Window is the mean that this end offers (Linux 6.2), zero unknown.
	Window unit.Bytes `json:"mean_window_bytes,omitempty"`
	// Buffer is the receive buffer's size, with overhead.
	Buffer unit.Bytes `json:"buffer_bytes,omitempty"`
	// RTT is the receiver's estimate; zero unknown.
	RTT time.Duration `json:"rtt_ns,omitempty"`
	// OutOfOrder are packets that came before one that was to come earlier;
	// Packets all that came with payload.
	OutOfOrder uint64 `json:"out_of_order_count,omitempty"`
	Packets    uint64 `json:"packets_count,omitempty"`
	// Drops are packets for which the socket had no room.
	Drops uint64 `json:"drops_count,omitempty"`
}
