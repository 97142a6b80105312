package agentapi

import (
	"time"

	"github.com/linerate/linerate/unit"
)

// How long one CoreRateRequest lets traffic run in all.
const (
	DefaultCoreRate  = 3 * time.Second
	ShortestCoreRate = 500 * time.Millisecond
	LongestCoreRate  = 30 * time.Second
)

// CoreRateRequest asks what one core of the host sends and receives. The
// traffic does not leave the host; it keeps up to two cores busy meanwhile.
type CoreRateRequest struct {
	// Time is how long traffic runs; zero is DefaultCoreRate. It is kept
	// within ShortestCoreRate and LongestCoreRate.
	Time time.Duration `json:"time_ns,omitempty"`
}

// Span is the time that traffic runs.
func (r CoreRateRequest) Span() time.Duration {
	if r.Time == 0 {
		return DefaultCoreRate
	}
	return min(max(r.Time, ShortestCoreRate), LongestCoreRate)
}

// What the traffic of a CoreRateReply went over.
const (
	OverVeth     = "veth"
	OverLoopback = "loopback"
)

// CoreRateReply is what one core moves where neither a card nor its driver
// takes part: with them it moves less.
type CoreRateReply struct {
	// Over is OverVeth, a pair of links between two namespaces made for this,
	// or OverLoopback; then Why says why not the other.
	Over string `json:"over"`
	Why  string `json:"why,omitempty"`
	// Sender and Receiver are the cores that the two threads were kept on.
	Sender   int `json:"sender_core"`
	Receiver int `json:"receiver_core"`
	// StreamRate is the payload of one TCP stream whose busier core is full,
	// packets joined (GSO).
	StreamRate unit.BitRate `json:"stream_rate_bps"`
	// StreamMost is the same if sending, software interrupts and receiving each
	// had a core of its own: nothing on this host carries a stream faster.
	StreamMost unit.BitRate `json:"stream_rate_most_bps"`
	// PacketRate is how many datagrams a second that each go through the
	// system alone, with its busier core full.
	PacketRate float64 `json:"packet_rate_pps"`
	// Stream and Packet are the work of those two, in seconds of a core.
	Stream CoreWork `json:"per_gigabyte"`
	Packet CoreWork `json:"per_packet"`
	// PacketBytes is the payload of each of those packets.
	PacketBytes unit.Bytes `json:"packet_bytes"`
	// Spread is how far the rounds of the stream's rate lie apart, as a share
	// of the best one, which counts.
	Spread float64 `json:"spread_ratio"`
	// Elapsed is how long it all took, in seconds.
	Elapsed float64 `json:"elapsed_s"`
	// Notes say what made the figures doubtful.
	Notes []string `json:"notes,omitempty"`
}

// CoreWork is processor time, by what it was for, in seconds of a core.
type CoreWork struct {
	Send float64 `json:"send_s"` // the sender's thread: its calls, the copy, TCP, the link
	// Softirq is the kernel's receive path and the acknowledgements'.
	Softirq float64 `json:"softirq_s"`
	Receive float64 `json:"receive_s"` // the receiver's thread: its calls, the copy
}
