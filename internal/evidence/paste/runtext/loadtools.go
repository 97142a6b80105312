package runtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// LoadTools reads nuttcp, netperf, qperf, goben and sockperf: a line or a few for each
// run.
var LoadTools = piece.Reader{
	Kind:     "load test",
	Commands: []string{"nuttcp", "netperf", "qperf", "goben", "ntttcp"},
	Starts: func(line string) bool {
		switch {
		case strings.Contains(line, "MB /") && nuttcpRow.MatchString(line):
			return true
		case strings.Contains(line, "real_seconds="):
			return true
		case strings.Contains(line, " TEST from ") || strings.Contains(line, " TEST to "):
			return netperfHead.MatchString(line)
		case strings.HasPrefix(line, "Recv "):
			return netperfTable.MatchString(line)
		case strings.Contains(line, "_bw:") || strings.Contains(line, "_lat:"):
			return qperfHead.MatchString(line)
		case strings.Contains(line, "goben version"), strings.Contains(line, " average "), strings.Contains(line, "aggregate "):
			return gobenRow.MatchString(line) || strings.Contains(line, "goben version")
		}
		return false
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Program() == "netperf" && netperfRow(line) != nil
	},
	Read: reading(readLoadTools),
}

var nuttcpRow = piece.Compile(`^\s*(?:nuttcp-\w+: )?([\d.]+) ([KMG]?)B / +([\d.]+) sec = +([\d.]+) ([KMG])bps(.*)$`)

var nuttcpParse = piece.Compile(`(\w+)=([\d.]+)`)

var percentTXRX = piece.Compile(`([\d.]+) %TX\s+([\d.]+) %RX`)

var netperfHead = piece.Compile(`^(?:MIGRATED )?((?:TCP|UDP|SCTP|OMNI|DCCP)[_\w ]*) TEST (?:from|to) (\S+)`)

var qperfHead = piece.Compile(`^\s*(\w+_(?:bw|lat)):\s*$`)

var qperfRow = piece.Compile(`^\s+(bw|send_bw|recv_bw|latency|msg_rate|loc_cpus_used|rem_cpus_used|loc_send_cost|\w+)\s+=\s+([\d.]+)\s*(\S*)(?:\s.*)?$`)

var gobenRow = piece.Compile(`(?:(\d+)/(\d+) +average +(?:output|input)|aggregate (writing|reading)): +(\d+) +Mbps`)

// netperfTable is the first title of a stream's table, where its banner was left out.
var netperfTable = piece.Compile(`^Recv\s+Send\s+Send\s*$`)

var netperfTitle = piece.Compile(`^(?i:recv|send|socket|size|bytes|local|remote|interim|utilization|\^|# )`)

var netperfOmni = piece.Compile(`^([A-Z_]+)=(.*)$`)

func readLoadTools(s *sink, lines []piece.Line) int {
	text := lines[0].Text
	switch {
	case strings.Contains(text, " TEST ") || s.Segment.Program() == "netperf" || netperfTable.MatchString(text):
		return s.netperf(lines)
	case qperfHead.MatchString(text):
		return s.qperf(lines)
	case strings.Contains(text, "goben") || gobenRow.MatchString(text):
		return s.goben(lines)
	}
	return s.nuttcp(lines)
}

// nuttcp prints one line a run, and with -i indented ones before it. It has no rows of
// streams.
func (s *sink) nuttcp(lines []piece.Line) (read int) {
	var series []unit.BitRate
	stalled, from := 0, 0
	for i, l := range lines {
		if strings.Contains(l.Text, "real_seconds=") {
			s.nuttcpParsed(l)
			read, from, series, stalled = i+1, i+1, nil, 0
			continue
		}
		m := nuttcpRow.FindStringSubmatch(l.Text)
		if m == nil {
			break
		}
		rate := unit.BitRate(piece.Float(m[4]) * piece.Decimal[m[5]])
		read = i + 1
		last := strings.Contains(m[6], "%TX") || strings.Contains(m[6], "%RX")
		if !last {
			series = append(series, rate)
			if rate == 0 {
				stalled++
			}
			if i+1 < len(lines) && strings.Contains(lines[i+1].Text, "MB /") {
				continue
			}
		}
		run := piece.NewRun("nuttcp")
		run.Client, run.Rate, run.Seconds = s.Segment.Host, rate, piece.Float(m[3])
		run.Series, run.Intervals, run.Stalled = series, len(series), stalled
		s.nuttcpRest(&run, m[6])
		s.AddRun(run, lines[from:read])
		from, series, stalled = read, nil, 0
	}
	return read
}

func (s *sink) nuttcpRest(run *piece.Run, rest string) {
	if cpu := percentTXRX.FindStringSubmatch(rest); cpu != nil {
		run.SenderCPU, run.ReceiverCPU = piece.Float(cpu[1]), piece.Float(cpu[2])
	}
	words := strings.Fields(rest)
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "retrans", "host-retrans":
			run.Retransmits = int(max(piece.Whole(words[i-1]), 0))
		case "msRTT":
			run.Remark("rtt_ms", words[i-1])
		case "drop/pkt":
			run.UDP = true
			run.Datagrams = max(piece.Whole(words[i-1]), 0)
			if i >= 3 && words[i-2] == "/" {
				run.Lost = max(piece.Whole(words[i-3]), 0)
			}
		}
	}
	if call := s.CallOf("nuttcp"); call != nil {
		run.Parallel, run.UDP, run.Reverse = call.Number("-N"), run.UDP || call.Has("-u"), call.Has("-r")
	}
}

