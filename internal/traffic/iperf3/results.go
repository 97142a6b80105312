package iperf3

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Results is what each end tells the other after a test. CPUTotal, CPUUser and
// CPUSystem are percent of one processor.
type Results struct {
	CPUTotal  float64 `json:"cpu_util_total"`
	CPUUser   float64 `json:"cpu_util_user"`
	CPUSystem float64 `json:"cpu_util_system"`
	// HasRetransmits: 1 from a sender that counts retransmits, 0 from one that
	// does not, NotSender from a receiver.
	HasRetransmits Whole           `json:"sender_has_retransmits"`
	Congestion     string          `json:"congestion_used,omitempty"`
	OutputText     string          `json:"server_output_text,omitempty"`
	OutputJSON     json.RawMessage `json:"server_output_json,omitempty"`
	Streams        StreamResults   `json:"streams"`
}

// StreamResults is what one end says of the streams, at most mostResults of
// them: a short text may name very many.
type StreamResults []StreamResult

// mostResults is twice what a test of this program's own limit has, both ways.
const mostResults = 4096

// UnmarshalJSON reads the array one stream at a time.
func (s *StreamResults) UnmarshalJSON(b []byte) error {
	*s = nil
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return fmt.Errorf("streams: no array")
	}
	for d.More() {
		var one StreamResult
		if err := d.Decode(&one); err != nil {
			return err
		}
		if len(*s) == mostResults {
			return fmt.Errorf("streams: more than %d", mostResults)
		}
		*s = append(*s, one)
	}
	return nil
}

// NotSender is HasRetransmits of a receiver, and Retransmits of a stream that
// counts none.
const NotSender = -1

// StreamResult is one stream as one end saw it. Datagram counts are those of
// the whole run, the omitted seconds included; Bytes are without them.
type StreamResult struct {
	ID             int     `json:"id"` // see StreamID
	Bytes          Whole   `json:"bytes"`
	Retransmits    Whole   `json:"retransmits"`
	Jitter         float64 `json:"jitter"` // seconds, RFC 3550 section 6.4.1
	Errors         Whole   `json:"errors"` // datagrams lost
	OmittedErrors  Whole   `json:"omitted_errors"`
	Packets        Whole   `json:"packets"` // datagrams: the highest counter
	OmittedPackets Whole   `json:"omitted_packets"`
	Start          float64 `json:"start_time"` // seconds
	End            float64 `json:"end_time"`
}

// StreamID is the id of the i-th stream of a test, in the order in which they
// connect: 1, 3, 4, 5 and so on, as iperf3 has always counted them. With
// --bidir the first half sends to the server, the second half from it.
func StreamID(i int) int {
	if i == 0 {
		return 1
	}
	return i + 2
}

// ParseResults reads the other end's document. Errors are ErrMalformed.
func ParseResults(text []byte) (Results, error) {
	var r Results
	if err := parseObject(text, &r); err != nil {
		return Results{}, fmt.Errorf("%w: results: %w", ErrMalformed, err)
	}
	// Older versions write -1 as an unsigned number of 64 bits.
	r.HasRetransmits = signed(r.HasRetransmits)
	for i := range r.Streams {
		r.Streams[i].Retransmits = signed(r.Streams[i].Retransmits)
	}
	return r, nil
}

func signed(w Whole) Whole {
	if w > 1<<62 {
		return NotSender
	}
	return w
}
