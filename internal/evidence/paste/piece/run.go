package piece

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/unit"
)

// Run is one load test, or one program's own figure of what it carried.
type Run struct {
	Tool           string // "iperf3", "iperf2", "nuttcp", "dd", ...
	Version        string // "" not said
	Client, Server string // hosts by name; "" nobody says
	ServerText     bool   // printed by the server: Streams' Local is its address
	Reverse        bool   // the server sent
	Both           bool   // both sent at once
	UDP            bool
	MPTCP          bool
	Streams        []Stream
	// Parallel is the number of streams that the command or the head says; 0 not
	// said. Streams may be fewer where the text is cut to its sum.
	Parallel int
	// Rate is what the receiver got of all streams, both ways together; zero not
	// said, or nothing arrived where Seconds is known.
	Rate unit.BitRate
	// Back is the part of Rate that the server sent, where both did.
	Back    unit.BitRate
	Seconds float64
	// Series are the rates of the intervals in their order, of all streams of one
	// way. Stalled is the number of those in which nothing arrived, of Intervals.
	Series             []unit.BitRate
	Stalled, Intervals int
	// Retransmits of all streams; -1 not said.
	Retransmits int
	// Lossy is the number of intervals that sent something again, of Intervals; 0 none,
	// or not said.
	Lossy int
	// CwndLeast and CwndMost are the congestion window of one stream at the ends of its
	// intervals; zero not said.
	CwndLeast, CwndMost unit.Bytes
	// Lost of Datagrams did not arrive; both 0 where it is no UDP or not said.
	Lost, Datagrams int64
	JitterMS        float64
	// Target is the rate that one stream was held to; zero none or not said.
	Target unit.BitRate
	// Window is the socket buffer that the tool prints, Clamped the one that was
	// asked for where the system gave less; zero not said.
	Window, Clamped unit.Bytes
	MSS             int // 0 not said
	Congestion      string
	// SenderCPU and ReceiverCPU are percent of one core; -1 not said.
	SenderCPU, ReceiverCPU float64
	// Detail is what only this tool says, by its own names: "device", "qps",
	// "size", "target", "per_stream".
	Detail map[string]string
	Error  string // the tool's own words where it gave up
	Source
}

// Stream is one connection of a run.
type Stream struct {
	Local, Remote netip.AddrPort // of the client where it is the client's text; invalid not said
	Rate          unit.BitRate
	Retransmits   int // -1 not said
	Window        unit.Bytes
	Reverse       bool
	Lost          int64
	Datagrams     int64
}

// NewRun is a run of a tool of which nothing is known yet.
func NewRun(tool string) Run {
	return Run{Tool: tool, Retransmits: -1, SenderCPU: -1, ReceiverCPU: -1}
}

// OfNetwork reports a run that no disk takes part in.
func (r Run) OfNetwork() bool {
	switch r.Tool {
	case "iperf3", "iperf2", "iperf", "nuttcp", "netperf", "qperf", "ntttcp":
		return true
	}
	return false
}

func (r *Run) Remark(key, value string) {
	if value == "" {
		return
	}
	if r.Detail == nil {
		r.Detail = make(map[string]string)
	}
	r.Detail[key] = value
}

// AddRun adds a run to the case; lines are those that it was read from.
func (s *Sink) AddRun(r Run, lines []Line) {
	if len(lines) == 0 {
		return
	}
	r.Source = Span(lines)
	s.C.Runs = append(s.C.Runs, r)
}

// Call is one program's part of a command line: its arguments.
type Call []string

// CallOf is the call of a program in the command above an output; nil where the
// command has none, or several of which nobody knows which one printed this.
func (s *Sink) CallOf(names ...string) Call {
	var found Call
	for _, part := range strings.FieldsFunc(s.Segment.Command, func(r rune) bool { return r == '|' || r == ';' || r == '&' }) {
		words := strings.Fields(part)
		for i, w := range words {
			if at := strings.LastIndexByte(w, '/'); at >= 0 {
				w = w[at+1:]
			}
			if slices.Contains(names, strings.TrimSuffix(w, ".exe")) {
				if found != nil {
					return nil
				}
				found = Call(words[i:])
				break
			}
		}
	}
	return found
}

// Has reports an option that stands alone.
func (c Call) Has(names ...string) bool {
	for _, w := range c {
		if slices.Contains(names, w) {
			return true
		}
	}
	return false
}

// Value is an option's: "-P 8", "-P8", "--parallel 8", "--parallel=8"; "" none.
func (c Call) Value(names ...string) string {
	for i, w := range c {
		for _, name := range names {
			switch {
			case w == name && i+1 < len(c):
				return c[i+1]
			case strings.HasPrefix(name, "--") && strings.HasPrefix(w, name+"="):
				return w[len(name)+1:]
			case !strings.HasPrefix(name, "--") && strings.HasPrefix(w, name) && len(w) > len(name) && w[len(name)] >= '0' && w[len(name)] <= '9':
				return w[len(name):]
			}
		}
	}
	return ""
}

func (c Call) Number(names ...string) int {
	n, err := strconv.Atoi(c.Value(names...))
	if err != nil || n < 0 || n > 1<<20 {
		return 0
	}
	return n
}

// Asked is what the command of iperf says of a run.
func (r *Run) Asked(c Call) {
	if c == nil {
		return
	}
	if r.Detail["target"] == "" {
		r.Remark("target", c.Value("-c", "--client"))
	}
	r.Parallel = max(r.Parallel, c.Number("-P", "--parallel"))
	r.UDP = r.UDP || c.Has("-u", "--udp")
	r.MPTCP = r.MPTCP || c.Has("-m", "--mptcp") && r.Tool == "iperf3"
	if rate := c.Value("-b", "--bitrate", "--bandwidth", "--fq-rate"); rate != "" && r.Target == 0 {
		r.Target, _ = unit.ParseBitRate(rate)
	}
	if r.Congestion == "" {
		r.Congestion = c.Value("-C", "--congestion", "-Z", "--linux-congestion")
	}
}

var Decimal = map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}

var Kibi = map[string]float64{"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}

// Float is a number as programs print it; 0 for what is none, for what is no
// number of a link, and for one below zero.
func Float(s string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
	if err != nil || !(v >= 0 && v < 1e18) {
		return 0
	}
	return v
}

// numberWords are those that count links and hosts in sentences.
var numberWords = map[string]float64{"one": 1, "single": 1, "two": 2, "both": 2, "dual": 2, "three": 3, "four": 4, "quad": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12}

// Number is the number that words begin with, in figures or as a word ("dual-port", "4x1G"); 0
// where they begin with none.
func Number(words string) float64 {
	words = strings.ToLower(strings.TrimSpace(words))
	if rest := strings.TrimLeft(words, "0123456789"); rest != words {
		return Float(words[:len(words)-len(rest)])
	}
	return numberWords[words[:len(words)-len(strings.TrimLeft(words, "abcdefghijklmnopqrstuvwxyz"))]]
}

// Whole is a count as programs print it; -1 for what is none.
func Whole(s string) int64 {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < 0 {
		return -1
	}
	return v
}

// AddrPort is an address with its port; invalid where it is redacted.
func AddrPort(addr, port string) netip.AddrPort {
	a, err := netip.ParseAddr(strings.Trim(addr, "[]"))
	n, err2 := strconv.ParseUint(port, 10, 16)
	if err != nil || err2 != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a, uint16(n))
}

// FormatFloat is a number with three digits behind the point.
func FormatFloat(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
