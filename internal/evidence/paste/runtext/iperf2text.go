package runtext

import (
	"net/netip"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// Iperf2Text reads what iperf 2 prints, from 2.0.5 to 2.2, of either side.
var Iperf2Text = piece.Reader{
	Kind:     "iperf2",
	Commands: []string{"iperf", "iperf2"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return strings.Contains(line, "connected with") && iperf2Stream.MatchString(line) || iperfRowOf(line) != nil || iperf2Head.MatchString(text) ||
			strings.HasPrefix(text, "iperf version 2") || strings.HasPrefix(text, "connect failed: ")
	},
	Read: reading(readIPerf2),
}

var iperf2Head = piece.Compile(`^(?:Client connecting to (\S+), (TCP|UDP) port (\d+)|Server listening on (TCP|UDP) port (\d+))`)

var iperf2Stream = piece.Compile(`^\s*(?:[^\[\]]{1,40}\s)?\[ *(\*?)(\d+)\] local (\S+) port (\d+) connected with (\S+) port (\d+)(.*)$`)

var iperf2Window = piece.Compile(`^(?:TCP window|UDP buffer) size: +([\d.]+) ([KMG]?)Bytes?(?:.*requested +([\d.]+) ([KMG]?)Byte)?`)

var iperf2Other = piece.Compile(`^(?:-----|\[ *ID\]|\[ *\*?(?:\d+|SUM(?:-\d+)?|FD\d+)\]|(?:TCP window|UDP buffer|MSS|Write buffer|Read buffer|datagram) size|TCP congestion|Sending \d+ byte|Receiving \d+ byte|Binding to|TOS |Setting |Waiting for|Multicast|connect failed|write failed|read failed|WARNING: |iperf version|Event queue|Client set to|bounceback|Clock sync|tcp fast open|IPG |Using |Reading )`)

var iperf2MSS = piece.Compile(`mss/irtt=\d+/(\d+)/(\d+)`)

var iperf2Sender = piece.Compile(`^\d+/\d+\s+(\d+)\s`)

func readIPerf2(s *sink, lines []piece.Line) (read int) {
	if !ofIPerf2(s.Segment.Command, lines) {
		return 0
	}
	r := newIPerf2()
	from := 0
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		head := iperf2Head.FindStringSubmatch(text)
		stream := iperf2Stream.FindStringSubmatch(l.Text)
		row := iperfRowOf(l.Text)
		if head == nil && stream == nil && row == nil && !iperf2Other.MatchString(text) {
			break
		}
		if len(r.ids) > 0 && (head != nil || stream != nil || row != nil && r.another(row)) {
			r.end(s, lines[from:read])
			turned := stream != nil && r.client && r.port != "" && stream[4] == r.port // -r: the other way after this one
			was := r
			from, r = i, newIPerf2()
			r.run.Version = was.run.Version
			if head == nil && was.server && !was.client {
				r.server, r.port, r.run.UDP = true, was.port, was.run.UDP
			}
			if turned {
				r.client, r.port, r.run.Reverse = true, was.port, true
			}
		}
		switch {
		case head != nil:
			r.head(head)
		case stream != nil:
			r.stream(stream)
		case row != nil:
			r.row(row)
		default:
			r.said(text)
		}
		read = i + 1
	}
	if read > from && (len(r.ids) > 0 || len(r.run.Streams) > 0 || r.run.Error != "") {
		r.end(s, lines[from:read])
	} else if read > 0 && r.run.Version != "" {
		s.Set("host", "iperf2_version", r.run.Version, lines[0])
	}
	return read
}

// iperf2Reader gathers a run.
type iperf2Reader struct {
	run     piece.Run
	streams map[string]int // by id with its mark
	rows    map[string][]*iperfRow
	ids     []string // of rows, in their order
	client  bool
	server  bool
	port    string // that the server listens on
	both    bool   // over one connection
}

func newIPerf2() *iperf2Reader {
	return &iperf2Reader{run: piece.NewRun("iperf2"), streams: make(map[string]int), rows: make(map[string][]*iperfRow)}
}

func (r *iperf2Reader) head(m []string) {
	if m[1] != "" {
		r.client, r.port = true, m[3]
		r.run.Remark("target", m[1])
	} else {
		r.server, r.port = true, m[5]
	}
	r.run.UDP = m[2] == "UDP" || m[4] == "UDP"
}

func (r *iperf2Reader) stream(m []string) {
	local, _, _ := strings.Cut(m[3], "%") // 2.1 -e names the device
	if strings.Contains(m[3], ":") {
		local = m[3]
	}
	st := piece.Stream{Retransmits: -1, Local: piece.AddrPort(local, m[4]), Remote: piece.AddrPort(m[5], m[6])}
	st.Reverse = m[1] == "*" || strings.Contains(m[7], "(reverse)") || r.client && r.server && m[4] == r.port || r.run.Reverse
	r.both = r.both || strings.Contains(m[7], "(full-duplex)")
	r.streams[m[1]+m[2]] = len(r.run.Streams)
	if mss := iperf2MSS.FindStringSubmatch(m[7]); mss != nil {
		r.run.MSS = int(max(piece.Whole(mss[1]), 0))
		r.run.Remark("first_rtt_us", mss[2])
	}
	r.run.Streams = append(r.run.Streams, st)
}

// another reports a row of another run: the id's last row has the same span, or the
// id has had its row of the end already.
func (r *iperf2Reader) another(row *iperfRow) bool {
	rows := r.rows[row.id]
	if len(rows) == 0 || datagramLoss.MatchString(row.rest) {
		return false
	}
	last := rows[len(rows)-1]
	if len(rows) > 1 && last.from < rows[len(rows)-2].to-0.01 {
		return true
	}
	return row.from == last.from && row.to >= last.to-0.2 && row.to <= last.to+0.2
}

