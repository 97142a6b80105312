package othertext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// RouterOS reads what a MikroTik prints of itself beside its bonds: resources and the
// profile of its cores, queues, counters and rates of ports, what a port negotiated,
// ports of a bridge, firewall rules that concern fasttrack, and ping.
var RouterOS = piece.Reader{
	Kind:     "RouterOS",
	Commands: []string{"system", "tool", "queue", "interface", "ip", "ping", "print", "monitor"},
	Starts: func(line string) bool {
		return rosMark.MatchString(line) || rosColumns.MatchString(line) && !strings.Contains(line, "mode=") || rosProfile.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return rosCommand.MatchString(s.Command) && (strings.HasPrefix(line, "# ") || rosPair.MatchString(line) || rosEntry.MatchString(line) || rosFlags.MatchString(line) || rosLoad.MatchString(line) || rosHead.MatchString(line))
	},
	Read: reading(readRouterOS),
}

var rosCommand = piece.Compile(`^/?(?:system[ /]resource|tool[ /](?:profile|ping)|ping\b|queue[ /](?:simple|tree)|interface[ /](?:ethernet|monitor-traffic|bridge|print)|ip[ /]firewall)`)

var rosMark = piece.Compile(`^\s*(?:(?:uptime|cpu-load|cpu-count|free-memory|total-hdd-space|architecture-name|board-name): \S|(?:driver-[rt]x-(?:byte|packet)s?|rx-(?:fcs-error|align-error|overflow|bytes|bits-per-second|packets-per-second)|tx-(?:drop|bits-per-second|queue-drop)): +[\d.]|sent=\d+ received=\d+ packet-loss=|link-partner-advertising: |status: (?:link-ok|no-link)\b|(?:\d+ +)?(?:[XDI]+ +)?name="?[^"=]+"? (?:target|parent)=|/queue (?:simple|tree)$)`)

var rosColumns = piece.Compile(`^\s*Columns: [A-Z][A-Z0-9, -]+$`)

var rosHead = piece.Compile(`^\s*(?:Columns: |#? *(?:NAME|SEQ|INTERFACE|CPU)\s+[A-Z])`)

var rosProfile = piece.Compile(`^\s*(?:wireguard|networking|management|firewall(?:-mgmt)?|queuing|queue-mgmt|encrypting|ethernet|bridging|routing|unclassified|l2tp|pppoe|ppp|ipsec|wireless|profiling|idle|total|btest|vxlan|eoip|gre|crypto|user-manager|winbox|cpu\d+)\s+(?:all\s+|\d+\s+)?[\d.]+%$`)

var rosUse = piece.Compile(`^(\S+(?: \S+)?)\s+(?:(all|\d+)\s+)?([\d.]+)%$`)

var rosLoad = piece.Compile(`^\s*\d+\s+(cpu\d+)\s+(\d+)%\s+\d+%\s+\d+%$`)

var rosPair = piece.Compile(`^\s*([a-z][a-z0-9]*(?:-[a-z0-9]+)*): ?(.*)$`)

var rosFlags = piece.Compile(`^\s*(?:Flags: |;;; )`)

var rosEntry = piece.Compile(`^\s*(?:(?:\d+|add) +)?(?:[XDIHR]+ +)?(?:;;;|[a-z0-9-]+=)`)

var rosBegin = piece.Compile(`^\s*(?:\d+|add)\s+(?:([XDIHR]+)\s+)?`)

var rosWords = piece.Compile(`([a-z0-9-]+)=("[^"]*"|[^\s"]*)`)

var rosBridgePort = piece.Compile(`^\s*\d+\s+([A-Z]*H[A-Z]*)?\s*([a-zA-Z][\w.+-]*)\s+(\S+)\s+(yes|no)\b`)

var rosPing = piece.Compile(`^\s*\d+\s+([0-9a-fA-F.:]+)\s+(?:(\d+)\s+(\d+)\s+(\S+)(?:\s+(\S.*))?|(\S.*))$`)

var rosPinged = piece.Compile(`sent=(\d+) received=(\d+) packet-loss=\d+%(?: min-rtt=(\S+) avg-rtt=(\S+) max-rtt=(\S+))?`)

// rosReader follows one output.
type rosReader struct {
	s      *sink
	names  []string // of the columns, with their right ends
	ends   []int
	entry  map[string]string
	off    bool
	at     piece.Line
	ping   piece.Ping
	pinged bool
	load   map[string]float64 // by core
}

