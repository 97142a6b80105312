package runtext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/hostid"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// Iperf3Text reads what iperf3 prints, from 3.0 on, of either side, whole or cut
// (iperf_locale.c of 3.0 to 3.21).
var Iperf3Text = piece.Reader{
	Kind:     "iperf3",
	Commands: []string{"iperf3", "mptcpize"},
	Starts: func(line string) bool {
		if iperfRowOf(line) != nil || strings.Contains(line, "connected to") && iperf3Stream.MatchString(line) {
			return true
		}
		text := strings.TrimSpace(line)
		return iperf3Head.MatchString(text) || iperf3Says(text) || strings.Contains(text, bufferRefused)
	},
	Read: reading(readIPerf3),
}

// bufferRefused is what iperf3 says where the kernel gave less than -w asked for
// (iperf_error.c, IESETBUF2); people quote it in a sentence.
const bufferRefused = "socket buffer size not set correctly"

// iperf3Says reports a line of its own words. What people write behind its name is a rate.
func iperf3Says(text string) bool {
	return strings.HasPrefix(text, "iperf3: ") && !rateWritten.MatchString(text)
}

var rateWritten = piece.Compile(`(?i)\d ?[kmg]?i?(?:b|bits?|bytes?)(?:/s|ps)`)

var iperf3Head = piece.Compile(`^(?:Connecting to host (\S+), port \d+|Server listening on \d+|Accepted connection from (\S+), port \d+|iperf 3\.(\d[\w.+-]*))`)

var iperf3Stream = piece.Compile(`^\s*(?:[^\[\]]{1,40}\s)?\[ *(\d+)\](?:\[[TR]X-[CS]\])? local (\S+) port (\d+) connected to (\S+) port (\d+)`)

var iperf3Other = piece.Compile(`^(?:- - -|-----|iperf Done|\[ *ID\]|\[ *\d+\] (?:Sent|datagrams)|Test Complete|Reverse mode|Time: |Starting Test|Cookie|TCP MSS|Control connection|Target Bit|CPU Utilization|(?:snd|rcv)_tcp_congestion|Linux \S+ \d|Interval|Summary Results|Read lengths|\d+ +: +\d+|iperf3: |warning: |WARNING: |Accepted connection|Server listening|Server output|Connecting to host|iperf 3\.|Optional features|\[ *(?:\d+|SUM)\].*(?:statistics not available|out-of-order))`)

var retransmits = piece.Compile(`^(\d+)(?:\s+([\d.]+) ?([KMGT]?)Bytes)?\s*(?:sender|receiver)?$`)

var datagramLoss = piece.Compile(`([\d.]+) ms\s+(-?\d+|Unknown)/\s*(\d+)`)

var cpuUse = piece.Compile(`(?:local|remote)/(sender|receiver) ([\d.]+)%`)

var startedTest = piece.Compile(`protocol: (\w+), (\d+) streams?`)

// iperfRow is a row of an interval or of the end, of either iperf.
type iperfRow struct {
	id        string // "SUM", or the socket
	role      string // "TX-C" ...
	from, to  float64
	rate      unit.BitRate
	rest      string // what stands behind the rate
	decimals  int    // of the times
	beforeSec int    // blanks before the word
}

var iperfRowShape = piece.Compile(`^\s*(?:[^\[\]]{1,40}\s)?\[ *(\*?\d+|SUM|SUM-\d+|FD\d+|SUM)\](?:\[([TR]X-[CS])\])?\s+(\d+\.\d+)\s*-\s*(\d+\.\d+)( +)sec\s+([\d.]+) ?([KMGTP]?)(?:Bytes|bits)\s+([\d.]+) ?([KMGTP]?)(bits|Bytes)/sec\s*(.*)$`)

// iperfRowOf reads a row; nil for another line.
func iperfRowOf(line string) *iperfRow {
	if !strings.Contains(line, "/sec") || !strings.Contains(line, " sec") {
		return nil
	}
	m := iperfRowShape.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	r := &iperfRow{id: m[1], role: m[2], from: piece.Float(m[3]), to: piece.Float(m[4]), beforeSec: len(m[5]), rest: strings.TrimSpace(m[11])}
	if r.to < r.from {
		return nil
	}
	_, fraction, _ := strings.Cut(m[4], ".")
	r.decimals = len(fraction)
	r.rate = unit.BitRate(piece.Float(m[8]) * piece.Decimal[m[9]])
	if m[10] == "Bytes" {
		r.rate = unit.BitRate(piece.Float(m[8]) * piece.Kibi[m[9]] * 8)
	}
	return r
}

