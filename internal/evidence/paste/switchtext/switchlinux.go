package switchtext

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// SonicConfig reads SONiC's config_db.json, whole or some of its tables.
var SonicConfig = piece.Reader{
	Kind:     "SONiC configuration",
	Commands: []string{"cat", "show", "sonic-cfggen"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return text == "{" || strings.HasPrefix(text, `{"`) && sonicTables.MatchString(text)
	},
	Read: reading(readSonicConfig),
}

var sonicTables = piece.Compile(`"(?:DEVICE_METADATA|PORT|PORTCHANNEL|PORTCHANNEL_MEMBER|VLAN_MEMBER|SWITCH_HASH)(?:\|[^"]*)?"\s*:`)

// mostConfig is how many lines a config_db.json may have, and how many texts that begin
// like one are tried.
const (
	mostConfig      = 200_000
	mostConfigTries = 4
)

// sonicKey is the name of a table.
var sonicKey = piece.Compile(`^\s*\{?\s*"[A-Z][A-Z0-9_]+(?:\|[^"]*)?"\s*:`)

func readSonicConfig(s *sink, lines []piece.Line) int {
	first := lines[0].Text
	if strings.TrimSpace(first) == "{" && len(lines) > 1 {
		first = lines[1].Text
	}
	if !sonicKey.MatchString(first) || s.Failed > mostConfigTries {
		return 0
	}
	var b strings.Builder
	depth, n, named := 0, 0, false
	quoted := false
	for i, l := range lines[:min(len(lines), mostConfig)] {
		named = named || sonicTables.MatchString(l.Text)
		if i > 400 && !named {
			break // the first tables have begun by then
		}
		b.WriteString(l.Text)
		b.WriteByte('\n')
		for j := 0; j < len(l.Text); j++ {
			switch c := l.Text[j]; {
			case quoted && c == '\\':
				j++
			case c == '"':
				quoted = !quoted
			case !quoted && c == '{':
				depth++
			case !quoted && c == '}':
				depth--
			}
		}
		if depth <= 0 {
			n = i + 1
			break
		}
	}
	var tables map[string]map[string]json.RawMessage
	if n == 0 || !named || json.Unmarshal([]byte(b.String()), &tables) != nil {
		s.Failed++
		return 0
	}
	flat(tables)
	s.ofSwitch("sonic", lines[0])
	c := sonicConfig{sink: s, tables: tables, lines: make(map[string]piece.Line), first: lines[0]}
	for _, l := range lines[:n] {
		if key, _, ok := strings.Cut(strings.TrimSpace(l.Text), ":"); ok {
			key = strings.Trim(key, `" `)
			if _, name, ok := strings.Cut(key, "|"); ok && strings.HasPrefix(key, "PORT|") || strings.HasPrefix(key, "PORTCHANNEL|") {
				key = name
			}
			if _, seen := c.lines[key]; !seen {
				c.lines[key] = l
			}
		}
	}
	c.read()
	return n
}

// flat puts rows that a dump of the database has beside each other ("PORT|Ethernet0")
// into their tables.
func flat(tables map[string]map[string]json.RawMessage) {
	for key, row := range tables {
		table, name, ok := strings.Cut(key, "|")
		if !ok {
			continue
		}
		b, err := json.Marshal(row)
		if err != nil {
			continue
		}
		delete(tables, key)
		if tables[table] == nil {
			tables[table] = make(map[string]json.RawMessage)
		}
		tables[table][name] = b
	}
}

// sonicConfig is a config_db.json that is being read.
type sonicConfig struct {
	*sink
	tables map[string]map[string]json.RawMessage
	lines  map[string]piece.Line // of keys
	first  piece.Line
}

