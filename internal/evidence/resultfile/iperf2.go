package resultfile

import (
	"bytes"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/linerate/linerate/record"
)

// stream is the rows of one connection.
type stream struct {
	rows  []row // of intervals, in the file's order
	total *row  // of all its time; nil where the file ends before
	// forward is false where the server sends (-R).
	forward bool
	client  netip.AddrPort
	server  netip.AddrPort
}

// whole is the stream's time as far as the file goes.
func (s stream) whole() row {
	if s.total != nil {
		return *s.total
	}
	out := s.rows[len(s.rows)-1]
	out.begin, out.bytes, out.lost, out.sent, out.late, out.retries = s.rows[0].begin, 0, 0, 0, 0, 0
	for _, r := range s.rows {
		out.bytes += r.bytes
		out.lost += max(r.lost, 0)
		out.sent += max(r.sent, 0)
		out.late += max(r.late, 0)
		out.retries += max(r.retries, 0)
	}
	return out
}

// began is when the stream did; zero where its rows carry no time.
func (s stream) began() time.Time {
	w := s.whole()
	if w.at.IsZero() {
		return time.Time{}
	}
	return w.at.Add(-seconds(w.end))
}

// parseStreams reads rows; lines that are none, such as what a server prints
// between them, are counted and left out.
func parseStreams(text []byte) (streams []*stream, strange int, err error) {
	newest := make(map[[2]netip.AddrPort]*stream)
	var named columns
	rows := 0
	for line := range bytes.Lines(text) {
		l := string(bytes.TrimSpace(line))
		switch {
		case l == "":
			continue
		case isHeader(l):
			named = parseHeader(l)
			continue
		}
		r, ok := parseRow(l, named)
		if !ok {
			strange++
			continue
		}
		if rows++; rows > mostRows {
			return nil, 0, fmt.Errorf("%w: more than %d rows", errTooMuch, mostRows)
		}
		if r.id < 0 || r.from.Port() == 0 || r.to.Port() == 0 {
			continue // a sum: the streams are counted one by one
		}
		key := [2]netip.AddrPort{r.from, r.to}
		s := newest[key]
		total := s != nil && s.totalled(r)
		if s == nil || s.total != nil || len(s.rows) > 0 && r.begin == 0 && !total {
			if len(streams) >= mostTrials {
				return nil, 0, fmt.Errorf("%w: more than %d streams", errTooMuch, mostTrials)
			}
			s, total = &stream{}, false
			newest[key] = s
			streams = append(streams, s)
		}
		if total {
			s.total = &r
		} else {
			s.rows = append(s.rows, r)
		}
	}
	if rows == 0 {
		return nil, strange, ErrNothing
	}
	return streams, strange, nil
}

// readCSV adds a trial for every test of a file.
func readCSV(text []byte, out *record.Record) error {
	streams, strange, err := parseStreams(text)
	if err != nil {
		return err
	}
	streams = withReports(streams)
	old := orient(streams)
	for _, group := range together(streams) {
		if len(out.Trials) >= mostTrials {
			return fmt.Errorf("%w: more than %d tests", errTooMuch, mostTrials)
		}
		t := trialOf(group, old)
		if t.Goodput == 0 {
			out.Failures = append(out.Failures, record.Failure{From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Error: "iperf2: nothing was carried"})
			continue
		}
		if strange > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("lines of the file that are no rows, left out: %d", strange))
		}
		out.Trials = append(out.Trials, t)
	}
	return nil
}

// withReports puts what the server reported of a sender's datagrams in the place of
// what the sender counted: of UDP the client prints both, the server's row with the
// addresses the other way round and columns of loss (Client.cpp, ReportServerUDP).
func withReports(streams []*stream) []*stream {
	type ends struct {
		from, to netip.AddrPort
		id       int
	}
	reports := make(map[ends][]*stream)
	for _, s := range streams {
		if r := s.whole(); r.udp {
			reports[ends{r.to, r.from, r.id}] = append(reports[ends{r.to, r.from, r.id}], s)
		}
	}
	used := make(map[*stream]bool)
	for _, s := range streams {
		w := s.whole()
		all := reports[ends{w.from, w.to, w.id}]
		if w.udp || len(all) == 0 || math.Abs(all[0].whole().at.Sub(w.at).Seconds()) > 2 {
			continue
		}
		r := all[0].whole()
		reports[ends{w.from, w.to, w.id}] = all[1:]
		used[all[0]] = true
		r.from, r.to, r.at = w.from, w.to, w.at
		s.total = &r
	}
	return slices.DeleteFunc(streams, func(s *stream) bool { return used[s] })
}

// totalled reports a row over all the time of the intervals before it.
func (s *stream) totalled(r row) bool {
	if len(s.rows) == 0 {
		return false
	}
	last := s.rows[len(s.rows)-1]
	return r.begin <= s.rows[0].begin && r.end >= last.end-rounding && r.bytes >= last.bytes*(1-wholeShare)
}

// Times are printed with one decimal, or four; of a total's bytes the last
// interval is a part.
const (
	rounding   = 0.051
	wholeShare = 0.01
)

// orient finds out which end is the server: its port is the one that streams
// have in common, else the lower. It returns whether 2.0 wrote the rows, which
// names its own end first; newer versions name the sender first. 2.0 numbers
// streams by their sockets, so from 3; newer ones from 1.
func orient(streams []*stream) (old bool) {
	uses := make(map[netip.AddrPort]int)
	old = true
	for _, s := range streams {
		r := s.whole()
		uses[r.from]++
		uses[r.to]++
		old = old && r.id >= 3 && !r.fine && !r.at.IsZero() && !r.reader && !r.writer
	}
	for _, s := range streams {
		r := s.whole()
		a, b := uses[r.from], uses[r.to]
		s.client, s.server, s.forward = r.from, r.to, true
		if a > b || a == b && r.from.Port() < r.to.Port() {
			s.client, s.server, s.forward = r.to, r.from, old
		}
	}
	return old
}

// together groups streams of the same two hosts that ran at the same time:
// the rows of one test.
func together(streams []*stream) [][]*stream {
	type pair struct{ client, server netip.Addr }
	pairs := make(map[pair][]*stream)
	var order []pair
	for _, s := range streams {
		p := pair{s.client.Addr(), s.server.Addr()}
		if pairs[p] == nil {
			order = append(order, p)
		}
		pairs[p] = append(pairs[p], s)
	}
	var out [][]*stream
	for _, p := range order {
		all := pairs[p]
		slices.SortStableFunc(all, func(a, b *stream) int { return a.began().Compare(b.began()) })
		var group []*stream
		for _, s := range all {
			if len(group) > 0 && (!overlap(group[0], s) || len(group) == mostStreams) {
				out, group = append(out, group), nil
			}
			group = append(group, s)
		}
		out = append(out, group)
	}
	return out
}

// overlap reports streams that share at least half of the shorter one's time,
// give or take the second that times are printed to. Where the file carries
// none, streams of one length are together.
func overlap(a, b *stream) bool {
	x, y := a.whole(), b.whole()
	if x.at.IsZero() || y.at.IsZero() {
		return x.at.IsZero() && y.at.IsZero() && math.Abs(x.end-y.end) < 1
	}
	from, until := later(a.began(), b.began()), earlier(x.at, y.at)
	half := min(x.end-x.begin, y.end-y.begin) / 2
	return until.Sub(from).Seconds() > half-1 && until.After(from.Add(-time.Second))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