// ofIPerf2 reports a text of iperf2 by the first line that shows it, the command's
// name included. Rows of two decimals whose blanks a forum took are either's.
func ofIPerf2(command string, lines []piece.Line) bool {
	for _, w := range strings.Fields(command) {
		switch w[strings.LastIndexByte(w, '/')+1:] {
		case "iperf", "iperf2", "iperf.exe":
			return true
		case "iperf3", "iperf3.exe":
			return false
		}
	}
	for _, l := range lines[:min(len(lines), 200)] {
		text := strings.TrimSpace(l.Text)
		switch {
		case strings.Contains(text, "connected with"), strings.HasPrefix(text, "Client connecting to"), strings.HasPrefix(text, "Server listening on TCP"),
			strings.HasPrefix(text, "Server listening on UDP"):
			return true
		case strings.Contains(text, "connected to"), strings.HasSuffix(text, "sender"), strings.HasSuffix(text, "receiver"), strings.HasPrefix(text, "iperf Done"),
			iperf3Head.MatchString(text):
			return false
		}
		if r := iperfRowOf(l.Text); r != nil {
			if r.decimals != 2 || strings.HasPrefix(r.id, "FD") || strings.HasPrefix(r.id, "*") {
				return true
			}
			if r.beforeSec > 1 || r.role != "" || strings.Contains(r.rest, "Bytes") {
				return false
			}
		}
	}
	return false
}

// iperf3Ends are the last words of rows.
var iperf3Ends = piece.Phrases("sender", "receiver", "(omitted)")

func readIPerf3(s *sink, lines []piece.Line) (read int) {
	if ofIPerf2(s.Segment.Command, lines) {
		return 0
	}
	r := iperf3Reader{run: piece.NewRun("iperf3"), streams: make(map[string]int), seen: make(map[string]float64), ended: make(map[string]bool)}
	skipping := false // the server's own text within the client's
loop:
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if strings.Contains(text, bufferRefused) {
			s.Set("host", "buffer_refused", "yes", l)
			if read++; !strings.HasPrefix(text, "iperf3: ") {
				return max(read, i+1)
			}
		}
		row := iperfRowOf(l.Text)
		stream := iperf3Stream.FindStringSubmatch(l.Text)
		head := iperf3Head.FindStringSubmatch(text)
		if row != nil && i+1 < len(lines) { // mail breaks long rows
			if next := strings.TrimSpace(lines[i+1].Text); iperf3Ends[next] {
				row.rest = strings.TrimSpace(row.rest + " " + next)
			}
		}
		switch {
		case iperf3Ends[text]:
		case skipping && (row != nil || stream != nil || head != nil):
		case stream != nil:
			if r.rows > 0 {
				break loop // another run begins
			}
			r.stream(stream)
		case row != nil:
			if !r.row(row) {
				break loop
			}
		case head != nil:
			if r.rows > 0 || head[1] != "" && r.heads {
				break loop
			}
			r.head(head, text)
		case strings.HasPrefix(text, "iperf Done"):
			read = i + 1
			break loop
		case strings.HasPrefix(text, "Server output"):
			skipping = true
		case iperf3Says(text):
			if r.rows == 0 && r.run.Error != "" {
				break loop
			}
			r.run.Error = strings.TrimPrefix(strings.TrimPrefix(text, "iperf3: "), "error - ")
		case !iperf3Other.MatchString(text):
			break loop
		default:
			r.said(s, text, l)
		}
		read = i + 1
	}
	switch {
	case len(r.run.Streams)+r.rows > 0 || r.run.Error != "":
		r.end(s, lines[:read])
	case read > 0 && r.run.Version != "":
		s.Set("host", "iperf3_version", r.run.Version, lines[0])
	}
	return read
}

