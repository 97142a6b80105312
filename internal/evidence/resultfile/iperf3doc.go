package resultfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/linerate/linerate/record"
)

// document is what iperf3 -J writes (3.7 to 3.21; iperf_api.c,
// iperf_on_test_start, JSON_printf). Numbers are floats, since older versions
// print large counters so.
type document struct {
	Start        start           `json:"start"`
	Intervals    []interval      `json:"intervals"`
	End          end             `json:"end"`
	ServerOutput *document       `json:"server_output_json"`
	ServerText   json.RawMessage `json:"server_output_text"`
	Error        string          `json:"error"`

	cutOff bool // the text ended in the middle
}

// connected is one stream's connection, as its writer has it.
type connected struct {
	Socket     float64 `json:"socket"`
	LocalHost  string  `json:"local_host"`
	LocalPort  float64 `json:"local_port"`
	RemoteHost string  `json:"remote_host"`
	RemotePort float64 `json:"remote_port"`
}

type start struct {
	Connected  []connected `json:"connected"`
	Version    string      `json:"version"`
	SystemInfo string      `json:"system_info"`
	Timestamp  struct {
		Seconds float64 `json:"timesecs"`
		Millis  float64 `json:"timemillisecs"`
	} `json:"timestamp"`
	ConnectingTo *struct {
		Host string  `json:"host"`
		Port float64 `json:"port"`
	} `json:"connecting_to"`
	Accepted *struct {
		Host string  `json:"host"`
		Port float64 `json:"port"`
	} `json:"accepted_connection"`
	MSS         float64 `json:"tcp_mss"`
	DefaultMSS  float64 `json:"tcp_mss_default"`
	AskedBuffer float64 `json:"sock_bufsize"`
	SndBuf      float64 `json:"sndbuf_actual"`
	RcvBuf      float64 `json:"rcvbuf_actual"`
	Bitrate     float64 `json:"target_bitrate"` // of a stream, as 3.7 to 3.10 write it
	Test        struct {
		Protocol string  `json:"protocol"`
		Streams  float64 `json:"num_streams"`
		Block    float64 `json:"blksize"`
		Omit     float64 `json:"omit"`
		Duration float64 `json:"duration"`
		Bytes    float64 `json:"bytes"`
		Blocks   float64 `json:"blocks"`
		Reverse  float64 `json:"reverse"`
		Bidir    float64 `json:"bidir"` // only newer versions write it
		TOS      float64 `json:"tos"`
		Bitrate  float64 `json:"target_bitrate"` // of a stream
		FQRate   float64 `json:"fqrate"`         // likewise; newer versions
	} `json:"test_start"`
}

// length is how long a row's bytes took: its end less its start, as iperf3 divides
// itself. In a receiver's row the seconds are the sender's (3.5 to 3.9).
func (s span) length() float64 {
	if s.End > s.Start && s.Start >= 0 {
		return s.End - s.Start
	}
	return max(s.Seconds, 0)
}

// span is one row: a stream's or a sum's, of an interval or of all.
type span struct {
	Socket  float64 `json:"socket"`
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
	Rate    float64 `json:"bits_per_second"`
	Omitted bool    `json:"omitted"`
	// Sender is nil before 3.7: then the test's direction tells.
	Sender *bool `json:"sender"`

	Retransmits float64 `json:"retransmits"`
	Cwnd        float64 `json:"snd_cwnd"`
	Wnd         float64 `json:"snd_wnd"`
	RTT         float64 `json:"rtt"` // microseconds, here and below
	PathMTU     float64 `json:"pmtu"`
	MaxCwnd     float64 `json:"max_snd_cwnd"`
	MaxWnd      float64 `json:"max_snd_wnd"`
	MinRTT      float64 `json:"min_rtt"`
	MeanRTT     float64 `json:"mean_rtt"`
	Reorder     float64 `json:"reorder"`

	JitterMS  float64 `json:"jitter_ms"`
	Lost      float64 `json:"lost_packets"`
	Packets   float64 `json:"packets"`
	Reordered float64 `json:"out_of_order"`
}

