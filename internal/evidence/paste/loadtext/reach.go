package loadtext

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Reach reads ping, traceroute, tracepath and mtr.
var Reach = piece.Reader{
	Kind:     "ping and traces",
	Commands: []string{"ping", "ping6", "traceroute", "tracepath", "mtr"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "PING "):
			return pingHead.MatchString(text)
		case strings.HasPrefix(text, "Pinging "), strings.HasPrefix(text, "--- ") && strings.HasSuffix(text, "statistics ---"):
			return true
		case strings.HasPrefix(text, "traceroute to "), strings.HasPrefix(text, "traceroute6 to "), strings.HasPrefix(text, "Tracing route to"):
			return true
		case strings.Contains(text, "[LOCALHOST]"), strings.HasPrefix(text, "HOST:") && strings.Contains(text, "Loss%"):
			return true
		case strings.Contains(text, "bytes from ") && strings.Contains(text, "time="):
			return !strings.Contains(text, ": index=") // arping's
		}
		return pingTooLong(text)
	},
	Owns: func(s piece.Segment, line string) bool { // what tail left of it
		text := strings.TrimSpace(line)
		return s.Runs("ping", "ping6") && (pingCount.MatchString(text) || pingTimes.MatchString(text))
	},
	Read: reading(readReach),
}

var pingHead = piece.Compile(`^PING (\S+?)[ (:].*?(\d+)(?:\(\d+\))? (?:bytes of data|data bytes|octets)`)

var pingBSD = piece.Compile(`^PING6?\(?.*?(\S+): (\d+) data bytes`)

var pingWin = piece.Compile(`^Pinging (\S+)(?: \[[^\]]*\])? with (\d+) bytes`)

var pingCount = piece.Compile(`(\d+) packets transmitted, (\d+) (?:packets )?received`)

var pingWinN = piece.Compile(`Sent = (\d+), Received = (\d+)`)

var pingTimes = piece.Compile(`min/avg/max(?:/\w+)? = ([\d.]+)/([\d.]+)/([\d.]+)`)

var pingReply = piece.Compile(`^(?:\d+ bytes from|Reply from) .*time[=<]([\d.]+) ?ms`)

var pingWinTimes = piece.Compile(`Minimum = ([\d.]+)ms, Maximum = ([\d.]+)ms, Average = ([\d.]+)ms`)

var pingMTU = piece.Compile(`(?i)mtu ?[:=]? ?(\d+)`)

var pingOther = piece.Compile(`^(?:--- .* ---$|rtt |round-trip|\d+ bytes from |From \S+ icmp_seq|ping: |Request timed out|Reply from|Packet(?:s:| needs)|Ping statistics|Approximate round|\s*Minimum =|no answer yet|Request timeout for|\d+ packets transmitted|\d+ packets? |pipe \d|error)`)

var traceHop = piece.Compile(`^(\d{1,2})(\??)[:.|\s-]+\s*(\S.*)$`)

var traceAddr = piece.Compile(`\(?((?:\d{1,3}\.){3}\d{1,3}|[0-9a-fA-F]*:[0-9a-fA-F:]+)\)?`)

var traceTime = piece.Compile(`([\d.]+) ?ms`)

var tracePMTU = piece.Compile(`pmtu (\d+)`)

var mtrRow = piece.Compile(`^(\d{1,2})\.(?:\|--)?\s+(\S+)\s+([\d.]+)%?\s+(\d+)\s+([\d.]+)\s+([\d.]+)`)

// pingTooLong reports a line that says that a packet does not fit.
func pingTooLong(text string) bool {
	if len(text) < 12 {
		return false
	}
	low := strings.ToLower(text)
	return strings.Contains(low, "frag needed") || strings.Contains(low, "message too long") || strings.Contains(low, "packet needs to be fragmented") || strings.Contains(low, "packet too big") && strings.Contains(low, "mtu")
}

func readReach(s *sink, lines []piece.Line) int {
	text := strings.TrimSpace(lines[0].Text)
	if strings.HasPrefix(text, "traceroute") || strings.HasPrefix(text, "Tracing route") || strings.Contains(text, "[LOCALHOST]") || strings.HasPrefix(text, "HOST:") {
		return s.trace(lines)
	}
	return s.ping(lines)
}