func readRouterOS(s *sink, lines []piece.Line) int {
	s.Set("host", "os", "routeros", lines[0])
	r := rosReader{s: s, ping: piece.Ping{Sent: -1, Received: -1}, load: make(map[string]float64)}
	if words := strings.Fields(s.Segment.Command); len(words) > 0 { // monitor NAME, monitor-traffic NAME
		for i, w := range words[:len(words)-1] {
			if strings.HasSuffix(w, "monitor") || strings.HasSuffix(w, "monitor-traffic") {
				r.names = strings.Split(strings.Trim(words[i+1], `"`), ",")
			}
		}
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool { return r.line(text, l) })
	r.flush()
	for _, id := range sortedKeys(r.load) {
		s.Host.Cores = append(s.Host.Cores, piece.Core{ID: id, System: r.load[id], Idle: max(100-r.load[id], 0), Source: lines[0].Source()})
	}
	if r.pinged {
		r.ping.Source = piece.Span(lines[:max(read, 1)])
		s.Host.Pings = append(s.Host.Pings, r.ping)
	}
	return read
}

func (r *rosReader) line(text string, l piece.Line) bool {
	s := r.s
	if rosFlags.MatchString(text) || strings.HasPrefix(text, "Columns: ") || rosHead.MatchString(text) || strings.HasPrefix(text, "/queue ") || strings.HasPrefix(text, "# ") && rosCommand.MatchString(s.Segment.Command) {
		return true
	}
	if m := rosPinged.FindStringSubmatch(text); m != nil {
		r.pinged = true
		r.ping.Sent, r.ping.Received = piece.Atoi(m[1]), piece.Atoi(m[2])
		r.ping.MinMS, r.ping.AvgMS, r.ping.MaxMS = rosTime(m[3]), rosTime(m[4]), rosTime(m[5])
		return true
	}
	if m := rosLoad.FindStringSubmatch(text); m != nil {
		r.load[strings.TrimPrefix(m[1], "cpu")] = piece.Float(m[2])
		return true
	}
	if m := rosUse.FindStringSubmatch(text); m != nil && !strings.HasSuffix(m[1], ":") {
		r.use(m, l)
		return true
	}
	if m := rosPair.FindStringSubmatch(l.Text); m != nil && !strings.Contains(m[1], "=") {
		r.flush()
		r.pair(m[1], m[2], l)
		return true
	}
	if m := rosBridgePort.FindStringSubmatch(text); m != nil {
		s.Set("link "+m[2], "hw_offload", piece.YesNo[m[1] != ""], l)
		return true
	}
	if rosWords.MatchString(text) && (rosEntry.MatchString(text) || r.entry != nil) {
		if m := rosBegin.FindStringSubmatch(text); m != nil {
			r.flush()
			r.entry, r.off, r.at = make(map[string]string), strings.Contains(m[1], "X"), l
		}
		if r.entry == nil {
			r.entry, r.at = make(map[string]string), l
		}
		for _, m := range rosWords.FindAllStringSubmatch(text, 64) {
			if r.entry[m[1]] == "" {
				r.entry[m[1]] = strings.Trim(m[2], `"`)
			}
		}
		return true
	}
	if strings.Contains(text, "packet too large") {
		r.ping.TooLong, r.ping.DontFragment = true, true
		return true
	}
	if m := rosPing.FindStringSubmatch(text); m != nil && !strings.Contains(text, "=") {
		r.ping.Target = m[1]
		if strings.Contains(text, "too large") || strings.Contains(text, "fragment") {
			r.ping.TooLong, r.ping.DontFragment = true, true
		}
		if m[2] != "" {
			r.ping.Size = max(piece.Atoi(m[2])-28, 0) // RouterOS counts its headers
		}
		return true
	}
	return false
}

// use reads a row of the profile: what a core does.
func (r *rosReader) use(m []string, l piece.Line) {
	name, core, use := m[1], m[2], piece.Float(m[3])
	if name == "idle" || name == "total" || strings.HasPrefix(name, "cpu") {
		return
	}
	if core != "" && core != "all" {
		r.load[core] += use
	}
	for i, p := range r.s.Host.Processes {
		if p.Name == name {
			r.s.Host.Processes[i].CPU = max(p.CPU, use)
			return
		}
	}
	r.s.Host.Processes = append(r.s.Host.Processes, piece.Process{Name: name, CPU: use, Source: l.Source()})
}

// rosResources are facts of the router itself.
var rosResources = map[string]string{"board-name": "board", "cpu-load": "cpu_load", "cpu-count": "cores", "version": "release_words", "cpu": "cpu"}

// rosPorts are the counters of a port by the facts' names.
var rosPorts = map[string]string{"rx-fcs-error": "rx_crc", "rx-align-error": "rx_frame", "rx-overflow": "rx_overrun", "tx-drop": "drops", "tx-queue-drop": "drops", "tx-queue0-packet": "",
	"driver-rx-packet": "driver_rx_packets", "rx-packet": "rx_packets", "rx-bytes": "rx_bytes", "tx-bytes": "tx_bytes", "rx-pause": "rx_pause", "tx-pause": "tx_pause_sent", "rx-drop": "rx_dropped",
	"rx-error": "rx_errors", "tx-late-collision": "late_collisions", "status": "status", "full-duplex": "full_duplex", "link-partner-advertising": "partner_modes", "advertising": "own_modes",
	"rate": "speed", "rx-bits-per-second": "seen_rx_bps", "tx-bits-per-second": "seen_tx_bps", "rx-drops-per-second": "", "name": ""}