// nuttcpParsed reads the form of -fparse.
func (s *sink) nuttcpParsed(l piece.Line) {
	run := piece.NewRun("nuttcp")
	run.Client = s.Segment.Host
	for _, m := range nuttcpParse.FindAllStringSubmatch(l.Text, 32) {
		switch m[1] {
		case "real_seconds":
			run.Seconds = piece.Float(m[2])
		case "rate_Mbps":
			run.Rate = unit.BitRate(piece.Float(m[2])) * unit.Mbps
		case "tx_cpu":
			run.SenderCPU = piece.Float(m[2])
		case "rx_cpu":
			run.ReceiverCPU = piece.Float(m[2])
		case "retrans":
			run.Retransmits = int(max(piece.Whole(m[2]), 0))
		case "rtt_ms":
			run.Remark("rtt_ms", m[2])
		case "drop":
			run.Lost = max(piece.Whole(m[2]), 0)
		case "pkt":
			run.UDP, run.Datagrams = true, max(piece.Whole(m[2]), 0)
		}
	}
	s.AddRun(run, []piece.Line{l})
}

// netperfRow are the figures of a row; nil for another line.
func netperfRow(line string) []float64 {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields) > 12 {
		return nil
	}
	out := make([]float64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || v < 0 || v > 1e12 {
			return nil
		}
		out[i] = v
	}
	return out
}

// netperf prints a banner, titles, and a row: sizes, seconds, 10^6 bits a second, and
// with -c and -C the use of the cores.
func (s *sink) netperf(lines []piece.Line) (read int) {
	run := piece.NewRun("netperf")
	run.Client = s.Segment.Host
	rate := -1.0
	titles := 0
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if m := netperfHead.FindStringSubmatch(text); m != nil {
			if read > 0 {
				break
			}
			run.UDP = strings.HasPrefix(m[1], "UDP")
			run.Remark("test", strings.ReplaceAll(strings.TrimSpace(m[1]), " ", "_"))
			run.Reverse = strings.Contains(m[1], "MAERTS")
			read = i + 1
			continue
		}
		if m := netperfOmni.FindStringSubmatch(text); m != nil {
			if m[1] == "THROUGHPUT" {
				rate = piece.Float(m[2])
			}
			read = i + 1
			continue
		}
		row := netperfRow(text)
		if row == nil {
			if titles++; titles > 6 || rate >= 0 || !netperfTitle.MatchString(text) {
				break
			}
			continue
		}
		if strings.Contains(run.Detail["test"], "_RR") || strings.Contains(run.Detail["test"], "REQUEST") {
			run.Remark("transactions", text)
			read = i + 1
			break
		}
		at := 4
		if run.UDP { // socket, message, seconds, sent, errors, rate; then what arrived
			at = len(row) - 1
		}
		if len(row) > at {
			rate = row[at]
			run.Seconds = row[min(3, at-1)]
			if run.UDP && len(row) > 2 && len(row) < 6 {
				run.Seconds = row[1]
			}
			if !run.UDP && len(row) >= 8 {
				run.SenderCPU, run.ReceiverCPU = row[5], row[6]
			}
			read = i + 1
			if !run.UDP {
				break
			}
		}
	}
	if rate >= 0 {
		run.Rate = unit.BitRate(rate) * unit.Mbps
		s.AddRun(run, lines[:read])
	}
	return read
}

// qperf counts bytes by 1000 (units.c of qperf 0.4.11).
func (s *sink) qperf(lines []piece.Line) (read int) {
	var run piece.Run
	from, name := 0, ""
	flush := func(to int) {
		if name != "" && (run.Rate > 0 || len(run.Detail) > 1) {
			s.AddRun(run, lines[from:to])
		}
	}
	for i, l := range lines {
		if strings.TrimSpace(l.Text) == "" {
			continue
		}
		if m := qperfHead.FindStringSubmatch(l.Text); m != nil {
			flush(read)
			run, from, name = piece.NewRun("qperf"), i, m[1]
			run.Client, run.UDP = s.Segment.Host, strings.HasPrefix(name, "udp")
			run.Remark("test", name)
			read = i + 1
			continue
		}
		m := qperfRow.FindStringSubmatch(l.Text)
		if m == nil || name == "" {
			break
		}
		switch {
		case m[1] == "bw" || m[1] == "recv_bw" || m[1] == "send_bw" && run.Rate == 0:
			if bytes, ok := strings.CutSuffix(m[3], "B/sec"); ok {
				run.Rate = unit.BitRate(piece.Float(m[2]) * piece.Decimal[bytes] * 8)
			} else if bits, ok := strings.CutSuffix(m[3], "b/sec"); ok {
				run.Rate = unit.BitRate(piece.Float(m[2]) * piece.Decimal[bits])
			}
		default:
			run.Remark(m[1], strings.TrimSpace(m[2]+" "+m[3]))
		}
		read = i + 1
	}
	flush(read)
	return read
}

func (s *sink) goben(lines []piece.Line) (read int) {
	run := piece.NewRun("goben")
	run.Client = s.Segment.Host
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		m := gobenRow.FindStringSubmatch(text)
		switch {
		case m != nil && m[3] != "":
			run.Rate = max(run.Rate, unit.BitRate(piece.Float(m[4]))*unit.Mbps)
		case m != nil:
			run.Streams = append(run.Streams, piece.Stream{Rate: unit.BitRate(piece.Float(m[4])) * unit.Mbps, Retransmits: -1})
		case len(text) < 20 || text[4] != '/' || text[7] != '/':
			text = ""
		}
		if text == "" || len(run.Streams) > 1024 {
			break
		}
		read = i + 1
	}
	if run.Rate == 0 {
		for _, st := range run.Streams {
			run.Rate += st.Rate
		}
	}
	run.Parallel = len(run.Streams)
	if run.Rate > 0 {
		s.AddRun(run, lines[:read])
	}
	return read
}