func (r *iperf2Reader) row(row *iperfRow) {
	if r.rows[row.id] == nil {
		r.ids = append(r.ids, row.id)
	}
	r.rows[row.id] = append(r.rows[row.id], row)
}

func (r *iperf2Reader) said(text string) {
	if m := iperf2Window.FindStringSubmatch(text); m != nil {
		r.run.Window = unit.Bytes(piece.Float(m[1]) * piece.Kibi[m[2]])
		if m[3] != "" {
			r.run.Clamped = unit.Bytes(piece.Float(m[3]) * piece.Kibi[m[4]])
		}
		return
	}
	if version, ok := strings.CutPrefix(text, "iperf version "); ok {
		r.run.Version, _, _ = strings.Cut(version, " ")
	}
	if strings.HasPrefix(text, "connect failed") {
		r.run.Error = text
	}
	if strings.Contains(text, "did not receive ack of last datagram") {
		r.run.Error = "did not receive ack of last datagram"
	}
}

// whole is the rate of an id: its row of the end where it has one, which spans what
// was before it, else the mean of its intervals without the first.
func (r *iperf2Reader) whole(id string) (rate unit.BitRate, last *iperfRow, intervals []*iperfRow) {
	rows := r.rows[id]
	last, intervals = rows[len(rows)-1], rows
	switch {
	case len(rows) == 1:
		return last.rate, last, rows
	case last.from < rows[len(rows)-2].to-0.01:
		intervals = rows[:len(rows)-1]
		if len(intervals) > 1 && intervals[len(intervals)-1].from < intervals[len(intervals)-2].to-0.01 {
			intervals = intervals[:len(intervals)-1] // UDP: the client's own, and the server's report
		}
		return last.rate, last, intervals
	}
	for _, row := range rows[1:] {
		rate += row.rate / unit.BitRate(len(rows)-1)
	}
	return rate, last, rows
}

func (r *iperf2Reader) end(s *sink, lines []piece.Line) {
	run := &r.run
	run.Asked(s.CallOf("iperf", "iperf2"))
	var ways [2]unit.BitRate
	sum, summed := unit.BitRate(0), false
	for _, id := range r.ids {
		rate, last, intervals := r.whole(id)
		run.Seconds = max(run.Seconds, last.to)
		if strings.HasPrefix(id, "FD") {
			continue
		}
		if strings.HasPrefix(id, "SUM") {
			sum, summed = rate, true
			r.intervals(intervals, len(r.rows[id]))
			continue
		}
		n, known := r.streams[id]
		if !known {
			n, known = r.streams[strings.TrimPrefix(id, "*")]
			if known && r.both {
				run.Streams = append(run.Streams, run.Streams[n])
				n = len(run.Streams) - 1
			}
		}
		if !known {
			run.Streams = append(run.Streams, piece.Stream{Retransmits: -1})
			n = len(run.Streams) - 1
		}
		st := &run.Streams[n]
		st.Rate = rate
		st.Reverse = st.Reverse || id[0] == '*' || run.Reverse
		r.rest(st, last)
		way := 0
		if st.Reverse {
			way = 1
		}
		ways[way] += rate
		if len(r.ids) == 1 {
			r.intervals(intervals, len(r.rows[id]))
		}
	}
	r.settle(s, ways, sum, summed)
	s.AddRun(*run, lines)
}

// settle says who sent, and what all streams carried.
func (r *iperf2Reader) settle(s *sink, ways [2]unit.BitRate, sum unit.BitRate, summed bool) {
	run := &r.run
	run.Both = r.both || ways[0] > 0 && ways[1] > 0
	run.Reverse = !run.Both && ways[1] > 0
	run.Rate = ways[0] + ways[1]
	if summed && !run.Both {
		run.Rate = sum
	}
	if run.Both {
		run.Back = ways[1]
	}
	if !r.client && !r.server && len(run.Streams) > 0 {
		port := run.Streams[0].Local.Port()
		r.server = port == 5001 || len(run.Streams) > 1 && port != 0
		for _, st := range run.Streams {
			r.server = r.server && st.Local.Port() == port && st.Remote != (netip.AddrPort{})
		}
	}
	if r.server && !r.client {
		run.ServerText, run.Server = true, s.Segment.Host
	} else {
		run.Client = s.Segment.Host
	}
	for _, st := range run.Streams {
		run.Lost, run.Datagrams = run.Lost+st.Lost, run.Datagrams+st.Datagrams
		if st.Retransmits >= 0 {
			run.Retransmits = max(run.Retransmits, 0) + st.Retransmits
		}
	}
}

// intervals keeps the rows of intervals, if there were more than the one of the end.
func (r *iperf2Reader) intervals(rows []*iperfRow, all int) {
	if all < 2 {
		return
	}
	for _, row := range rows {
		r.run.Series = append(r.run.Series, row.rate)
		if row.rate == 0 {
			r.run.Stalled++
		}
	}
	r.run.Intervals = len(r.run.Series)
}

// rest reads what stands behind a row's rate.
func (r *iperf2Reader) rest(st *piece.Stream, row *iperfRow) {
	if m := datagramLoss.FindStringSubmatch(row.rest); m != nil {
		r.run.UDP = true
		st.Lost, st.Datagrams = max(piece.Whole(m[2]), 0), max(piece.Whole(m[3]), 0)
		r.run.JitterMS = max(r.run.JitterMS, piece.Float(m[1]))
	}
	if m := iperf2Sender.FindStringSubmatch(row.rest + " "); m != nil {
		st.Retransmits = int(max(piece.Whole(m[1]), 0))
	}
}
