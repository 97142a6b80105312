package hosttext

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// IPLink reads `ip link` and `ip addr`, with -d, -s and -o or without. Forums eat
// what stands in angle brackets, so flags are not needed.
var IPLink = piece.Reader{
	Kind:     "ip link",
	Commands: []string{"ip"},
	Starts: func(line string) bool {
		return ipHead.MatchString(line) || ipSub.MatchString(line) || ipOneLine.MatchString(line)
	},
	Read: reading(readIPLink),
}

// IPWords reads what grep left of `ip -d link`: options with their values.
var IPWords = piece.Reader{
	Kind: "ip link",
	Owns: func(s piece.Segment, line string) bool {
		f := strings.Fields(line)
		return len(f) >= 2 && len(f)%2 == 0 && (bondKeys[f[0]] || slaveKeys[f[0]] != "" || f[0] == "qdisc" || f[0] == "mtu" || f[0] == "state") && s.Runs("ip")
	},
	Starts: func(string) bool { return false },
	Read: reading(func(s *sink, lines []piece.Line) (read int) {
		turn := piece.InTurn{Names: s.Segment.LinksOf("ip")}
		for i, l := range lines {
			f := strings.Fields(l.Text)
			if len(f) < 2 || len(f)%2 != 0 || !bondKeys[f[0]] && slaveKeys[f[0]] == "" && !ipHeaderKeys[f[0]] {
				return read
			}
			if subject := turn.Next(f[0]); subject != "" {
				s.pairs(subject, f, ipHeaderKeys, l)
				s.pairs(subject, f, bondKeys, l)
				s.slavePairs(subject, f, l)
			}
			read = i + 1
		}
		return read
	}),
}

// IPBrief reads `ip -br link` and `ip -br addr`.
var IPBrief = piece.Reader{
	Kind:     "ip -br",
	Commands: []string{"ip"},
	Starts:   func(line string) bool { return briefRow(line, false) != nil },
	Owns:     func(s piece.Segment, line string) bool { return s.Runs("ip") && briefRow(line, true) != nil },
	Read: reading(func(s *sink, lines []piece.Line) (read int) {
		for i, l := range lines {
			if strings.TrimSpace(l.Text) == "" {
				continue
			}
			m := briefRow(l.Text, s.Segment.Runs("ip") || read > 0)
			if m == nil {
				return read
			}
			s.brief(m, l)
			read = i + 1
		}
		return read
	}),
}

var ipHead = piece.Compile(`^\s*(\d{1,6}):\s+([^\s:@]+)(?:@([^\s:]+))?:\s+(<[^>]*>)?\s*(.*\bmtu\s+\d+.*)$`)

var ipOneLine = piece.Compile(`^\s*\d{1,6}:\s+([^\s:@]+)(?:@\S+)?\s+(inet6?)\s+(\S+)(.*)$`)

var ipSub = piece.Compile(`^\s*(link/\w+|bond mode |bond_slave |inet6? \S+[/ ]|alias |vlan protocol |bridge_slave |team_slave|RX: +bytes|TX: +bytes|[RT]X errors: |valid_lft |altname |permaddr |vxlan id |parentbus )`)

var ipState = piece.Compile(`^(\S+)\s+(UP|DOWN|UNKNOWN|LOWERLAYERDOWN|DORMANT|TESTING|NOTPRESENT)(?:\s+(.*))?$`)

var macShape = piece.Compile(`^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$`)

