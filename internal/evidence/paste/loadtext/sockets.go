package loadtext

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Sockets reads ss with -i or without, netstat -tn, and the list of esxcli, which has
// the same columns.
var Sockets = piece.Reader{
	Kind:     "sockets",
	Commands: []string{"ss", "netstat"},
	Starts: func(line string) bool {
		switch {
		case strings.Contains(line, "Recv-Q") && strings.Contains(line, "Send-Q"):
			return true
		case strings.Contains(line, "cwnd:") || strings.Contains(line, "wscale:") || strings.Contains(line, " rto:"):
			return tcpInfo(line)
		}
		return strings.Count(line, ":") >= 2 && socketRow(line) != nil
	},
	Read: reading(readSockets),
}

var tcpStates = piece.Words("ESTAB SYN-SENT SYN-RECV FIN-WAIT-1 FIN-WAIT-2 TIME-WAIT CLOSE-WAIT LAST-ACK LISTEN CLOSING UNCONN ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE_WAIT LAST_ACK")

var netIDs = piece.Words("tcp tcp4 tcp6 mptcp udp udp4 udp6 sctp")

var algorithm = piece.Words("cubic bbr bbr2 bbr3 reno dctcp htcp vegas westwood bic scalable illinois yeah veno hybla lp cdg nv newreno")

var limited = piece.Compile(`^(\d+)ms(?:\(([\d.]+)%\))?$`)

var bitsRate = piece.Compile(`^([\d.]+)([KMGT]?)bps$`)

var userName = piece.Compile(`users:\(\("([^"]+)"`)

var services = map[string]string{"nfs": "2049", "ssh": "22", "http": "80", "https": "443", "microsoft-ds": "445", "iscsi-target": "3260", "commplex-link": "5001", "rsync": "873"}

// tcpInfo reports the row of tokens that stands below a socket's.
func tcpInfo(line string) bool {
	n := 0
	for _, mark := range []string{" rto:", " rtt:", "mss:", "cwnd:", "wscale:", "bytes_acked:", "segs_out:"} {
		if strings.Contains(line, mark) {
			n++
		}
	}
	return n >= 3
}

// socketRow reads a row of a list; nil for another line.
func socketRow(line string) *piece.Socket {
	f := strings.Fields(line)
	if len(f) > 0 && netIDs[f[0]] {
		f = f[1:]
	}
	state := ""
	if len(f) > 0 && tcpStates[f[0]] {
		state, f = f[0], f[1:]
	}
	if len(f) < 4 || piece.Whole(f[0]) < 0 || piece.Whole(f[1]) < 0 {
		return nil
	}
	local, ok := endpointOf(f[2])
	remote, ok2 := endpointOf(f[3])
	if !ok || !ok2 {
		return nil
	}
	if state == "" && len(f) > 4 && tcpStates[f[4]] {
		state = f[4]
	}
	s := &piece.Socket{Local: local, Remote: remote, State: state, RecvQ: piece.Whole(f[0]), SendQ: piece.Whole(f[1]), Info: make(map[string]string)}
	if m := userName.FindStringSubmatch(line); m != nil {
		s.Process = m[1]
	}
	return s
}

// endpointOf is an address with a port as lists print it: 192.0.2.1%eth0:22,
// [::1]:22, *:22, ::1:22. A wild one is valid and has no address.
func endpointOf(text string) (netip.AddrPort, bool) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return netip.AddrPort{}, false
	}
	addr, port := strings.Trim(text[:at], "[]"), text[at+1:]
	if name, ok := services[port]; ok {
		port = name
	}
	if port != "*" && piece.Whole(port) < 0 {
		return netip.AddrPort{}, false
	}
	if addr == "*" || addr == "" {
		return netip.AddrPort{}, true
	}
	if cut := strings.IndexByte(addr, '%'); cut >= 0 {
		addr = addr[:cut]
	}
	a, err := netip.ParseAddr(strings.Trim(addr, "[]"))
	if err != nil {
		return netip.AddrPort{}, false
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	return netip.AddrPortFrom(a.Unmap(), uint16(n)), true
}