// each hands on the rows of a table in order of their keys, with the texts of their
// fields.
func (c *sonicConfig) each(table string, do func(key string, fields map[string]string, l piece.Line)) {
	for _, key := range slices.Sorted(maps.Keys(c.tables[table])) {
		var values map[string]any
		if json.Unmarshal(c.tables[table][key], &values) != nil {
			continue
		}
		fields := make(map[string]string, len(values))
		for name, v := range values {
			switch v := v.(type) {
			case string:
				fields[strings.TrimSuffix(name, "@")] = v
			case []any:
				var all []string
				for _, x := range v {
					if text, ok := x.(string); ok {
						all = append(all, text)
					}
				}
				fields[strings.TrimSuffix(name, "@")] = strings.Join(all, " ")
			}
		}
		l, ok := c.lines[key]
		if !ok {
			l = c.first
		}
		do(key, fields, l)
	}
}

func (c *sonicConfig) read() {
	c.each("DEVICE_METADATA", func(_ string, f map[string]string, l piece.Line) {
		c.SetIf("host", "name", f["hostname"], l)
		c.SetIf("host", "system_mac", piece.MacText(f["mac"]), l)
	})
	own := func(subject string, f map[string]string, l piece.Line) {
		c.SetIf(subject, "admin", f["admin_status"], l)
		c.SetIf(subject, "mtu", piece.NumberText(f["mtu"]), l)
		c.SetIf(subject, "speed", piece.Mbits(f["speed"]), l)
		c.SetIf(subject, "description", f["description"], l)
	}
	c.each("PORT", func(name string, f map[string]string, l piece.Line) { own("port "+name, f, l) })
	c.each("PORTCHANNEL", func(name string, f map[string]string, l piece.Line) {
		subject := "channel " + name
		own(subject, f, l)
		c.Set(subject, "there", "yes", l)
		c.Set(subject, "protocol", map[bool]string{true: "static", false: "lacp"}[f["static"] == "true"], l)
		c.SetIf(subject, "min_links", f["min_links"], l)
		c.SetIf(subject, "lacp_rate", map[string]string{"true": "fast", "false": "slow"}[f["fast_rate"]], l)
	})
	c.each("PORTCHANNEL_MEMBER", func(key string, _ map[string]string, l piece.Line) {
		if channel, port, ok := strings.Cut(key, "|"); ok {
			c.join(channel, port, l)
		}
	})
	var in membership
	c.each("VLAN_MEMBER", func(key string, f map[string]string, _ piece.Line) {
		vlan, port, _ := strings.Cut(key, "|")
		if n := piece.Atoi(strings.TrimPrefix(vlan, "Vlan")); n > 0 && n <= piece.MostVLANs && port != "" {
			in.add(port, n, f["tagging_mode"] == "tagged", true)
		}
	})
	in.tell(c.sink, c.first)
	c.each("SWITCH_HASH", func(_ string, f map[string]string, l piece.Line) {
		c.SetIf("host", "load_balance", strings.ReplaceAll(f["lag_hash"], ",", " "), l)
		c.SetIf("host", "hash_algorithm", f["lag_hash_algorithm"], l)
	})
}

// LinuxCounters reads SONiC's `show interfaces counters` and Cumulus' `net show
// counters`: a row a port, what its columns are is said above.
var LinuxCounters = piece.Reader{
	Kind:     "counters of a switch's ports",
	Commands: []string{"show", "net", "portstat", "cl-netstat", "sudo"},
	Starts: func(line string) bool {
		if strings.Contains(line, "RX-OK") { // net-tools, of any host
			return false
		}
		return strings.TrimSpace(line) == "Kernel Interface table" || strings.Contains(line, "RX_OK") && strings.Contains(line, "TX_OK") && portstatHead.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		var columns []string
		cumulus, head := false, false
		read := piece.EachLine(lines, func(l piece.Line, text string) bool {
			f := strings.Fields(text)
			if strings.Contains(text, "RX-OK") {
				return false
			}
			if portstatHead.MatchString(text) {
				columns, cumulus, head = f, f[0] == "Iface" && f[1] == "MTU", true
				return true
			}
			if text == "Kernel Interface table" && !head {
				return true
			}
			if strings.Trim(text, "- ") == "" {
				return true
			}
			f = joinUnits(f)
			if len(f) < len(columns)-1 || len(f) > len(columns) || !portstatName.MatchString(f[0]) {
				return false
			}
			s.ofSwitch(map[bool]string{true: "cumulus", false: "sonic"}[cumulus], l)
			subject := map[bool]string{true: "link " + f[0], false: s.portSubject(f[0])}[cumulus]
			for i, v := range f[1:] {
				if n := strings.ReplaceAll(v, ",", ""); portstatKeys[columns[i+1]] != "" && piece.Digits.MatchString(n) {
					s.Set(subject, portstatKeys[columns[i+1]], n, l)
				} else if m := portstatRate.FindStringSubmatch(v); m != nil && portstatRates[columns[i+1]] != "" {
					s.SetIf(subject, portstatRates[columns[i+1]], piece.Bps(piece.FormatFloat(8*piece.Float(m[1])), m[2]), l)
				}
			}
			return true
		})
		if !head { // a host's table has the same title
			return 0
		}
		return read
	}),
}

