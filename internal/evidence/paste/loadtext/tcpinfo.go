package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// TCPInfo reads the kernel's tcp_info as JSON, as ndt7 and M-Lab's tcp-info print it: times
// in microseconds (struct tcp_info, include/uapi/linux/tcp.h).
var TCPInfo = piece.Reader{
	Kind:   "tcp_info",
	Starts: func(line string) bool { return strings.Contains(line, `"TCPInfo":{`) },
	Read:   reading(readTCPInfo),
}

// infoFields are fields of such a document by the names that ss has for them.
var infoFields = map[string]string{"BytesSent": "bytes_sent", "BytesRetrans": "bytes_retrans", "TotalRetrans": "retrans_total", "SndCwnd": "cwnd",
	"SndMSS": "mss", "PMTU": "pmtu", "Reordering": "reordering", "DSackDups": "dsack_dups"}

var infoField = piece.Compile(`"([A-Za-z]+)":(\d+)`)

func readTCPInfo(s *sink, lines []piece.Line) int {
	l := lines[0]
	_, document, _ := strings.Cut(l.Text, `"TCPInfo":{`)
	document, _, _ = strings.Cut(document, "}")
	found := make(map[string]float64)
	info := make(map[string]string)
	for _, m := range infoField.FindAllStringSubmatch(document, -1) {
		found[m[1]] = piece.Float(m[2])
		if name := infoFields[m[1]]; name != "" {
			info[name] = m[2]
		}
	}
	if found["SndMSS"] == 0 || found["RTT"] == 0 {
		return 0
	}
	milli := func(micro float64) string { return strconv.FormatFloat(micro/1000, 'f', -1, 64) }
	info["rtt"] = milli(found["RTT"]) + "/" + milli(found["RTTVar"])
	info["minrtt"] = milli(found["MinRTT"])
	if busy := found["BusyTime"]; busy > 0 {
		info["busy_ms"] = milli(busy)
		for field, name := range map[string]string{"RWndLimited": "rwnd_limited", "SndBufLimited": "sndbuf_limited"} {
			info[name] = strconv.FormatFloat(min(100, 100*found[field]/busy), 'f', 1, 64)
		}
	}
	if strings.Contains(l.Text, `"BBRInfo":{`) {
		info["congestion"] = "bbr"
	}
	one := piece.Socket{State: "ESTAB", Process: piece.NDT7, Info: info, Source: l.Source()}
	if n := len(s.Host.Sockets); n > 0 && s.Host.Sockets[n-1].Process == one.Process {
		s.Host.Sockets[n-1] = one // later of the same connection
	} else {
		s.Host.Sockets = append(s.Host.Sockets, one)
	}
	return 1
}