type interval struct {
	Streams []span `json:"streams"`
	Sum     span   `json:"sum"`
	SumBack span   `json:"sum_bidir_reverse"`
}

type end struct {
	Streams []struct {
		Sender   *span `json:"sender"`
		Receiver *span `json:"receiver"`
		UDP      *span `json:"udp"`
	} `json:"streams"`
	Sum          *span `json:"sum"`
	Sent         *span `json:"sum_sent"`
	Received     *span `json:"sum_received"`
	SentBack     *span `json:"sum_sent_bidir_reverse"`
	ReceivedBack *span `json:"sum_received_bidir_reverse"`
	CPU          struct {
		Host   float64 `json:"host_total"` // per cent of one core
		Remote float64 `json:"remote_total"`
	} `json:"cpu_utilization_percent"`
	SenderCongestion   string `json:"sender_tcp_congestion"`
	ReceiverCongestion string `json:"receiver_tcp_congestion"`
}

// readDocuments reads one document or several, one after the other, as a
// server or a loop over clients writes them to one file, or in an array. What
// follows them and is none, such as iperf3's own error, is left out and said.
func readDocuments(text []byte, out *record.Record) error {
	d := json.NewDecoder(bytes.NewReader(text))
	list := bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
	if list {
		if _, err := d.Token(); err != nil {
			return err
		}
	}
	for read := 0; ; read++ {
		var doc document
		from := int(min(d.InputOffset(), int64(len(text))))
		if list && !d.More() && !cutOffIn(text[from:]) {
			return nil
		}
		err := d.Decode(&doc)
		var kind *json.UnmarshalTypeError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			rest := bytes.TrimLeft(text[from:], ", \t\r\n")
			whole, ok := mend(rest)
			if !ok {
				return fmt.Errorf("after byte %d: the text ends in the middle, before anything that counts", from)
			}
			doc = document{}
			if err := json.Unmarshal(whole, &doc); err != nil && !errors.As(err, &kind) {
				return fmt.Errorf("after byte %d: the text ends in the middle: %w", from, err)
			}
			doc.cutOff = true
		case errors.As(err, &kind): // one field that reads otherwise: the rest counts
		case err != nil && read > 0:
			if n := len(out.Trials); n > 0 {
				out.Trials[n-1].Notes = append(out.Trials[n-1].Notes, "what follows the document in the file is no JSON, and was left out")
			}
			return nil
		case err != nil:
			return err
		}
		if err := addDocument(doc, out); err != nil {
			return err
		}
		if doc.cutOff {
			return nil
		}
	}
}

// cutOffIn reports that an array's text ends without its bracket.
func cutOffIn(rest []byte) bool { return !bytes.Contains(rest, []byte("]")) }

// mend closes what a text that was cut off left open, behind its last whole
// element; ok is false where there is none.
func mend(text []byte) (whole []byte, ok bool) {
	const deepest = 64
	var open []byte // closing brackets owed
	inString, escaped := false, false
	var safe int // behind the last whole element of a container
	var owed []byte
	keep := func(at int) { safe, owed = at, append(owed[:0], open...) }
	for i, b := range text {
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			if len(open) == deepest {
				return nil, false
			}
			open = append(open, b+2) // ASCII: } is { and 2, ] is [ and 2
		case b == '}' || b == ']':
			if len(open) == 0 || open[len(open)-1] != b {
				return nil, false
			}
			open = open[:len(open)-1]
			keep(i + 1)
		case b == ',' && len(open) > 0:
			keep(i) // without the comma
		}
	}
	if safe == 0 {
		return nil, false
	}
	whole = append(whole, text[:safe]...)
	for i := len(owed) - 1; i >= 0; i-- {
		whole = append(whole, owed[i])
	}
	return whole, true
}