var portstatHead = piece.Compile(`(?i)^\s*IFACE\s+(?:STATE|MTU|RX_OK)\s`)

var portstatName = piece.Compile(`^[A-Za-z][\w.-]*$`)

// portstatRate is a rate of bytes with its unit, which a blank stands before.
var portstatRate = piece.Compile(`^([\d.]+)([KMG]?)B/s$`)

var portstatRates = map[string]string{"RX_BPS": "seen_rx_bps", "TX_BPS": "seen_tx_bps"}

var portstatKeys = map[string]string{"RX_OK": "rx_packets", "TX_OK": "tx_packets", "RX_ERR": "rx_errors", "TX_ERR": "tx_errors", "RX_DRP": "rx_dropped", "TX_DRP": "tx_dropped",
	"RX_OVR": "rx_overrun", "MTU": "mtu"}

// joinUnits puts a unit that stands alone behind its number.
func joinUnits(f []string) []string {
	out := f[:0:0]
	for _, w := range f {
		if n := len(out); n > 0 && strings.HasSuffix(w, "/s") && len(w) <= 4 {
			out[n-1] += w
			continue
		}
		out = append(out, w)
	}
	return out
}

// CumulusCommands reads a Cumulus configuration as the commands that make it: of NCLU
// (`net show configuration commands`) and of NVUE (`nv config show -o commands`).
var CumulusCommands = piece.Reader{
	Kind:     "Cumulus configuration",
	Commands: []string{"net", "nv"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "n") && cumulusCommand.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if !cumulusCommand.MatchString(text) {
				return false
			}
			s.cumulusCommand(text, l)
			return true
		})
	}),
	Asked: func(ps *piece.Sink, at piece.Line) {
		if text := ps.Segment.Command; strings.HasPrefix(text, "n") && cumulusCommand.MatchString(text) {
			(&sink{ps}).cumulusCommand(text, at)
		}
	},
}

// cumulusCommand reads one command, typed or listed.
func (s *sink) cumulusCommand(text string, l piece.Line) {
	s.ofSwitch("cumulus", l)
	f := strings.Fields(text)
	switch {
	case len(f) < 4:
	case f[0] == "nv":
		s.nvueSet(f, l)
	default:
		s.ncluAdd(f, l)
	}
}

var cumulusCommand = piece.Compile(`^(?:net (?:add (?:hostname|bond|interface|bridge|clag|vlan|loopback|bgp|time|ntp|dns|snmp|vxlan|vrf|routing|ospf|dot1x|acl|syslog|ptp|dhcp)\b|del (?:all|bond|interface|bridge)\b|commit$|pending$)|nv (?:set|unset) (?:interface|system|bridge|mlag|router|vrf|service|platform|qos|evpn|nve|acl)\b|nv config apply)`)

