package paste

import (
	"net/netip"

	"github.com/linerate/linerate/unit"
)

// Run is one load test, or one program's own figure of what it carried.
type Run struct {
	Tool           string // "iperf3", "iperf2", "nuttcp", "dd", ...
	Version        string // "" not said
	Client, Server string // hosts by name; "" nobody says
	Reverse        bool   // the server sent
	Both           bool
	UDP            bool
	Streams        []Stream
	// Rate is what the receiver got of all streams; zero not said.
	Rate    unit.BitRate
	Seconds float64
	// Stalled is the number of intervals in which nothing arrived, of Intervals.
	Stalled, Intervals int
	Source
}

// Stream is one connection of a run.
type Stream struct {
	Local, Remote netip.AddrPort // of the client where it is the client's text; invalid not said
	Rate          unit.BitRate
	Retransmits   int // -1 not said
	Window        unit.Bytes
	Reverse       bool
}