// iperf3Reader gathers a run.
type iperf3Reader struct {
	run       piece.Run
	streams   map[string]int // by id
	seen      map[string]float64
	ended     map[string]bool // rows of the end, by id, role and side
	server    bool
	client    bool
	heads     bool
	growing   bool // the last window was a first interval's
	retried   bool // interval rows have retransmits: the printing side sends
	rows      int
	sums      [2][3]unit.BitRate // by way: of intervals, of the sender, of the receiver
	sumSeen   [2][3]bool
	intervals []iperf3Interval
}

type iperf3Interval struct {
	id       string
	way      int
	from, to float64
	rate     unit.BitRate
	again    int // segments sent again; -1 not said
}

func (r *iperf3Reader) head(m []string, text string) {
	if m[3] != "" {
		r.run.Version = "3." + m[3]
		return
	}
	r.heads = true
	r.client = r.client || m[1] != ""
	r.server = r.server || m[2] != "" || strings.HasPrefix(text, "Server listening")
	r.run.Remark("target", m[1])
}

// said reads the lines about a run that -V and others print.
func (r *iperf3Reader) said(s *sink, text string, l piece.Line) {
	switch {
	case strings.HasPrefix(text, "Reverse mode"):
		r.run.Reverse = true
	case strings.HasPrefix(text, "Linux "):
		hostid.Uname(s.Sink, text, l)
	case strings.HasPrefix(text, "TCP MSS"):
		r.run.MSS = int(max(piece.Whole(firstNumber(text)), 0))
	case strings.HasPrefix(text, "snd_tcp_congestion"):
		r.run.Congestion = strings.TrimSpace(strings.TrimPrefix(text, "snd_tcp_congestion"))
	case iperf3Columns.MatchString(text):
		if strings.Contains(text, " Bandwidth") {
			r.run.Remark("columns", "old")
		}
	case strings.HasPrefix(text, "CPU Utilization"):
		for _, m := range cpuUse.FindAllStringSubmatch(text, 2) {
			if m[1] == "sender" {
				r.run.SenderCPU = piece.Float(m[2])
			} else {
				r.run.ReceiverCPU = piece.Float(m[2])
			}
		}
	case strings.HasPrefix(text, "Starting Test"):
		if m := startedTest.FindStringSubmatch(text); m != nil {
			r.run.UDP = m[1] == "UDP"
			r.run.Parallel, _ = strconv.Atoi(m[2])
		}
	}
}

// iperf3Columns is the head of the rows: the rate was called Bandwidth at first.
var iperf3Columns = piece.Compile(`^\[ *ID\]`)

var numberShape = piece.Compile(`\d+`)

func firstNumber(text string) string { return numberShape.FindString(text) }

func (r *iperf3Reader) stream(m []string) {
	at := piece.Stream{Retransmits: -1, Local: piece.AddrPort(m[2], m[3]), Remote: piece.AddrPort(m[4], m[5])}
	r.streams[m[1]] = len(r.run.Streams)
	r.run.Streams = append(r.run.Streams, at)
}

// row reads a row of an interval, or of the end, which says whose it is. It is
// false for one of another run.
func (r *iperf3Reader) row(row *iperfRow) bool {
	end := strings.HasSuffix(row.rest, "receiver") || strings.HasSuffix(row.rest, "sender")
	loss := datagramLoss.FindStringSubmatch(row.rest)
	key := row.id + row.role
	if to, known := r.seen[key]; !end && known && row.from < to-0.005 {
		if loss == nil || row.from > 0.005 {
			return false
		}
		end = true // 3.0 and 3.1 do not say whose row of the end it is
	}
	if !end && len(r.ended) > 0 {
		return false
	}
	way := 0
	if row.role == "RX-C" || row.role == "TX-S" {
		way = 1
	}
	r.run.Both = r.run.Both || row.role != ""
	which := 0
	if end {
		which = 2
		if strings.HasSuffix(row.rest, "sender") {
			which = 1
		}
		side := key + strconv.Itoa(which)
		if r.ended[side] {
			return false
		}
		r.ended[side] = true
	}
	r.rows++
	if strings.Contains(row.rest, "omitted") {
		return true
	}
	again := -1
	if t := retransmits.FindStringSubmatch(row.rest); t != nil && which != 2 {
		again = int(max(piece.Whole(t[1]), 0))
		r.retried = r.retried || which == 0
		r.window(piece.Float(t[2])*piece.Kibi[t[3]], row.from == 0)
	}
	r.run.UDP = r.run.UDP || loss != nil || strings.Contains(row.rest, " ms")
	if row.id == "SUM" {
		r.sums[way][which], r.sumSeen[way][which] = row.rate, true
		r.run.Remark("sum", "yes")
	}
	if !end {
		r.seen[key] = row.to
		r.intervals = append(r.intervals, iperf3Interval{row.id, way, row.from, row.to, row.rate, again})
	}
	r.counted(row, way, which, again, loss)
	return true
}

