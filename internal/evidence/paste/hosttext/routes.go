package hosttext

import (
	"net/netip"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
)

// IPRoute reads `ip route`, of one table or all, -d or not, and `ip route get`.
var IPRoute = piece.Reader{
	Kind:     "ip route",
	Commands: []string{"ip"},
	Starts:   func(line string) bool { return isRoute(line) || onlyDestination(line) },
	Read:     reading(readRoutes),
}

// onlyDestination reports a row that has nothing but a prefix: its next hops stand below.
func onlyDestination(line string) bool {
	text := strings.TrimSpace(line)
	if text != "default" && !strings.Contains(text, "/") || strings.ContainsAny(text, " \t") {
		return false
	}
	_, ok := destination(text, false)
	return ok
}

// hopFollows reports that the next line is a next hop.
func hopFollows(rest []piece.Line) bool {
	if len(rest) == 0 {
		return false
	}
	f := strings.Fields(rest[0].Text)
	return len(f) > 2 && f[0] == "nexthop" && (f[1] == "via" || f[1] == "dev")
}

// IPRule reads `ip rule`.
var IPRule = piece.Reader{Kind: "ip rule", Commands: []string{"ip"}, Starts: ruleRow.MatchString, Read: reading(readRules)}

// RouteTable reads `route -n` and `netstat -rn`.
var RouteTable = piece.Reader{
	Kind:     "route",
	Commands: []string{"route", "netstat"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "Kernel IP routing table") || strings.HasPrefix(line, "Destination") && strings.Contains(line, "Gateway") || routeRow.MatchString(line)
	},
	Read: reading(readRouteTable),
}

var routeTypes = piece.Words("unicast local broadcast multicast anycast throw unreachable prohibit blackhole nat")

var routeSecond = piece.Words("via dev proto nhid metric scope src table from onlink encap nexthop mtu error")

var ruleRow = piece.Compile(`^\s*(\d+):\s+(not )?from (\S+)(?:\s+(.*))?$`)

var routeRow = piece.Compile(`^(0\.0\.0\.0|default|[\d.]+)\s+(\*|\S*[.]\S*)\s+([\d.]+)\s+([UGHRDMAC!]+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)$`)

// isRoute reports a row of a route: a destination and one of ip's words behind it.
func isRoute(line string) bool {
	f := strings.Fields(line)
	if len(f) > 0 && routeTypes[f[0]] {
		if f = f[1:]; len(f) == 1 {
			_, ok := destination(f[0], false)
			return ok
		}
	}
	if len(f) < 2 || strings.HasSuffix(line, ":") {
		return false
	}
	if _, ok := destination(f[0], false); !ok || !routeSecond[f[1]] {
		return f[0] == "nexthop" && (f[1] == "via" || f[1] == "dev")
	}
	return !neighbourRow(f)
}

// destination is a route's prefix; the default's family is the gateway's.
func destination(word string, six bool) (netip.Prefix, bool) {
	if word == "default" {
		if six {
			return netip.PrefixFrom(netip.IPv6Unspecified(), 0), true
		}
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0), true
	}
	if p, err := netip.ParsePrefix(word); err == nil {
		return p, true
	}
	a, err := netip.ParseAddr(word)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

func readRoutes(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		f := strings.Fields(text)
		switch {
		case text == "":
			continue
		case f[0] == "nexthop" && len(f) > 2:
			if read == 0 {
				return 0 // the route's first line was cut off
			}
			s.hop(f[1:])
			s.Host.Routes[len(s.Host.Routes)-1].To = l.Number
		case f[0] == "cache" && read > 0:
		case onlyDestination(l.Text) && hopFollows(lines[i+1:]):
			if !s.route(f, l) {
				return read
			}
		case !isRoute(l.Text):
			return read
		case s.got(f):
			s.path(f, l)
		default:
			if !s.route(f, l) {
				return read
			}
		}
		read = i + 1
	}
	return read
}