// nvueSet reads one `nv set`.
func (s *sink) nvueSet(f []string, l piece.Line) {
	rest := strings.Join(f[4:], " ")
	switch {
	case f[1] != "set":
		return
	case f[2] == "system" && f[3] == "hostname":
		s.SetIf("host", "name", rest, l)
		return
	case f[2] == "system" && f[3] == "forwarding" && len(f) == 7 && f[4] == "lag-hash":
		s.Set("host", "lag_hash."+strings.ReplaceAll(f[5], "-", "_"), map[string]string{"on": "true", "off": "false", "enabled": "true", "disabled": "false"}[f[6]], l)
		return
	case f[2] != "interface" || len(f) < 6:
		return
	}
	for _, name := range portList(f[3]) {
		subject := "link " + name
		switch {
		case strings.HasPrefix(rest, "bond member "):
			s.Set(subject, "kind", "bond", l)
			for _, p := range portList(f[len(f)-1]) {
				s.Port(name, p, l)
			}
		case strings.HasPrefix(rest, "bond mode "):
			s.SetIf(subject, "mode", map[string]string{"lacp": "802.3ad", "static": "balance-xor"}[f[len(f)-1]], l)
		case strings.HasPrefix(rest, "bond lacp-rate "):
			s.SetIf(subject, "lacp_rate", f[len(f)-1], l)
		case strings.HasPrefix(rest, "bond mlag id "):
			s.SetIf(subject, "clag_id", piece.NumberText(f[len(f)-1]), l)
		case strings.HasPrefix(rest, "link mtu "):
			s.SetIf(subject, "mtu", piece.NumberText(f[len(f)-1]), l)
		case strings.HasPrefix(rest, "link state "):
			s.SetIf(subject, "admin", f[len(f)-1], l)
		case strings.HasPrefix(rest, "description "):
			s.SetIf(subject, "description", strings.Join(f[5:], " "), l)
		case strings.HasPrefix(rest, "bridge domain ") && len(f) >= 8:
			s.bridgeWord(subject, f[len(f)-2], f[len(f)-1], l)
		}
	}
}

// bridgeWord reads what a port does with VLANs, in NCLU's words and NVUE's.
func (s *sink) bridgeWord(subject, word, value string, l piece.Line) {
	switch word {
	case "vlan", "vids":
		s.vlanList(subject, value, l)
	case "untagged", "pvid":
		s.SetIf(subject, "native_vlan", piece.NumberText(value), l)
	case "access":
		s.SetIf(subject, "access_vlan", piece.NumberText(value), l)
	default:
		return
	}
	s.Set(subject, "switchport", map[bool]string{true: "access", false: "trunk"}[word == "access"], l)
}

// ncluAdd reads one `net add`.
func (s *sink) ncluAdd(f []string, l piece.Line) {
	if f[1] != "add" {
		return
	}
	if f[2] == "hostname" {
		s.Set("host", "name", f[3], l)
		return
	}
	if f[2] != "bond" && f[2] != "interface" || len(f) < 6 {
		return
	}
	last := f[len(f)-1]
	for _, name := range portList(f[3]) {
		subject := "link " + name
		switch words := strings.Join(f[4:len(f)-1], " "); words {
		case "bond slaves":
			s.Set(subject, "kind", "bond", l)
			for _, p := range portList(last) {
				s.Port(name, p, l)
			}
		case "bond mode":
			s.Set(subject, "mode", last, l)
		case "bond lacp-rate":
			s.SetIf(subject, "lacp_rate", map[string]string{"fast": "fast", "slow": "slow", "1": "fast", "0": "slow"}[last], l)
		case "bond min-links":
			s.SetIf(subject, "min_links", piece.NumberText(last), l)
		case "bond xmit-hash-policy":
			s.Set(subject, "xmit_hash_policy", last, l)
		case "clag id":
			s.SetIf(subject, "clag_id", piece.NumberText(last), l)
		case "mtu":
			s.SetIf(subject, "mtu", piece.NumberText(last), l)
		case "link down":
			s.Set(subject, "admin", "down", l)
		case "bridge vids", "bridge pvid", "bridge access":
			s.bridgeWord(subject, f[5], last, l)
		}
	}
}