// window notes a congestion window; zero is none that was printed. In the first interval it
// grows from nothing: that one is the least only where no other comes.
func (r *iperf3Reader) window(bytes float64, first bool) {
	if bytes <= 0 || bytes > 1<<40 {
		return
	}
	w := unit.Bytes(bytes)
	if !first && r.growing {
		r.run.CwndLeast = 0
	}
	r.growing = first
	if r.run.CwndMost = max(r.run.CwndMost, w); r.run.CwndLeast == 0 || w < r.run.CwndLeast {
		r.run.CwndLeast = w
	}
}

// counted notes a row's rate and what stands behind it.
func (r *iperf3Reader) counted(row *iperfRow, way, which, again int, loss []string) {
	lost, datagrams := int64(0), int64(0)
	if loss != nil && which != 1 {
		lost, datagrams = max(piece.Whole(loss[2]), 0), max(piece.Whole(loss[3]), 0)
	}
	if which > 0 {
		r.run.Seconds = max(r.run.Seconds, row.to-row.from)
	}
	if row.id == "SUM" {
		if which > 0 && again >= 0 {
			r.run.Retransmits = max(r.run.Retransmits, 0) + again
		}
		if which > 0 && datagrams > 0 {
			r.run.Lost, r.run.Datagrams = r.run.Lost+lost, r.run.Datagrams+datagrams
		}
		return
	}
	n, known := r.streams[row.id]
	if !known {
		r.run.Streams = append(r.run.Streams, piece.Stream{Retransmits: -1})
		n = len(r.run.Streams) - 1
		r.streams[row.id] = n
	}
	st := &r.run.Streams[n]
	st.Reverse = way == 1
	if which == 0 {
		return
	}
	if which == 2 || st.Rate == 0 {
		st.Rate = row.rate
	}
	if which == 1 && again >= 0 {
		st.Retransmits = again
	}
	if datagrams > 0 {
		st.Lost, st.Datagrams = lost, datagrams
		if loss != nil {
			r.run.JitterMS = max(r.run.JitterMS, piece.Float(loss[1]))
		}
	}
}

// end fills in the sums, and adds the run to the case.
func (r *iperf3Reader) end(s *sink, lines []piece.Line) {
	run := &r.run
	run.Asked(s.CallOf("iperf3", "iperf3.exe"))
	run.MPTCP = run.MPTCP || strings.Contains(s.Segment.Command, "mptcpize")
	r.sides()
	if r.server && !r.client && !run.Both && r.retried {
		run.Reverse = true
	}
	r.series()
	for way := range 2 {
		rate := r.rateOf(way)
		run.Rate += rate
		if way == 1 {
			run.Back = rate
		}
	}
	if run.Retransmits < 0 || run.Datagrams == 0 {
		r.total()
	}
	if run.Retransmits < 0 && len(r.ended) == 0 { // the end is cut
		run.Retransmits = r.repeated()
	}
	if run.UDP {
		run.Retransmits = -1
	}
	if call := s.CallOf("iperf3"); call.Has("-R", "--reverse") && !run.Both {
		run.Reverse = true // where the head that says so is cut
	}
	if m := boundNode.FindStringSubmatch(s.Segment.Command); m != nil {
		run.Remark("node", m[1])
	}
	if bind := cmp.Or(s.CallOf("iperf3").Value("--bind"), s.CallOf("iperf3").Value("-B")); bind != "" {
		run.Remark("bind", bind)
	}
	if run.Reverse && !run.Both {
		for i := range run.Streams {
			run.Streams[i].Reverse = true
		}
	}
	if call := s.CallOf("iperf3"); r.server && !r.client || call.Has("-s", "--server") && !r.client {
		run.ServerText, run.Server = true, s.Segment.Host
	} else {
		run.Client = s.Segment.Host
	}
	if v, ok := s.Host.Get("host", "iperf3_version"); ok && run.Version == "" {
		run.Version = v.Text
	}
	s.AddRun(*run, lines)
}

