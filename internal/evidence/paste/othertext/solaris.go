package othertext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Solaris reads dladm, ipadm and the routes of netstat of Solaris and illumos.
var Solaris = piece.Reader{
	Kind:     "dladm and ipadm",
	Commands: []string{"dladm", "ipadm", "netstat"},
	Starts:   func(line string) bool { return solarisHead(line) != "" },
	Read: reading(func(s *sink, lines []piece.Line) int {
		s.OfSystem("solaris", lines[0])
		var columns []string
		table := ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if kind := solarisHead(l.Text); kind != "" {
				table, columns = kind, strings.Fields(text)
				return true
			}
			f := strings.Fields(text)
			switch {
			case solarisRule.MatchString(text):
			case table == "routes":
				return len(f) >= 5 && s.solarisRoute(f, l)
			case strings.HasPrefix(l.Text, "            "): // the rest of a list
			case len(f) < 2 || len(f) > len(columns)+2:
				return false
			default:
				return s.solarisRow(table, columns, f, l)
			}
			return true
		})
	}),
}

var solarisRule = piece.Compile(`^[- ]+$`)

// solarisHeads are the tables' first columns.
var solarisHeads = []struct{ begin, with, table string }{
	{"PROTO PROPERTY", "CURRENT", "property"}, {"ADDROBJ", "ADDR", "address"}, {"LINK", "IPACKETS", "counters"}, {"LINK", "MEDIA", "physical"},
	{"LINK", "ADDRPOLICY", "aggregate"}, {"LINK", "PORTSTATE", "ports"}, {"LINK", "AGGREGATABLE", "lacp"}, {"LINK", "PROPERTY", "property of link"}, {"LINK", "MACADDRTYPE", "virtual"},
	{"LINK", "CLASS", "link"}, {"Destination", "Gateway", "routes"}, {"Routing Table: IPv4", "", "title"}, {"Routing Table: IPv6", "", "title"},
}

// solarisHead is the table whose first line this is; "" none. Its routes have a
// column "Ref" and none "MSS", as others' have.
func solarisHead(line string) string {
	if first := strings.TrimSpace(line); first == "" || !strings.Contains("PALDR", first[:1]) {
		return ""
	}
	text := strings.Join(strings.Fields(line), " ")
	for _, h := range solarisHeads {
		if strings.HasPrefix(text, h.begin) && strings.Contains(text, h.with) {
			if h.table == "routes" && !(strings.Contains(text, "Flags Ref Use Interface") && strings.HasPrefix(strings.TrimSpace(line), "Destination  ")) {
				continue
			}
			return h.table
		}
	}
	return ""
}

// solarisColumns are columns as facts of a link.
var solarisColumns = map[string]string{"SPEED": "speed", "DUPLEX": "duplex", "STATE": "state", "RBYTES": "rx_bytes", "OBYTES": "tx_bytes", "IPACKETS": "rx_packets",
	"OPACKETS": "tx_packets", "IERRORS": "rx_errors", "OERRORS": "tx_errors", "POLICY": "aggr_policy", "MODE": "aggr_mode", "LACPACTIVITY": "lacp_activity",
	"SYNC": "aggr_sync", "COLL": "aggr_collecting", "DIST": "aggr_distributing", "DEFAULTED": "aggr_defaulted", "PORTSTATE": "aggr_state", "DEVICE": "device"}

func (s *sink) solarisRow(table string, columns, f []string, l piece.Line) bool {
	if table == "title" {
		return false
	}
	value := make(map[string]string)
	for i, c := range columns {
		if i < len(f) && f[i] != "--" {
			value[c] = f[i]
		}
	}
	switch table {
	case "property":
		if value["PROTO"] == "" || value["PROPERTY"] == "" {
			return false
		}
		s.SetIf("property "+value["PROTO"], value["PROPERTY"], value["CURRENT"], l)
		return true
	case "address":
		name, _, ok := strings.Cut(value["ADDROBJ"], "/")
		if !ok {
			return false
		}
		s.SetIf("link "+name, "address "+value["ADDR"], "inet", l)
		return true
	}
	link := value["LINK"]
	if link == "" {
		link = s.lastAggregate()
	}
	if link == "" {
		return false
	}
	if port := value["PORT"]; port != "" && (table == "ports" || table == "lacp") {
		if port == "--" {
			return true
		}
		s.Port(link, port, l)
		s.Set("link "+link, "kind", "aggr", l)
		link = port
	}
	if table == "aggregate" {
		s.Set("link "+link, "kind", "aggr", l)
	}
	if table == "virtual" {
		if id := value["VID"]; id == "" || id == "0" {
			s.SetIf("link "+link, "below", value["OVER"], l)
		}
		return true
	}
	for _, c := range columns {
		if key := solarisColumns[c]; key != "" {
			s.SetIf("link "+link, key, strings.TrimSuffix(value[c], "Mb"), l)
		}
	}
	return true
}

// lastAggregate is the aggregation whose ports follow: rows behind its first say "--".
func (s *sink) lastAggregate() string {
	name, line := "", 0
	for _, link := range s.Host.Subjects("link") {
		if x, ok := s.Host.Get("link "+link, "kind"); ok && x.Text == "aggr" && x.To >= line {
			name, line = link, x.To
		}
	}
	return name
}

// solarisRoute notes a route with its interface.
func (s *sink) solarisRoute(f []string, l piece.Line) bool {
	if strings.HasPrefix(f[0], "-") {
		return true
	}
	if strings.Trim(f[2], "UGHDSACMRBL") != "" {
		return false
	}
	if len(f) > 5 {
		s.SetIf("route "+f[0]+" "+f[1], "link", f[5], l)
		s.SetIf("route "+f[0]+" "+f[1], "use", f[4], l)
	}
	return true
}

// AIXOptions reads `no -o` and `no -a` of AIX, and the socket options that ifconfig
// prints below an interface.
var AIXOptions = piece.Reader{
	Kind:     "no",
	Commands: []string{"no"},
	Starts: func(line string) bool {
		return strings.Contains(line, " = ") && aixOption.MatchString(strings.TrimSpace(line)) || strings.Contains(line, "tcp_sendspace") && aixSpaces.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		link := ""
		for _, l := range s.Segment.Lines {
			if m := aixInterface.FindStringSubmatch(l.Text); m != nil && l.Number < lines[0].Number {
				link = m[1]
			}
		}
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := aixOption.FindStringSubmatch(text); m != nil {
				s.Set("no", m[1], m[2], l)
				return true
			}
			f := strings.Fields(text)
			if !aixSpaces.MatchString(l.Text) || link == "" {
				return false
			}
			for i := 0; i+1 < len(f); i += 2 {
				s.Set("link "+link, f[i], f[i+1], l)
			}
			return true
		})
	}),
}

var aixOption = piece.Compile(`^(tcp_sendspace|tcp_recvspace|rfc1323|sb_max|use_isno|udp_sendspace|udp_recvspace|tcp_nodelayack|sack|ipforwarding) = (\d+)$`)

var aixInterface = piece.Compile(`^(en\d+|et\d+): flags=`)

var aixSpaces = piece.Compile(`^\s+tcp_sendspace \d+ tcp_recvspace \d+`)
