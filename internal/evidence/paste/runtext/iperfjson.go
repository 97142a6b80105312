package runtext

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/paste/hostid"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// IperfJSON reads a document of iperf3 -J that stands within a text, cut or not.
var IperfJSON = piece.Reader{
	Kind:     "iperf3 JSON",
	Commands: []string{"iperf3"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return text == "{" || strings.HasPrefix(text, `{"start"`) || strings.HasPrefix(text, `{"event"`) || strings.HasPrefix(text, "{") && strings.Contains(text, `"start":`)
	},
	Read: reading(readIPerfJSON),
}

var jsonVersion = piece.Compile(`"version"\s*:\s*"iperf (\d[\w.+-]*)`)

func readIPerfJSON(s *sink, lines []piece.Line) int {
	head := ""
	for _, l := range lines[:min(len(lines), 6)] { // a look at all that follows is dear
		head += l.Text
	}
	if !strings.Contains(head, `"start"`) && !strings.Contains(head, `"event"`) {
		return 0
	}
	n, text := jsonText(lines)
	if !strings.Contains(text, `"start"`) || !strings.Contains(text, `"iperf 3`) && !strings.Contains(text, `"intervals"`) {
		return 0
	}
	found, err := resultfile.Read([]byte(text))
	if err != nil {
		return 0
	}
	version := ""
	if m := jsonVersion.FindStringSubmatch(text); m != nil {
		version = m[1]
	}
	if found.Environment.Kernel != "" {
		hostid.Release(s.Sink, found.Environment.Kernel, lines[0])
	}
	server := strings.Contains(text, `"accepted_connection"`) && !strings.Contains(text, `"connecting_to"`)
	for _, t := range found.Trials {
		s.AddRun(s.runOf(t, version, server), lines[:n])
	}
	for _, f := range found.Failures {
		run := piece.NewRun("iperf3")
		run.Version, run.Client, run.Error = version, s.Segment.Host, strings.TrimPrefix(f.Error, "iperf3: ")
		s.AddRun(run, lines[:n])
	}
	return n
}

// jsonText is the text from a brace to the one that closes it, or to the end, and how
// many lines that are; of a stream of events, all of them.
func jsonText(lines []piece.Line) (int, string) {
	var text bytes.Buffer
	depth, quoted, escaped := 0, false, false
	events := strings.HasPrefix(strings.TrimSpace(lines[0].Text), `{"event"`)
	for i, l := range lines {
		if depth == 0 && i > 0 && (!events || !strings.HasPrefix(strings.TrimSpace(l.Text), "{")) {
			return i, text.String()
		}
		if line := strings.TrimSpace(l.Text); line != "" && !strings.ContainsRune(`"{}[]-0123456789tfn,`, rune(line[0])) {
			return i, strings.TrimSuffix(text.String(), "\n") // cut off before this line
		}
		quoted = false // no string of iperf3's spans lines
		for at := range len(l.Text) {
			switch c := l.Text[at]; {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				quoted = !quoted
			case !quoted && c == '{':
				depth++
			case !quoted && c == '}':
				depth--
			}
		}
		text.WriteString(l.Text)
		text.WriteByte('\n')
	}
	return len(lines), strings.TrimSuffix(text.String(), "\n")
}

// runOf is a record's trial as a run.
func (s *sink) runOf(t record.Trial, version string, server bool) piece.Run {
	run := piece.NewRun("iperf3")
	run.Version, run.ServerText = version, server
	if server {
		run.Server = s.Segment.Host
	} else {
		run.Client = s.Segment.Host
		run.Remark("target", t.To)
	}
	run.Both, run.Reverse, run.UDP = t.Direction == flow.Both, t.Direction == flow.Reverse, t.Protocol == "udp"
	run.Parallel, run.Rate, run.Seconds, run.Congestion = t.Streams, t.Goodput, t.Window, t.Congest
	if run.Both {
		run.Back = t.Reverse
	}
	run.Series, run.Intervals = t.Blocks, len(t.Blocks)
	for _, rate := range t.Blocks {
		if rate == 0 {
			run.Stalled++
		}
	}
	if t.UDP != nil {
		run.Lost, run.Datagrams, run.JitterMS = int64(min(t.UDP.Lost, 1<<62)), int64(min(t.UDP.Sent, 1<<62)), t.UDP.JitterMS
	}
	if t.RateLimit > 0 && t.Streams > 0 && len(t.Lanes) > 0 {
		run.Target = t.RateLimit / unit.BitRate(t.Streams)
	}
	for _, l := range t.Lanes {
		// A lane goes from the sender; the printing side's address stands first.
		local, remote := netip.AddrPortFrom(l.Src, l.Sport), netip.AddrPortFrom(l.Dst, l.Dport)
		if (l.Way == flow.Reverse) != server {
			local, remote = remote, local
		}
		st := piece.Stream{Local: local, Remote: remote, Rate: l.Goodput, Retransmits: -1, Reverse: l.Way == flow.Reverse}
		if !run.UDP {
			st.Retransmits = int(min(l.Retransmits, 1<<40))
			run.Retransmits = max(run.Retransmits, 0) + st.Retransmits
		}
		run.MSS = max(run.MSS, l.TCP.SndMSS)
		run.Streams = append(run.Streams, st)
	}
	return run
}