func readIPLink(s *sink, lines []piece.Line) (read int) {
	subject := ""
	var titles []string // of the counters' row that follows
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			titles = nil
			continue
		}
		fields := strings.Fields(text)
		if m := ipHead.FindStringSubmatch(l.Text); m != nil {
			if strings.HasPrefix(m[2], "lo") && m[1] == "1" && subject != "" && s.Host.Facts["link lo"] != nil {
				return read // another host begins
			}
			subject = "link " + m[2]
			s.ipHeader(subject, m, l)
			read, titles = i+1, nil
			continue
		}
		if m := ipOneLine.FindStringSubmatch(l.Text); m != nil {
			s.address("link "+m[1], m[3], l)
			read = i + 1
			continue
		}
		switch {
		case titles != nil && len(fields) >= 4 && countText(fields[0]) != "":
			s.ipCounters(subject, titles, fields, l)
			titles = nil
		case fields[0] == "RX:" || fields[0] == "TX:" || len(fields) > 1 && fields[1] == "errors:":
			titles = fields
		case ipSub.MatchString(l.Text) || subject != "" && len(fields) > 1 && ipKinds[fields[0]] && l.Text != text:
			s.ipDetail(subject, fields, l)
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// ipHeader reads the line with a link's number and name.
func (s *sink) ipHeader(subject string, m []string, l piece.Line) {
	s.Set(subject, "there", "yes", l)
	if m[3] != "" && m[3] != "NONE" {
		s.Set(subject, "below", m[3], l)
	}
	parts := strings.Split(m[5], `\`) // -o: all in one line
	fields := strings.Fields(parts[0])
	s.pairs(subject, fields, ipHeaderKeys, l)
	s.ipFlags(subject, strings.Trim(m[4], "<>"), l)
	var titles []string
	for _, part := range parts[1:] {
		switch detail := strings.Fields(part); {
		case len(detail) == 0:
		case detail[0] == "RX:" || detail[0] == "TX:":
			titles = detail
		case titles != nil && piece.Digits.MatchString(detail[0]):
			s.ipCounters(subject, titles, detail, l)
		default:
			s.ipDetail(subject, detail, l)
		}
	}
}

// ipFlags sets a link's flags, and whether it has carrier.
func (s *sink) ipFlags(subject, flags string, l piece.Line) {
	if flags != "" {
		s.Set(subject, "flags", flags, l)
	}
	state, _ := s.Host.Get(subject, "state")
	switch all := strings.Split(flags, ","); {
	case slices.Contains(all, "NO-CARRIER"), state.Text == "LOWERLAYERDOWN" && state.From == l.Number:
		s.Set(subject, "carrier", "no", l)
	case slices.Contains(all, "LOWER_UP"), state.Text == "UP" && state.From == l.Number:
		s.Set(subject, "carrier", "yes", l)
	}
}

var ipHeaderKeys = piece.Words("mtu qdisc master state qlen")

// bondKeys are the words of a bond's line: its options, and what it runs with.
var bondKeys = bondWords()

func bondWords() map[string]bool {
	out := piece.Words("active_slave ad_aggregator ad_num_ports ad_actor_key ad_partner_key ad_partner_mac peer_notify_delay")
	for _, o := range bondopt.Options() {
		out[o.Name] = true
	}
	return out
}

var slaveKeys = map[string]string{"state": "slave_state", "mii_status": "mii_status", "link_failure_count": "link_failure_count", "perm_hwaddr": "perm_mac",
	"ad_aggregator_id": "aggregator_id", "ad_actor_oper_port_state": "actor_state", "ad_partner_oper_port_state": "partner_state",
	"churn_actor_state": "actor_churn", "churn_partner_state": "partner_churn", "queue_id": "queue_id"}

var detailKeys = map[string]string{"parentdev": "bus", "permaddr": "perm_mac", "gso_max_size": "gso_max_size", "tso_max_size": "tso_max_size",
	"gro_max_size": "gro_max_size", "numtxqueues": "tx_queues", "numrxqueues": "rx_queues", "maxmtu": "max_mtu"}

// ipKinds are the words of `ip -d` for kinds of links, in front of their details.
var ipKinds = piece.Words(`bridge veth tun team openvswitch macvlan macvtap ipvlan dummy vrf ipip gre gretap ip6gre wireguard ip6tnl sit vti geneve lag ipoib
		hsr can nlmon ifb netdevsim openvswitch_slave vrf_slave`)

// bondNames are options that ip names otherwise than the kernel's sysfs.
var bondNames = map[string]string{"peer_notify_delay": "peer_notif_delay"}

// pairs sets the keys of a row of words and values.
func (s *sink) pairs(subject string, fields []string, keys map[string]bool, l piece.Line) {
	for i := 0; i+1 < len(fields); i++ {
		if key := fields[i]; keys[key] {
			if bondNames[key] != "" {
				key = bondNames[key]
			}
			if fields[i+1] != "ovs-system" { // of every port of Open vSwitch's
				s.Set(subject, key, fields[i+1], l)
			}
			i++
		}
	}
}

// named sets the keys of a row that have another name as facts.
func (s *sink) named(subject string, fields []string, keys map[string]string, l piece.Line) {
	for i := 0; i+1 < len(fields); i++ {
		if key, ok := keys[fields[i]]; ok {
			s.Set(subject, key, fields[i+1], l)
			i++
		}
	}
}

func (s *sink) slavePairs(subject string, fields []string, l piece.Line) {
	s.named(subject, fields, slaveKeys, l)
}

// ipDetail reads one of the lines below a link's first.
func (s *sink) ipDetail(subject string, fields []string, l piece.Line) {
	if len(fields) < 2 {
		return
	}
	if subject == "" {
		if names := s.Segment.LinksOf("ip"); len(names) == 1 {
			subject = "link " + names[0]
		} else {
			return // whose it is was cut off
		}
	}
	s.named(subject, fields, detailKeys, l)
	switch kind := fields[0]; {
	case strings.HasPrefix(kind, "link/"):
		s.Set(subject, "mac", fields[1], l)
	case kind == "bond":
		s.Set(subject, "kind", "bond", l)
		s.pairs(subject, fields, bondKeys, l)
	case kind == "bond_slave":
		s.slavePairs(subject, fields, l)
	case kind == "inet" || kind == "inet6":
		s.address(subject, fields[1], l)
	case kind == "vlan":
		s.Set(subject, "kind", "vlan", l)
		s.pairs(subject, fields, piece.Words("id"), l)
	case kind == "vxlan":
		s.Set(subject, "kind", "vxlan", l)
		s.pairs(subject, fields, piece.Words("id dev dstport"), l)
		s.outer(subject, fields, l)
	case ipKinds[kind] && !strings.HasSuffix(kind, "_slave"):
		s.Set(subject, "kind", kind, l)
		s.outer(subject, fields, l)
	}
}

// address sets an address of a link; a redacted one is none.
func (s *sink) address(subject, text string, l piece.Line) {
	bare, bits, _ := strings.Cut(text, "/")
	bare, _, _ = strings.Cut(bare, "%")
	a, err := netip.ParseAddr(bare)
	if err != nil {
		return
	}
	if bits != "" {
		if _, err := a.Prefix(piece.Atoi(bits)); err != nil {
			return
		}
		bare += "/" + bits
	}
	family := "inet"
	if a.Is6() {
		family = "inet6"
	}
	s.Set(subject, "address "+bare, family, l)
}

// countNames are counters that ip abbreviates.
var countNames = map[string]string{"mcast": "multicast", "collsns": "collisions", "heartbt": "heartbeat"}

// ipCounters reads a row of counters by its titles, which changed over time. Those
// of -s -s stand behind "errors:".
func (s *sink) ipCounters(subject string, titles, fields []string, l piece.Line) {
	if subject == "" {
		return
	}
	way := strings.ToLower(strings.TrimSuffix(titles[0], ":"))
	names := titles[1:]
	if len(names) > 0 && names[0] == "errors:" {
		names = names[1:]
	}
	for i, name := range names {
		if i >= len(fields) || countText(fields[i]) == "" {
			continue
		}
		fields[i] = countText(fields[i])
		if countNames[name] != "" {
			name = countNames[name]
		}
		if name == "transns" {
			s.Set(subject, "carrier_changes", fields[i], l)
			continue
		}
		s.Set(subject, way+"_"+name, fields[i], l)
	}
}

// briefRow is a row of `ip -br`: name, state, and an address of either layer, which
// only a command makes up for.
func briefRow(line string, sure bool) []string {
	if !strings.Contains(line, "UP") && !strings.Contains(line, "DOWN") && !strings.Contains(line, "UNKNOWN") {
		return nil
	}
	m := ipState.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil || len(m[1]) > 40 || strings.HasSuffix(m[1], ":") {
		return nil
	}
	if sure && m[3] == "" {
		return m
	}
	first, _, _ := strings.Cut(m[3], " ")
	if _, err := netip.ParsePrefix(first); err != nil && !macShape.MatchString(first) {
		return nil
	}
	return m
}

func (s *sink) brief(m []string, l piece.Line) {
	name, below, _ := strings.Cut(m[1], "@")
	subject := "link " + name
	s.Set(subject, "there", "yes", l)
	s.Set(subject, "state", m[2], l)
	if below != "" && below != "NONE" {
		s.Set(subject, "below", below, l)
	}
	flags := ""
	for _, w := range strings.Fields(m[3]) {
		switch {
		case macShape.MatchString(w):
			s.Set(subject, "mac", w, l)
		case strings.HasPrefix(w, "<"):
			flags = strings.Trim(w, "<>")
		default:
			s.address(subject, w, l)
		}
	}
	s.ipFlags(subject, flags, l)
}