func (r *rosReader) pair(key, value string, l piece.Line) {
	if name, ok := rosResources[key]; ok {
		r.s.SetIf("host", name, strings.TrimSuffix(strings.TrimSpace(value), "%"), l)
		return
	}
	if key == "name" {
		r.columns(value, l)
		return
	}
	fact, known := rosPorts[key]
	if !known || fact == "" {
		return
	}
	for i, cell := range r.cells(value, l) {
		name := r.names[i]
		subject := "port " + name
		switch fact {
		case "seen_rx_bps", "seen_tx_bps":
			if bits := rosBits(strings.TrimSuffix(cell, "bps")); bits >= 0 {
				r.s.Set(subject, fact, strconv.FormatFloat(bits, 'f', 0, 64), l)
			}
		case "speed":
			r.s.SetIf(subject, "speed", piece.Mbits(cell), l)
		case "status", "full_duplex", "partner_modes", "own_modes":
			r.s.SetIf(subject, fact, cell, l)
		default:
			if n := strings.ReplaceAll(cell, " ", ""); piece.Digits.MatchString(n) {
				r.s.Set(subject, fact, n, l)
			}
		}
	}
}

// columns notes the names of a table that lies on its side, each with its right end.
func (r *rosReader) columns(value string, l piece.Line) {
	r.names, r.ends = nil, nil
	at := len(l.Text) - len(value)
	for _, name := range strings.Fields(value) {
		begin := strings.Index(l.Text[at:], name)
		if begin < 0 {
			return
		}
		at += begin + len(name)
		r.names, r.ends = append(r.names, strings.Trim(name, `"`)), append(r.ends, at)
	}
}

// cells are a row's values, one a column: numbers have blanks for their thousands, so
// that the right ends part them.
func (r *rosReader) cells(value string, l piece.Line) []string {
	if len(r.names) < 2 {
		if len(r.names) == 0 {
			return nil
		}
		return []string{strings.TrimSpace(value)}
	}
	if f := strings.Fields(value); len(f) == len(r.names) {
		return f
	}
	if len(r.ends) != len(r.names) {
		return nil
	}
	var out []string
	from := len(l.Text) - len(value)
	for i, end := range r.ends {
		if i == len(r.ends)-1 {
			end = len(l.Text)
		}
		if end > len(l.Text) || from > end || end < len(l.Text) && l.Text[end] != ' ' {
			return nil
		}
		out = append(out, strings.TrimSpace(l.Text[from:end]))
		from = end
	}
	return out
}

// flush notes the entry that was gathered.
func (r *rosReader) flush() {
	e, s, l := r.entry, r.s, r.at
	r.entry = nil
	if e == nil {
		return
	}
	if e["action"] == "fasttrack-connection" {
		s.Set("host", "fasttrack", map[bool]string{true: "off", false: "on"}[r.off], l)
	}
	name := e["name"]
	if name == "" || e["max-limit"] == "" && e["rate"] == "" {
		return
	}
	subject := "queue " + name
	s.Set(subject, "disabled", piece.YesNo[r.off], l)
	for _, key := range []string{"target", "dst", "parent", "packet-mark"} {
		s.SetIf(subject, key, e[key], l)
	}
	for key, fact := range map[string]string{"max-limit": "limit", "rate": "rate", "dropped": "dropped"} {
		if e[key] == "" {
			continue
		}
		up, down, both := strings.Cut(e[key], "/")
		most := rosBits(strings.TrimSuffix(up, "bps"))
		if both {
			down := rosBits(strings.TrimSuffix(down, "bps"))
			s.Set(subject, fact+"_up", strconv.FormatFloat(max(most, 0), 'f', 0, 64), l)
			s.Set(subject, fact+"_down", strconv.FormatFloat(max(down, 0), 'f', 0, 64), l)
			continue
		}
		s.Set(subject, fact+"_down", strconv.FormatFloat(max(most, 0), 'f', 0, 64), l)
	}
}

var rosNumber = piece.Compile(`^([\d. ]+)([kKMG]?)$`)

// rosBits is a number as RouterOS prints it: "500M", "986.1M", "8.1k"; -1 none.
func rosBits(s string) float64 {
	m := rosNumber.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return -1
	}
	return piece.Float(strings.ReplaceAll(m[1], " ", "")) * piece.Decimal[strings.ToUpper(m[2])]
}

var rosTimes = piece.Compile(`(\d+)(us|ms|s)`)

// rosTime is a time such as 6ms380us in milliseconds.
func rosTime(s string) (ms float64) {
	for _, m := range rosTimes.FindAllStringSubmatch(s, 4) {
		ms += piece.Float(m[1]) * map[string]float64{"us": 0.001, "ms": 1, "s": 1000}[m[2]]
	}
	return ms
}
