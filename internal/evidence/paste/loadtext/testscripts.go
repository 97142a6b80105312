package loadtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// TestScripts reads the calls of iperf in scripts and units that were printed: the
// rates that they hold a test to.
var TestScripts = piece.Reader{
	Kind:     "script",
	Commands: []string{"cat", "grep", "sed", "head", "crontab", "systemctl"},
	Starts:   func(line string) bool { return strings.HasPrefix(line, "#!/") },
	Owns:     func(s piece.Segment, line string) bool { return scriptCall.MatchString(line) },
	Read:     reading(readScript),
}

var scriptCall = piece.Compile(`^\s*(?:\w+=\S+ |exec |ExecStart=|timeout \S+ |nice |sudo |numactl \S+ |taskset -c \S+ )*(?:/[\w/.-]+/)?iperf3?\s+(?:.*\s)?(?:-c|--client)\b`)

func readScript(s *sink, lines []piece.Line) int {
	script := strings.HasPrefix(lines[0].Text, "#!/")
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if !scriptCall.MatchString(text) {
			return script && !s.OthersLine("script", l)
		}
		call := piece.Call(strings.Fields(text))
		for _, option := range [][]string{{"--fq-rate"}, {"-b", "--bitrate", "--bandwidth"}} {
			rate, err := unit.ParseBitRate(call.Value(option...))
			if err == nil && rate > 0 {
				s.Set("script", option[len(option)-1], call.Value(option...), l)
			}
		}
		return true
	})
}

// SocketWords reads what `grep -o` left of ss: a word or two in a line.
var SocketWords = piece.Reader{
	Kind:     "sockets",
	Commands: []string{"ss"},
	Starts:   func(string) bool { return false },
	Owns: func(s piece.Segment, line string) bool {
		text := strings.TrimSpace(line)
		return s.Runs("ss") && (socketWord.MatchString(text) || algorithm[text])
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		one := piece.Socket{State: "ESTAB", Remote: askedRemote(s.CallOf("ss")), Info: make(map[string]string), Source: lines[0].Source()}
		read := piece.EachLine(lines, func(l piece.Line, text string) bool {
			key, _, _ := strings.Cut(strings.ReplaceAll(text, " ", ":"), ":")
			if !socketWord.MatchString(text) && !algorithm[text] || one.Info["last "+key] != "" {
				return false
			}
			infoOf(&one, text)
			one.Info["last "+key] = "read"
			one.To = l.Number
			return true
		})
		for key := range one.Info {
			if strings.HasPrefix(key, "last ") {
				delete(one.Info, key)
			}
		}
		if len(one.Info) > 0 {
			s.Host.Sockets = append(s.Host.Sockets, one)
		}
		return read
	}),
}

var socketWord = piece.Compile(`^(?:rtt|rto|mss|cwnd|ssthresh|retrans|busy|rwnd_limited|sndbuf_limited|app_limited|minrtt|snd_wnd|reordering|delivered_ce|wscale|bytes_sent|bytes_retrans|(?:pacing_rate|delivery_rate|send) [\d.]+[KMG]?bps)(?::\S+|\b\S*)(?: \S+)?$`)