// got reports an answer of `ip route get`.
func (s *sink) got(f []string) bool {
	for _, w := range f {
		if w == "uid" || w == "cache" {
			return true
		}
	}
	return strings.Contains(s.Segment.Command, " get ") && !strings.Contains(f[0], "/") && f[0] != "default"
}

// path is the answer of `ip route get` to one destination.
func (s *sink) path(f []string, l piece.Line) {
	if routeTypes[f[0]] {
		f = f[1:]
	}
	if len(f) == 0 {
		return
	}
	s.pairs("path "+f[0], f[1:], piece.Words("from via dev src table"), l)
}

// route adds a route; false for a row that is none.
func (s *sink) route(f []string, l piece.Line) bool {
	r := piece.Route{Source: l.Source()}
	if routeTypes[f[0]] {
		if f[0] != "unicast" {
			r.Type = f[0]
		}
		f = f[1:]
	}
	if len(f) == 0 {
		return false
	}
	six := strings.Contains(s.Segment.Command, "-6")
	for i := 1; i+1 < len(f); i++ {
		if f[i] == "pref" || f[i] == "via" && strings.Contains(f[i+1], ":") {
			six = true
		}
	}
	dst, ok := destination(f[0], six)
	if !ok {
		return false
	}
	r.Dst, r.Table = dst, s.tableOf()
	if r.Type == "local" || r.Type == "broadcast" || r.Type == "multicast" || r.Type == "anycast" {
		r.Table = piece.Tables["local"]
	}
	at := len(f)
	for i := 1; i < len(f); i++ {
		if f[i] == "nexthop" {
			at = i
			break
		}
	}
	r.Words(f[1:at])
	s.Host.Routes = append(s.Host.Routes, r)
	for at < len(f) { // -o, or joined lines
		end := at + 1
		for end < len(f) && f[end] != "nexthop" {
			end++
		}
		s.hop(f[at+1 : end])
		at = end
	}
	return true
}

// tableOf is the table that the command asks for, the main one otherwise.
func (s *sink) tableOf() int {
	f := strings.Fields(s.Segment.Command)
	for i := 0; i+1 < len(f); i++ {
		if f[i] == "table" || f[i] == "t" && strings.Contains(s.Segment.Command, "show t") {
			if n, ok := piece.Tables[f[i+1]]; ok {
				return n
			}
			if n := piece.Atoi(f[i+1]); n > 0 {
				return n
			}
			if f[i+1] != "all" {
				return 0 // a table of a name that only the host knows
			}
		}
	}
	return piece.Tables["main"]
}

// hop adds a next hop to the route that was read last.
func (s *sink) hop(f []string) {
	if len(s.Host.Routes) == 0 {
		return
	}
	r := &s.Host.Routes[len(s.Host.Routes)-1]
	var hop netstate.NextHop
	for i := 0; i < len(f); i++ {
		switch f[i] {
		case "onlink":
			hop.OnLink = true
		case "dead", "linkdown":
			hop.Dead = true
		}
		if i+1 == len(f) {
			break
		}
		switch f[i] {
		case "via":
			if f[i+1] == "inet6" && i+2 < len(f) {
				i++
			}
			hop.Gateway, _ = netip.ParseAddr(f[i+1])
		case "dev":
			hop.Link = f[i+1]
		case "weight":
			hop.Weight = max(piece.Atoi(f[i+1]), 0)
		}
	}
	if r.Dst.Bits() == 0 && hop.Gateway.Is6() && r.Dst.Addr().Is4() && len(r.Hops) == 0 && r.Gateway == (netip.Addr{}) && !strings.Contains(s.Segment.Command, "-4") {
		r.Dst, _ = destination("default", true)
	}
	r.Hops = append(r.Hops, hop)
}

