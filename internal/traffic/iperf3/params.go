package iperf3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/linerate/linerate/unit"
)

// Parameters is what a client asks for. The keys are iperf3's; one left out is
// the zero value, and one not known is kept in Unknown.
type Parameters struct {
	TCP  Flag `json:"tcp,omitempty"`
	UDP  Flag `json:"udp,omitempty"`
	SCTP Flag `json:"sctp,omitempty"`

	Omit       Whole  `json:"omit"` // seconds before the test counts
	Affinity   *int   `json:"server_affinity,omitempty"`
	Time       Whole  `json:"time"`       // seconds; zero is no such end
	Bytes      Whole  `json:"num"`        // in all, of all streams of a direction; zero is no such end
	Blocks     Whole  `json:"blockcount"` // likewise
	MSS        Whole  `json:"MSS,omitempty"`
	NoDelay    Flag   `json:"nodelay,omitempty"`
	Parallel   Whole  `json:"parallel"` // streams of each direction
	Reverse    Flag   `json:"reverse,omitempty"`
	Both       Flag   `json:"bidirectional,omitempty"`
	Window     Whole  `json:"window,omitempty"` // socket buffer, bytes
	Block      Whole  `json:"len,omitempty"`    // bytes of a call, or of a datagram
	Rate       Whole  `json:"bandwidth,omitempty"`
	FQRate     Whole  `json:"fqrate,omitempty"`       // SO_MAX_PACING_RATE, bits per second
	Pacing     Whole  `json:"pacing_timer,omitempty"` // microseconds
	Burst      Whole  `json:"burst,omitempty"`        // blocks sent at a time under Rate
	TOS        Whole  `json:"TOS,omitempty"`
	FlowLabel  Whole  `json:"flowlabel,omitempty"`
	Title      string `json:"title,omitempty"`
	Extra      string `json:"extra_data,omitempty"`
	Congestion string `json:"congestion,omitempty"`

	// GSO and GRO of UDP, since 3.21: what the client does at its own end.
	GSO     Whole `json:"gso,omitempty"`
	GSOSize Whole `json:"gso_dg_size,omitempty"`
	GSOBuf  Whole `json:"gso_bf_size,omitempty"`
	GRO     Whole `json:"gro,omitempty"`
	GROBuf  Whole `json:"gro_bf_size,omitempty"`

	// MPTCP of every stream, since 3.19.
	MPTCP Flag `json:"mptcp,omitempty"`

	GetServerOutput Mark   `json:"get_server_output,omitempty"`
	Counters64      Mark   `json:"udp_counters_64bit,omitempty"`
	Repeating       Mark   `json:"repeating_payload,omitempty"`
	ZeroCopy        Mark   `json:"zerocopy,omitempty"`
	DontFragment    Mark   `json:"dont_fragment,omitempty"`
	AuthToken       string `json:"authtoken,omitempty"`
	Version         string `json:"client_version,omitempty"`

	// Proof shows that the client knows the server's token: see Prove. Only
	// linerate's own clients say it.
	Proof string `json:"linerate_proof,omitempty"`

	Unknown map[string]json.RawMessage `json:"-"`
}

// BitRate is the rate that one stream is to keep; zero is as fast as it can.
func (p Parameters) BitRate() unit.BitRate { return unit.BitRate(p.Rate) }

// Streams is how many streams a test has, of both directions together.
func (p Parameters) Streams() int {
	if p.Both {
		return 2 * int(p.Parallel)
	}
	return int(p.Parallel)
}

// ParseParameters reads the document of a client. What it asks for is not
// judged: see Check. Errors are ErrMalformed.
func ParseParameters(text []byte) (Parameters, error) {
	var p Parameters
	if err := parseObject(text, &p); err != nil {
		return Parameters{}, fmt.Errorf("%w: parameters: %w", ErrMalformed, err)
	}
	_ = json.Unmarshal(text, &p.Unknown)
	for _, known := range parameterKeys {
		delete(p.Unknown, known)
	}
	if len(p.Unknown) == 0 {
		p.Unknown = nil
	}
	return p, nil
}

