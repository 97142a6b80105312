package resultfile

import (
	"net/netip"
	"slices"
	"time"

	"github.com/linerate/linerate/record"
)

// Stream is one connection of iperf2 as its CSV rows have it.
type Stream struct {
	Client, Server netip.AddrPort
	Rows           []Span // of its intervals
	Total          Span   // of all its time
	UDP            *record.UDP
}

// Span is bytes in a time. The times are zero where the file does not say, as of
// a client that prints no intervals; how long it was is always known.
type Span struct {
	From, Until time.Time
	Length      time.Duration
	Bytes       uint64
}

func (r row) span() Span {
	s := Span{Until: r.at, Length: seconds(r.end - r.begin), Bytes: count(r.bytes)}
	if !r.at.IsZero() {
		s.From = r.at.Add(-s.Length)
	}
	return s
}

// ParseIPerf2 reads what iperf -y C printed, stream by stream, in the order in
// which they first appear. Lines that are no rows are left out.
func ParseIPerf2(text []byte) ([]Stream, error) {
	streams, _, err := parseStreams(text)
	if err != nil {
		return nil, err
	}
	orient(streams)
	out := make([]Stream, len(streams))
	for i, s := range streams {
		out[i] = Stream{Client: s.client, Server: s.server, Total: s.whole().span(), UDP: laneFrom(s).UDP}
		for _, r := range s.timed() {
			out[i].Rows = append(out[i].Rows, r.span())
		}
	}
	return out, nil
}

// timed are the stream's rows with the time of those that were printed without
// one, by the others'.
func (s stream) timed() []row {
	at := slices.IndexFunc(s.rows, func(r row) bool { return !r.at.IsZero() })
	if at < 0 {
		return s.rows
	}
	began := s.rows[at].at.Add(-seconds(s.rows[at].end))
	rows := slices.Clone(s.rows)
	for i := range rows {
		if rows[i].at.IsZero() {
			rows[i].at = began.Add(seconds(rows[i].end))
		}
	}
	return rows
}