// boundNode is the NUMA node that a command binds its program to.
var boundNode = piece.Compile(`\bnumactl .*?(?:-N|--cpunodebind)[ =]?(\d)\b`)

// sides finds the server's text where its head is cut: one port for all streams.
func (r *iperf3Reader) sides() {
	if r.client || r.server || len(r.run.Streams) == 0 {
		return
	}
	port := r.run.Streams[0].Local.Port()
	for _, st := range r.run.Streams {
		if !st.Local.IsValid() || st.Local.Port() != port || st.Remote.Port() == port {
			return
		}
	}
	r.server = port == 5201 || len(r.run.Streams) > 1
}

// series keeps the intervals of the sum, or of the only stream.
func (r *iperf3Reader) series() {
	sum := r.sumSeen[0][0] || r.sumSeen[1][0]
	streams := 0
	for _, st := range r.run.Streams {
		if !st.Reverse || r.run.Reverse {
			streams++
		}
	}
	if !sum && streams > 1 {
		return
	}
	length := 0.0
	for _, in := range r.intervals {
		length = max(length, in.to-in.from)
	}
	for _, in := range r.intervals {
		if (in.id == "SUM") != sum || in.way != 0 || in.to-in.from < length/2 {
			continue
		}
		r.run.Series = append(r.run.Series, in.rate)
		if in.again > 0 {
			r.run.Lossy++
		}
		if in.rate == 0 {
			r.run.Stalled++
		}
	}
	r.run.Intervals = len(r.run.Series)
}

// rateOf is what arrived one way: what the rows of the end say, else the mean of
// the intervals without the first, in which TCP still starts.
func (r *iperf3Reader) rateOf(way int) unit.BitRate {
	for _, which := range []int{2, 1} {
		if r.sumSeen[way][which] {
			return r.sums[way][which]
		}
	}
	var total unit.BitRate
	if len(r.ended) > 0 {
		for _, st := range r.run.Streams {
			if st.Reverse == (way == 1) {
				total += st.Rate
			}
		}
		return total
	}
	byID := make(map[string][]iperf3Interval)
	for _, in := range r.intervals {
		if in.way == way && (in.id == "SUM") == r.sumSeen[way][0] {
			byID[in.id] = append(byID[in.id], in)
			r.run.Seconds = max(r.run.Seconds, in.to)
		}
	}
	for id, all := range byID {
		if len(all) > 1 {
			all = all[1:]
		}
		var sum, seconds float64
		for _, in := range all {
			sum, seconds = sum+float64(in.rate)*(in.to-in.from), seconds+in.to-in.from
		}
		if seconds <= 0 {
			continue
		}
		mean := unit.BitRate(sum / seconds)
		if n, ok := r.streams[id]; ok && r.run.Streams[n].Rate == 0 {
			r.run.Streams[n].Rate = mean
		}
		total += mean
	}
	return total
}

// repeated adds up what the intervals say; -1 nothing.
func (r *iperf3Reader) repeated() int {
	sum := r.sumSeen[0][0]
	again := -1
	for _, in := range r.intervals {
		if (in.id == "SUM") == sum && in.again >= 0 {
			again = max(again, 0) + in.again
		}
	}
	return again
}

// total adds up what only the streams say.
func (r *iperf3Reader) total() {
	again, lost, datagrams := -1, int64(0), int64(0)
	for _, st := range r.run.Streams {
		if st.Retransmits >= 0 {
			again = max(again, 0) + st.Retransmits
		}
		lost, datagrams = lost+st.Lost, datagrams+st.Datagrams
	}
	if r.run.Retransmits < 0 {
		r.run.Retransmits = again
	}
	if r.run.Datagrams == 0 {
		r.run.Lost, r.run.Datagrams = lost, datagrams
	}
}