func readSockets(s *sink, lines []piece.Line) (read int) {
	last := -1 // the socket that tokens belong to
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		row := socketRow(text)
		switch {
		case row != nil:
			row.Source = l.Source()
			s.Host.Sockets = append(s.Host.Sockets, *row)
			last = len(s.Host.Sockets) - 1
			if tcpInfo(text) { // -O
				infoOf(&s.Host.Sockets[last], text)
			}
		case tcpInfo(text):
			if last < 0 {
				s.Host.Sockets = append(s.Host.Sockets, piece.Socket{State: "ESTAB", Remote: askedRemote(s.CallOf("ss")), Info: make(map[string]string), Source: l.Source()})
				last = len(s.Host.Sockets) - 1
			}
			infoOf(&s.Host.Sockets[last], text)
			s.Host.Sockets[last].To = l.Number
			last = -1
		case strings.Contains(text, "Recv-Q") && strings.Contains(text, "Send-Q"), strings.HasPrefix(text, "Active Internet connections"),
			strings.HasPrefix(text, "skmem:"):
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// askedRemote is the far end that a filter of ss names; invalid where it names none or
// several.
func askedRemote(c piece.Call) netip.AddrPort {
	addr, port := c.Value("dst"), "0"
	for _, w := range c {
		if rest, ok := strings.CutPrefix(w, ":"); ok && piece.Whole(rest) > 0 {
			port = rest
		}
	}
	if a, p, ok := strings.Cut(addr, ":"); ok && piece.Whole(p) > 0 {
		addr, port = a, p
	}
	return piece.AddrPort(strings.Trim(addr, `"'`), port)
}

// infoOf reads the tokens of ss -i, which are tcp_info's fields.
func infoOf(s *piece.Socket, text string) {
	f := strings.Fields(text)
	for i := 0; i < len(f); i++ {
		key, value, pair := strings.Cut(f[i], ":")
		if !pair {
			next := ""
			if i+1 < len(f) {
				next = f[i+1]
			}
			switch {
			case algorithm[f[i]]:
				s.Info["congestion"] = f[i]
			case f[i] == "ecnseen":
				s.Info["ecnseen"] = "yes"
			case f[i] == "app_limited":
				s.Info["app_limited"] = "yes"
			case strings.HasPrefix(f[i], "tcp-ulp-mptcp"):
				s.Info["mptcp"] = "yes"
			case bitsRate.MatchString(strings.Split(next, "/")[0]):
				s.Info[map[string]string{"send": "send_bps", "pacing_rate": "pacing_bps", "delivery_rate": "delivery_bps"}[f[i]]] = bitsText(strings.Split(next, "/")[0])
				if _, most, ok := strings.Cut(next, "/"); ok && f[i] == "pacing_rate" && bitsRate.MatchString(most) {
					s.Info["max_pacing_bps"] = bitsText(most) // SO_MAX_PACING_RATE: printed only where the program set it
				}
				i++
			}
			continue
		}
		switch key {
		case "rwnd_limited", "sndbuf_limited":
			if m := limited.FindStringSubmatch(value); m != nil {
				s.Info[key] = m[2]
				if m[2] == "" {
					s.Info[key+"_ms"] = m[1]
					delete(s.Info, key)
				}
			}
		case "busy":
			s.Info["busy_ms"] = strings.TrimSuffix(value, "ms")
		case "retrans":
			if now, total, ok := strings.Cut(value, "/"); ok {
				s.Info["retrans_now"], s.Info["retrans_total"] = now, total
			}
		case "users", "timer", "ino", "sk", "cgroup", "uid":
		default:
			if value != "" && len(key) < 24 {
				s.Info[key] = value
			}
		}
	}
	delete(s.Info, "")
}

// bitsText is a rate such as 9.4Gbps in bits a second.
func bitsText(text string) string {
	m := bitsRate.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strconv.FormatInt(int64(piece.Float(m[1])*piece.Decimal[m[2]]), 10)
}