func (s *sink) ping(lines []piece.Line) (read int) {
	p := piece.Ping{Sent: -1, Received: -1}
	headed, ended, iputils := false, false, false
	var replies []float64
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		m := pingHead.FindStringSubmatch(text)
		if m == nil {
			m = pingBSD.FindStringSubmatch(text)
		}
		if m == nil {
			m = pingWin.FindStringSubmatch(text)
		}
		long := pingTooLong(text)
		if m != nil {
			if headed || ended {
				break // another one
			}
			headed, iputils = true, strings.HasSuffix(text, "bytes of data.")
			p.Target, p.Size = strings.Trim(m[1], "()"), int(max(piece.Whole(m[2]), 0))
		} else if !long && !pingOther.MatchString(text) {
			break
		}
		if long {
			p.TooLong = true
			if size := pingMTU.FindStringSubmatch(text); size != nil && len(size[1]) < 6 {
				p.MTU = int(max(piece.Whole(size[1]), 0))
			}
		}
		if n := pingCount.FindStringSubmatch(text); n != nil {
			p.Sent, p.Received, ended = int(max(piece.Whole(n[1]), 0)), int(max(piece.Whole(n[2]), 0)), true
		} else if n := pingWinN.FindStringSubmatch(text); n != nil {
			p.Sent, p.Received, ended = int(max(piece.Whole(n[1]), 0)), int(max(piece.Whole(n[2]), 0)), true
		}
		if n := pingReply.FindStringSubmatch(text); n != nil && p.MaxMS == 0 {
			replies = append(replies, piece.Float(n[1]))
		}
		if n := pingWinTimes.FindStringSubmatch(text); n != nil {
			p.MinMS, p.MaxMS, p.AvgMS = piece.Float(n[1]), piece.Float(n[2]), piece.Float(n[3])
		}
		if n := pingTimes.FindStringSubmatch(text); n != nil {
			p.MinMS, p.AvgMS, p.MaxMS = piece.Float(n[1]), piece.Float(n[2]), piece.Float(n[3])
		}
		read = i + 1
	}
	if read == 0 {
		return 0
	}
	if p.AvgMS == 0 && len(replies) > 0 { // the end is cut
		p.MinMS, p.MaxMS = slices.Min(replies), slices.Max(replies)
		for _, ms := range replies {
			p.AvgMS += ms / float64(len(replies))
		}
	}
	call := s.CallOf("ping", "ping6")
	// Linux' -D is a time before each line; BSD's forbids to cut the packet.
	p.DontFragment = p.TooLong || call.Value("-M") == "do" || call.Has("-f") && s.windows() || call.Has("-D") && !iputils
	if p.Size == 0 {
		p.Size = max(call.Number("-s"), call.Number("-l"))
	}
	if p.Target == "" && len(call) > 0 {
		p.Target = pingTarget(call)
	}
	p.Source = piece.Span(lines[:read])
	s.Host.Pings = append(s.Host.Pings, p)
	return read
}

// windows reports a command with Windows's options of ping.
// pingTarget is the last word of a command that looks like a name or an address.
func pingTarget(call piece.Call) string {
	for _, w := range slices.Backward(call) {
		if !strings.HasPrefix(w, "-") && strings.ContainsAny(w, ".:") {
			return w
		}
	}
	return ""
}

func (s *sink) windows() bool { return s.CallOf("ping").Value("-l") != "" }

func (s *sink) trace(lines []piece.Line) (read int) {
	t := piece.Trace{}
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if target, ok := cutAny(text, "traceroute to ", "traceroute6 to ", "Tracing route to "); ok {
			if read > 0 {
				break
			}
			t.Target = strings.TrimRight(strings.Fields(target + " -")[0], ",")
			read = i + 1
			continue
		}
		if m := tracePMTU.FindStringSubmatch(text); m != nil && len(m[1]) < 6 {
			t.MTU = int(max(piece.Whole(m[1]), 0))
		}
		hop, known := hopOf(text)
		switch {
		case known:
			t.Add(hop)
		case strings.HasPrefix(text, "HOST:") || strings.HasPrefix(text, "Start:") || strings.HasPrefix(text, "Resume:") || strings.HasPrefix(text, "Too many hops") ||
			strings.HasPrefix(text, "over a maximum") || strings.HasPrefix(text, "Trace complete"):
		default:
			text = ""
		}
		if text == "" {
			break
		}
		read = i + 1
	}
	if read > 0 && len(t.Hops) > 0 {
		t.Source = piece.Span(lines[:read])
		s.Host.Traces = append(s.Host.Traces, t)
	}
	return read
}

func cutAny(text string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(text, p); ok {
			return rest, true
		}
	}
	return "", false
}

// hopOf reads a row of a trace of any of the programs.
func hopOf(text string) (piece.Hop, bool) {
	if m := mtrRow.FindStringSubmatch(text); m != nil {
		return piece.Hop{Number: int(piece.Whole(m[1])), Names: []string{m[2]}, Loss: piece.Float(m[3]), AvgMS: piece.Float(m[6])}, true
	}
	m := traceHop.FindStringSubmatch(text)
	if m == nil {
		return piece.Hop{}, false
	}
	hop := piece.Hop{Number: int(piece.Whole(m[1])), Loss: -1}
	for _, a := range traceAddr.FindAllStringSubmatch(m[3], 8) {
		if !slices.Contains(hop.Names, a[1]) && !strings.HasSuffix(a[1], ":") {
			hop.Names = append(hop.Names, a[1])
		}
	}
	n, total := 0, 0.0
	for _, ms := range traceTime.FindAllStringSubmatch(m[3], 8) {
		n, total = n+1, total+piece.Float(ms[1])
	}
	if n > 0 {
		hop.AvgMS = total / float64(n)
	}
	if len(hop.Names) == 0 {
		switch {
		case strings.Contains(m[3], "*") || strings.Contains(m[3], "no reply") || strings.Contains(m[3], "Request timed out"):
			hop.Names = []string{"*"}
		case strings.Contains(m[3], "[LOCALHOST]"):
			hop.Names = []string{"localhost"}
		case n > 0:
			hop.Names = strings.Fields(m[3])[:1]
		default:
			return piece.Hop{}, false
		}
	}
	return hop, true
}
