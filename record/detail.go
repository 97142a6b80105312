package record

import (
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Socket is what a stream's socket was asked for, or what the kernel granted.
// The zero value of a field asks for nothing, or was not read.
type Socket struct {
	// SndBuf and RcvBuf are SO_SNDBUF and SO_RCVBUF: asked for as an
	// application does, granted as the kernel counts (twice as much).
	SndBuf unit.Bytes `json:"sndbuf_bytes,omitempty"`
	RcvBuf unit.Bytes `json:"rcvbuf_bytes,omitempty"`
	// Window is what of a granted receive buffer may be used as window.
	Window     unit.Bytes   `json:"window_bytes,omitempty"`
	Congestion string       `json:"congestion_control,omitempty"`
	MSS        int          `json:"mss_bytes,omitempty"`
	NoDelay    bool         `json:"no_delay,omitempty"`
	Pacing     unit.BitRate `json:"pacing_bps,omitempty"` // SO_MAX_PACING_RATE
	// DSCP is the code point, 0 to 63, that the sender's packets carry.
	DSCP   int    `json:"dscp,omitempty"`
	Device string `json:"device,omitempty"` // SO_BINDTODEVICE
}

// Method is how bytes were moved.
type Method struct {
	// Send is the system call: "write", "sendfile", "splice", "MSG_ZEROCOPY",
	// "sendmmsg", "UDP_SEGMENT". Receive likewise: "read", "MSG_TRUNC",
	// "recvmmsg", "UDP_GRO".
	Send    string `json:"send,omitempty"`
	Receive string `json:"receive,omitempty"`
	// Copied is set when zero-copy was asked for and the kernel copied anyway.
	Copied bool `json:"kernel_copied,omitempty"`
}

// UDP is datagrams over the window, at the receiver.
type UDP struct {
	Payload   int     `json:"payload_bytes,omitempty"` // of one datagram
	Sent      uint64  `json:"sent_count"`
	Received  uint64  `json:"received_count"`
	Lost      uint64  `json:"lost_count"`
	Reordered uint64  `json:"reordered_count"`
	LossRatio float64 `json:"loss_ratio"`
	Twice     uint64  `json:"duplicate_count,omitempty"` // received more than once; kept for other readers
	// SocketDrops are packets that the receiver's own socket dropped for want
	// of room, at least: among the lost, and not the path's.
	SocketDrops uint64 `json:"socket_drops_count,omitempty"`
	// JitterMS is RFC 3550's interarrival jitter, section 6.4.1.
	JitterMS float64 `json:"jitter_ms"`
}

// Subflow is one TCP flow of an MPTCP connection, the sender's address first,
// and the sender's link on which steer places it ("" unknown).
type Subflow struct {
	flow.Lane
	Sport      uint16 `json:"sport"`
	Dport      uint16 `json:"dport"`
	EgressLink string `json:"egress_link"`
}

// Load is the traffic under which a latency was measured.
type Load struct {
	Direction flow.Direction `json:"direction"`
	Streams   int            `json:"streams"`
	Goodput   unit.BitRate   `json:"goodput_bps,omitempty"`
}

// TokenBucket is a shaper, as the time series of a trial shows it: bytes
// above the rate, then a plateau.
type TokenBucket struct {
	Rate   unit.BitRate `json:"rate_bps"` // payload, of the plateau
	Bucket unit.Bytes   `json:"bucket_bytes"`
	// Burst is the rate while the bucket lasted, BurstFor how long it did.
	Burst    unit.BitRate `json:"burst_bps"`
	BurstFor float64      `json:"burst_s"`
}

// Outage is a link that failed or returned while a trial ran, and what the
// streams felt of it.
type Outage struct {
	Host string `json:"host"`
	Link string `json:"link"`
	// Event is "down" or "up", At the time since the start of the series.
	Event string  `json:"event"`
	At    float64 `json:"at_s"`
	// Stalled is the longest time that a stream carried nothing, by lane.
	Stalled []float64 `json:"stalled_s,omitempty"`
	// Recovered is the time until the sum was back at 90 % of what the links
	// left allow; negative when it was not while the trial ran.
	Recovered   float64 `json:"recovered_s"`
	Retransmits uint64  `json:"retransmits_count,omitempty"`
	// Moved are the lanes, by index, that went on over another link.
	Moved []int `json:"moved_lanes,omitempty"`
	// Resolution is the time between two samples around it: how exact the
	// times are. Asked is set where the run itself made it happen.
	Resolution float64 `json:"resolution_s,omitempty"`
	Asked      bool    `json:"asked,omitempty"`
}

// LongestStall is the longest time that any stream carried nothing, in seconds.
func (o Outage) LongestStall() float64 {
	longest := 0.0
	for _, s := range o.Stalled {
		if s > longest { // neither a negative time nor none
			longest = s
		}
	}
	return longest
}

// CoreUse is one processor core over the window, as shares of it.
type CoreUse struct {
	Core    int     `json:"core"`
	Busy    float64 `json:"busy_ratio"`
	Softirq float64 `json:"softirq_ratio"`
}

// ThreadUse is one stream's thread over the window.
type ThreadUse struct {
	Way     flow.Direction `json:"way,omitempty"` // of its stream
	Sending bool           `json:"sending,omitempty"`
	Busy    float64        `json:"busy_ratio"` // of one core
	// Waited is the share of the window in which it could have run and had no
	// core (run_delay of /proc/PID/task/TID/schedstat): others had it, or its
	// control group had used its quota up. Zero also where it was not read.
	Waited      float64 `json:"waited_ratio,omitempty"`
	Voluntary   uint64  `json:"voluntary_switches_count"`   // of context (getrusage(2)); kept for other readers
	Involuntary uint64  `json:"involuntary_switches_count"` // likewise; kept for other readers
	// Pinned is the core that it ran on alone; nil when it was free to move. It is
	// kept for other readers.
	Pinned *int `json:"pinned_core,omitempty"`
}

// SizeProbe is what don't-fragment echoes of the MTU's size showed one way.
type SizeProbe struct {
	From string     `json:"from"`
	To   string     `json:"to"`
	Link string     `json:"link"` // that From sends by
	Src  netip.Addr `json:"src"`
	Dst  netip.Addr `json:"dst"`
	MTU  int        `json:"mtu_bytes"`
	// Answers: small echoes came back, so that what did not was too large.
	Answers bool `json:"answers"`
	Sent    int  `json:"sent_count"`
	Passed  int  `json:"passed_count"`
	// Passes is the largest packet seen to pass, zero unknown; Named the size
	// that a router said would, zero nobody said any.
	Passes int `json:"passes_bytes,omitempty"`
	Named  int `json:"named_bytes,omitempty"`
}

// RouteTaken is a kernel's answer to where packets of one of its addresses
// leave (RTM_GETROUTE).
type RouteTaken struct {
	Host string     `json:"host"`
	Src  netip.Addr `json:"src"`
	Dst  netip.Addr `json:"dst"`
	Link string     `json:"link"` // "" there is no route: Why says the kernel's reason
	Why  string     `json:"why,omitempty"`
}