func readRules(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		if strings.TrimSpace(l.Text) == "" {
			continue
		}
		m := ruleRow.FindStringSubmatch(l.Text)
		if m == nil {
			return read
		}
		r := piece.Rule{Source: l.Source()}
		r.Priority = piece.Atoi(m[1])
		r.Rule.From, _ = destination(m[3], false)
		if strings.Contains(s.Segment.Command, "-6") {
			r.Family = "ipv6"
		}
		var selectors []string
		if m[2] != "" {
			selectors = append(selectors, "not")
		}
		f := strings.Fields(m[4])
		for j := 0; j < len(f); j++ {
			value := ""
			if j+1 < len(f) {
				value = f[j+1]
			}
			switch f[j] {
			case "to":
				r.Rule.To, _ = destination(value, false)
			case "lookup", "table":
				if n, ok := piece.Tables[value]; ok {
					r.Table = n
				} else if r.Table = max(piece.Atoi(value), 0); r.Table == 0 {
					r.TableName = value
				}
			case "proto":
				r.Protocol = value
			case "goto":
				r.Action, r.Goto = "goto", max(piece.Atoi(value), 0)
			case "blackhole", "unreachable", "prohibit", "nop":
				r.Action = f[j]
				continue
			default:
				selectors = append(selectors, f[j])
				continue
			}
			j++
		}
		r.Selectors = strings.Join(selectors, " ")
		s.Host.Rules = append(s.Host.Rules, r)
		read = i + 1
	}
	return read
}

func readRouteTable(s *sink, lines []piece.Line) (read int) {
	metric, bsd := true, false
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		switch m := routeRow.FindStringSubmatch(text); {
		case text == "":
			continue
		case strings.HasPrefix(text, "Destination") && strings.Contains(text, "Gateway"):
			metric, bsd = strings.Contains(text, "Metric"), strings.Contains(text, "Netif")
		case strings.HasPrefix(text, "Kernel IP routing table") || text == "Routing tables" || text == "Internet:" || text == "Internet6:":
		case m != nil:
			s.tableRow(m, metric, l)
		case bsd && s.bsdRoute(strings.Fields(text), l):
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// tableRow reads a row of net-tools.
func (s *sink) tableRow(m []string, metric bool, l piece.Line) {
	dst := m[1]
	if dst == "default" {
		dst = "0.0.0.0"
	}
	a, err := netip.ParseAddr(dst)
	mask, ok := maskBits(m[3])
	if err != nil || !ok {
		return
	}
	r := piece.Route{Source: l.Source()}
	r.Dst, r.Link, r.Table = netip.PrefixFrom(a, mask), m[8], piece.Tables["main"]
	if strings.Contains(m[4], "G") {
		r.Gateway, _ = netip.ParseAddr(m[2])
	}
	if metric {
		r.Metric = max(piece.Atoi(m[5]), 0)
	}
	if strings.Contains(m[4], "!") {
		r.Type = "unreachable"
	}
	s.Host.Routes = append(s.Host.Routes, r)
}

// bsdRoute reads destination, gateway, flags and interface; false for another row.
func (s *sink) bsdRoute(f []string, l piece.Line) bool {
	if len(f) < 4 || f[2] == "" || strings.Trim(f[2], "UGHSRBCLWDMcbX123") != "" {
		return false
	}
	six := strings.Contains(f[1], ":")
	bare, _, _ := strings.Cut(f[0], "%")
	dst, ok := destination(bare, six)
	r := piece.Route{Source: l.Source()}
	r.Dst, r.Link = dst, f[3]
	r.Gateway, _ = netip.ParseAddr(f[1])
	if ok {
		s.Host.Routes = append(s.Host.Routes, r)
	}
	return true
}

// maskBits is the length of a prefix that a mask stands for: dotted, or in BSD's
// hexadecimal.
func maskBits(text string) (int, bool) {
	var b [4]byte
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		if len(hex) != 8 {
			return 0, false
		}
		for i := range b {
			hi, lo := strings.IndexByte("0123456789abcdef", hex[2*i]), strings.IndexByte("0123456789abcdef", hex[2*i+1])
			if hi < 0 || lo < 0 {
				return 0, false
			}
			b[i] = byte(hi<<4 | lo)
		}
	} else {
		a, err := netip.ParseAddr(text)
		if err != nil || !a.Is4() {
			return 0, false
		}
		b = a.As4()
	}
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	bits := 0
	for n&(1<<31) != 0 {
		bits, n = bits+1, n<<1
	}
	return bits, n == 0
}
