package agentapi

import (
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Tool is a program that makes traffic.
type Tool string

// ToolIPerf2 is iperf, version 2.
const ToolIPerf2 Tool = "iperf2"

// ToolRole is which end a tool is to be.
type ToolRole string

// The roles.
const (
	ToolServer ToolRole = "server" // receives
	ToolClient ToolRole = "client" // sends
)

// ToolRequest starts a tool. Every value is typed and checked, and the agent
// makes the command line from them: none of it comes from the controller.
type ToolRequest struct {
	Session string         `json:"session"`
	Tool    Tool           `json:"tool"`
	Role    ToolRole       `json:"role"`
	Own     netip.Addr     `json:"own"` // the address to bind
	Peer    netip.AddrPort `json:"peer,omitzero"`
	Port    uint16         `json:"port,omitempty"` // that a server listens on
	Streams int            `json:"streams"`
	UDP     bool           `json:"udp,omitempty"`
	// Length is how long a client sends, in whole tenths of seconds.
	Length     time.Duration `json:"length_ns,omitempty"`
	Interval   time.Duration `json:"interval_ns,omitempty"` // of the rows
	Window     unit.Bytes    `json:"window_bytes,omitempty"`
	Block      int           `json:"block_bytes,omitempty"`
	MSS        int           `json:"mss_bytes,omitempty"`
	NoDelay    bool          `json:"no_delay,omitempty"`
	Congestion string        `json:"congestion_control,omitempty"`
	Rate       unit.BitRate  `json:"rate_bps,omitempty"` // of each stream
	Links      []string      `json:"links"`
	// Unsampled leaves the host's counters alone: another program's run has them.
	Unsampled bool `json:"unsampled,omitempty"`
	// Lifetime bounds the program: then it is killed.
	Lifetime time.Duration `json:"lifetime_ns"`
}

// ToolReply says what runs.
type ToolReply struct {
	Version string `json:"version"` // as the program prints it
}

// ToolEndReply is what the tool reported, and what the host counted meanwhile.
type ToolEndReply struct {
	Streams []ToolStream `json:"streams"`
	Samples []ToolSample `json:"samples"`
}

// ToolStream is one connection as the tool counted it.
type ToolStream struct {
	Client  netip.AddrPort `json:"client"`
	Server  netip.AddrPort `json:"server"`
	Rows    []ToolRow      `json:"rows"`  // of its intervals
	Total   ToolRow        `json:"total"` // of all its time
	Packets uint64         `json:"packets_count,omitempty"`
	Lost    uint64         `json:"lost_count,omitempty"`
	Late    uint64         `json:"reordered_count,omitempty"`
	Jitter  time.Duration  `json:"jitter_ns,omitempty"`
}

// ToolRow is bytes in a span of time, whose ends are zero where the tool does not
// say when they were.
type ToolRow struct {
	From   time.Time     `json:"from"`
	Until  time.Time     `json:"until"`
	Length time.Duration `json:"length_ns"`
	Bytes  unit.Bytes    `json:"bytes"`
}

// ToolSample is the host's own counters at one moment of its clock.
type ToolSample struct {
	At    time.Time   `json:"at"`
	Links []LinkCount `json:"links"`
	CPU   CPUCount    `json:"cpu"`
	// Sockets are the tool's TCP connections as the kernel counts them; nil where
	// it does not show those of other programs.
	Sockets []ToolSocket `json:"sockets,omitempty"`
}

// ToolSocket is one end of a connection of a tool's.
type ToolSocket struct {
	flow.Tuple          // this host's end first
	Count      TCPCount `json:"tcp"`
}
