package paste

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/unit"
)

// iperf3Text reads what iperf3 prints, from 3.0 on, of either side, whole or cut.
var iperf3Text = reader{
	kind:     "iperf3",
	commands: []string{"iperf3"},
	starts: func(line string) bool {
		return iperf3Head.MatchString(line) || iperf3Stream.MatchString(line) || iperf3Row.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "iperf3: error")
	},
	read: readIperf3,
}

var (
	iperf3Head   = regexp.MustCompile(`^\s*(?:Connecting to host (\S+), port \d+|Server listening on \d+|Accepted connection from (\S+), port \d+|iperf 3\.(\S+))`)
	iperf3Stream = regexp.MustCompile(`^\s*\[ *(\d+)\](?:\[[TR]X-[CS]\])? local (\S+) port (\d+) connected to (\S+) port (\d+)`)
	iperf3Row    = regexp.MustCompile(`^\s*\[ *(\d+|SUM)\](\[[TR]X-[CS]\])?\s+([\d.]+)- *([\d.]+) +sec\s+([\d.]+) ([KMGT]?)(?:Bytes|bits)\s+([\d.]+) ([KMGT]?)(bits|Bytes)/sec\s*(.*)$`)
	iperf3Other  = regexp.MustCompile(`^\s*(?:- - -|-----|iperf Done|\[ *ID\]|Test Complete|Reverse mode|Time: |Starting Test|Cookie|TCP MSS|Control connection|CPU Utilization|(?:snd|rcv)_tcp_congestion|Linux |Interval|Summary Results|Read lengths|iperf3: |Accepted connection|Server listening|Connecting to host|iperf 3\.)`)
	retransmits  = regexp.MustCompile(`^(\d+)(?:\s+([\d.]+) ([KMGT]?)Bytes)?\s*(sender)?`)
)

func readIperf3(s *sink, lines []Line) (read int) {
	r := iperf3Reader{run: Run{Tool: "iperf3"}, streams: make(map[string]int)}
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if m := iperf3Stream.FindStringSubmatch(l.Text); m != nil {
			r.stream(m)
		} else if m := iperf3Row.FindStringSubmatch(l.Text); m != nil {
			r.row(m)
		} else if m := iperf3Head.FindStringSubmatch(l.Text); m != nil {
			if (m[1] != "" || m[2] != "") && r.rows > 0 {
				break // another run begins
			}
			if m[3] != "" {
				r.run.Version = "3." + m[3]
			}
			r.server = r.server || m[2] != "" || strings.Contains(text, "Server listening")
		} else if strings.HasPrefix(text, "Reverse mode") {
			r.run.Reverse = true
		} else if !iperf3Other.MatchString(l.Text) {
			break
		}
		read = i + 1
	}
	if read == 0 || len(r.run.Streams)+r.rows == 0 {
		return read
	}
	r.end(s, lines[:read])
	return read
}

// iperf3Reader gathers a run.
type iperf3Reader struct {
	run       Run
	streams   map[string]int // by id
	server    bool
	rows      int
	sums      [3]unit.BitRate // of intervals (the last), of the sender, of the receiver
	intervals []unit.BitRate
}

func (r *iperf3Reader) stream(m []string) {
	at := Stream{Retransmits: -1}
	at.Local, at.Remote = addrPort(m[2], m[3]), addrPort(m[4], m[5])
	r.streams[m[1]] = len(r.run.Streams)
	r.run.Streams = append(r.run.Streams, at)
}

// addrPort is an address with its port; invalid where it is redacted.
func addrPort(addr, port string) netip.AddrPort {
	a, err := netip.ParseAddr(addr)
	n, err2 := strconv.ParseUint(port, 10, 16)
	if err != nil || err2 != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a, uint16(n))
}

var decimal = map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// row reads a row of an interval, or of the end, which says whose it is.
func (r *iperf3Reader) row(m []string) {
	r.rows++
	rate, err := strconv.ParseFloat(m[7], 64)
	from, _ := strconv.ParseFloat(m[3], 64)
	to, _ := strconv.ParseFloat(m[4], 64)
	if err != nil || to < from {
		return
	}
	bits := unit.BitRate(rate * decimal[m[8]])
	if m[9] == "Bytes" {
		bits *= 8
	}
	rest := m[10]
	end := strings.HasSuffix(rest, "receiver") || strings.HasSuffix(rest, "sender")
	if strings.Contains(m[2], "RX-C") || strings.Contains(m[2], "TX-S") {
		r.run.Both = true
	}
	sum := m[1] == "SUM"
	if !end {
		if strings.Contains(rest, "omitted") {
			return
		}
		if sum || len(r.run.Streams) <= 1 {
			r.intervals = append(r.intervals, bits)
		}
		return
	}
	r.run.Seconds = max(r.run.Seconds, to-from)
	which := 1
	if strings.HasSuffix(rest, "receiver") {
		which = 2
	}
	if sum {
		r.sums[which] = bits
		return
	}
	n, known := r.streams[m[1]]
	if !known {
		r.run.Streams = append(r.run.Streams, Stream{Retransmits: -1})
		n = len(r.run.Streams) - 1
		r.streams[m[1]] = n
	}
	st := &r.run.Streams[n]
	if which == 2 || st.Rate == 0 {
		st.Rate = bits
	}
	if t := retransmits.FindStringSubmatch(rest); t != nil && which == 1 {
		st.Retransmits, _ = strconv.Atoi(t[1])
	}
}

// end fills in the sum, and adds the run to the case.
func (r *iperf3Reader) end(s *sink, lines []Line) {
	run := r.run
	run.Source = span(lines)
	switch {
	case r.sums[2] > 0:
		run.Rate = r.sums[2]
	case r.sums[1] > 0:
		run.Rate = r.sums[1]
	default:
		for _, st := range run.Streams {
			run.Rate += st.Rate
		}
	}
	run.Intervals = len(r.intervals)
	for _, rate := range r.intervals {
		if rate == 0 {
			run.Stalled++
		}
	}
	if run.Rate == 0 && len(r.intervals) > 1 { // cut before its end
		for _, rate := range r.intervals[1:] {
			run.Rate += rate / unit.BitRate(len(r.intervals)-1)
		}
	}
	if r.server {
		run.Server = s.segment.Host
	} else {
		run.Client = s.segment.Host
	}
	if v, ok := s.host.Get("host", "iperf3_version"); ok && run.Version == "" {
		run.Version = v.Text
	}
	s.c.Runs = append(s.c.Runs, run)
}
