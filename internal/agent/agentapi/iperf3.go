package agentapi

import (
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// IPerf3OpenRequest connects to an iperf3 server and prepares a test: every
// stream is connected but the last, so that several tests can start at once.
type IPerf3OpenRequest struct {
	Session string         `json:"session"`
	Server  netip.AddrPort `json:"server"`
	Src     netip.Addr     `json:"src,omitzero"`
	// Direction is forward where this host sends.
	Direction flow.Direction `json:"direction"`
	Streams   int            `json:"streams"` // each way
	// Sports are the streams' ports on this host, those that send first; none,
	// or a zero, is the kernel's choice.
	Sports []uint16      `json:"sports,omitempty"`
	UDP    bool          `json:"udp,omitempty"`
	MPTCP  bool          `json:"mptcp,omitempty"`
	Socket record.Socket `json:"socket,omitzero"`
	// Block is what one call moves, or a datagram's payload; zero is a default.
	Block int          `json:"block_bytes,omitempty"`
	Rate  unit.BitRate `json:"rate_bps,omitempty"` // of each stream; zero is no limit
	// Longest is more than the test will take, Omit what the server leaves out
	// of its count at the beginning.
	Longest time.Duration `json:"longest_ns"`
	Omit    time.Duration `json:"omit_ns,omitempty"`
	// Token is what a linerate listener was started with; "" is none.
	Token string `json:"token,omitempty"`
	// BusyFor is how long to wait for a server that serves somebody else.
	BusyFor  time.Duration `json:"busy_for_ns,omitempty"`
	Links    []string      `json:"links"`
	Lifetime time.Duration `json:"lifetime_ns"`
}

// IPerf3OpenReply names the streams as this host sees them, its own end first,
// in the order of Sports.
type IPerf3OpenReply struct {
	Streams []Stream      `json:"streams"`
	Waited  time.Duration `json:"waited_ns,omitempty"` // for a busy server
}

// IPerf3EndReply is what the server counted, and this host until then.
type IPerf3EndReply struct {
	Streams []IPerf3Count `json:"streams"`
	Seconds float64       `json:"duration_s"` // as this host ran the test
	// CPU is the server's, in cores.
	CPU        float64 `json:"server_busy_cores,omitempty"`
	Congestion string  `json:"congestion_control,omitempty"` // the server's
	// Why is set where the server's results did not come.
	Why string `json:"why,omitempty"`
}

// IPerf3Count is one stream as the two ends counted it over the whole test.
type IPerf3Count struct {
	// Server is the payload that the server received, or sent, in ServerSeconds;
	// Own what this host did.
	Server        uint64  `json:"server_bytes"`
	ServerSeconds float64 `json:"server_s"`
	Own           uint64  `json:"own_bytes"`
	// What a server that receives datagrams says of them; what one that sends
	// with TCP says of retransmits.
	Packets     uint64        `json:"packets_count,omitempty"`
	Lost        uint64        `json:"lost_count,omitempty"`
	Jitter      time.Duration `json:"jitter_ns,omitempty"`
	Retransmits uint64        `json:"retransmits_count,omitempty"`
}