// parseObject refuses what encoding/json would take for an object: null.
func parseObject(text []byte, into any) error {
	if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return fmt.Errorf("not a JSON object")
	}
	return json.Unmarshal(text, into)
}

// parameterKeys are the keys of Parameters; a test holds the two together.
var parameterKeys = [...]string{
	"tcp", "udp", "sctp", "omit", "server_affinity", "time", "num", "blockcount", "MSS", "nodelay", "parallel", "reverse",
	"bidirectional", "window", "len", "bandwidth", "fqrate", "pacing_timer", "burst", "TOS", "flowlabel", "title", "extra_data",
	"congestion", "gso", "gso_dg_size", "gso_bf_size", "gro", "gro_bf_size", "mptcp", "get_server_output", "udp_counters_64bit",
	"repeating_payload", "zerocopy", "dont_fragment", "authtoken", "client_version", "linerate_proof",
}

// Check says whether parameters are within what iperf3 accepts and streams
// within maxStreams of each direction. The error is a Fault.
func (p Parameters) Check(maxStreams int) error {
	refuse := func(r Reason) error { return Fault{Reason: r} }
	switch {
	case bool(p.SCTP):
		return refuse(ReasonNoSCTP)
	case bool(p.Reverse && p.Both):
		return refuse(ReasonBothWays)
	case p.Parallel < 1 || p.Parallel > Whole(maxStreams):
		return refuse(ReasonStreams)
	case bool(p.UDP) && (p.Block < MinDatagram || p.Block > MaxDatagram):
		return refuse(ReasonDatagram)
	case p.Block < 0 || p.Block > MaxBlock:
		return refuse(ReasonBlock)
	case p.Window < 0 || p.Window > MaxWindow:
		return refuse(ReasonWindow)
	case p.MSS < 0 || p.MSS > MaxMSS:
		return refuse(ReasonMSS)
	case p.Time < 0 || p.Time > MaxSeconds:
		return refuse(ReasonDuration)
	case p.Omit < 0 || p.Omit > MaxOmit:
		return refuse(ReasonOmit)
	case p.Bytes < 0 || p.Blocks < 0:
		return refuse(ReasonEndConditions)
	case p.Burst < 0 || p.Burst > MaxBurst:
		return refuse(ReasonBurst)
	case p.TOS < 0 || p.TOS > 255:
		return refuse(ReasonTOS)
	case !algorithm(p.Congestion):
		return refuse(ReasonCongestion)
	case p.Rate < 0 || p.FQRate < 0 || p.Pacing < 0:
		return refuse(ReasonTotalRate)
	}
	return nil
}

// algorithm reports what may name a congestion control, or nothing: printable
// and short, so that it can be shown.
func algorithm(name string) bool {
	return len(name) <= MaxName && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Whole is a count as cJSON writes it: a number that may come with a fraction
// or an exponent. Decoding one that no int64 holds gives the nearest.
type Whole int64

// UnmarshalJSON reads any JSON number.
func (w *Whole) UnmarshalJSON(b []byte) error {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*w = Whole(n)
		return nil
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	switch {
	case f >= math.MaxInt64:
		*w = math.MaxInt64
	case f <= math.MinInt64:
		*w = math.MinInt64
	default:
		*w = Whole(f)
	}
	return nil
}

// Flag is what iperf3 writes as true; Mark what it writes as 1. Both are read
// from either.
type (
	Flag bool
	Mark bool
)

// UnmarshalJSON reads true, false or a number.
func (f *Flag) UnmarshalJSON(b []byte) error { return parseTruth(b, (*bool)(f)) }

// UnmarshalJSON reads true, false or a number.
func (m *Mark) UnmarshalJSON(b []byte) error { return parseTruth(b, (*bool)(m)) }

// MarshalJSON writes 1 or 0.
func (m Mark) MarshalJSON() ([]byte, error) {
	if m {
		return []byte("1"), nil
	}
	return []byte("0"), nil
}

func parseTruth(b []byte, into *bool) error {
	var n float64
	if err := json.Unmarshal(b, &n); err == nil {
		*into = n != 0
		return nil
	}
	return json.Unmarshal(b, into)
}
