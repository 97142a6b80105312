package switchtext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// SwitchConfig reads the sections of a configuration that is written like IOS's: of
// IOS, NX-OS, EOS, Dell, AOS-S, AOS-CX, Comware, Huawei and the small switches.
var SwitchConfig = piece.Reader{
	Kind:     "switch configuration",
	Commands: []string{"show", "sh", "display"},
	Starts: func(line string) bool {
		return configHead.MatchString(line) || configMark.MatchString(line) || configGlobal(line) || configEarly.MatchString(line)
	},
	Read: reading(readSwitchConfig),
}

var configHead = piece.Compile(`^\s*(?:interface (?:range )?((?:[A-Za-z][\w-]*?\s?\d[\d/.:]*|\d+(?:/\d+)*|[A-Z]\d+|[Tt]rk\d+)|lag \d+)(?: multi-chassis)?(\s?-\s?[\d/]+)?$)`)

// configMark are lines that only a switch's configuration begins with, and what they
// tell of the maker.
var configMark = piece.Compile(`^\s*(?:!RANCID-CONTENT-TYPE: |Running configuration:$|; Ver #|Building configuration\.\.\.|Current [Cc]onfiguration ?(?::|\.\.\.)|!\s?Command: show running|!Running configuration last|! device: .*EOS|; \w+ Configuration Editor; Created on release|!Version ArubaOS-CX|! Version (?:10|9)\.\d)`)

// configEarly are lines near the top of a configuration: of one only where a section
// of a port follows.
var configEarly = piece.Compile(`^(?:hostname "?[\w.-]+"?|\s?sysname [\w.-]+|feature (?:lacp|vpc|lldp)|service (?:timestamps|password-encryption|pad).*|vlan \d+(?:[,-]\d+)*|version \d+\.\d.*| version \d.*)$`)

// configSections are lines of a configuration outside of sections of ports, and heads
// of other sections: known, and about nothing that is asked here.
var configSections = piece.Compile(`^(?:no |service |hostname |sysname |feature |vlan |spanning-tree |stp |ip |ipv6 |router |line |aaa |username |snmp|ntp |logging |lacp |vpc |mlag|vsx|banner |boot|enable |crypto |class-map |policy-map |access-list |system |vrf |lldp|cdp |errdisable |license |clock |management |transceiver |queue|mac |monitor |ssh |telnet |dhcp|irf|radius|tacacs|user-|local-user|domain |password |time-range |timesync|sntp |web-management |include-credentials|module |console |redundancy|stack|switch |udld |vtp |archive|multilink|diagnostic|platform |fabric|control-plane|qos |route-map |ip-|daemon |agent |event-handler |tap |port |power|trunk |port-channel-protocol|protocol |end$|return$|exit$|quit$|!|#|version |--|vlt-domain|backup |peer-|primary-|interface (?:Vlan|vlan|Vlanif|Vlan-interface|loopback|Loopback|Tunnel|tunnel|mgmt|Management|NULL|Null|oobm|vxlan|Vxlan|nve)|default |copp |rmon |fips|callhome|diffserv|set |alias |scheduler |device-|cli |exec-|tcp |udp |flow|sflow|netconf|rest|https?-|http |https |https-server|allow-|info-center|nqa |acl |traffic|load-balance|mirror|openflow|track |key |object|bridge|l2 |jumboframe)`)

var configVLAN = piece.Compile(`^(?:interface [Vv]lan ?|vlan )(\d+)$`)

var linuxNames = piece.Compile(`^(?:eth|en[ospx]|em|bond|br|vmbr|wlan|lo|veth|tap|ib|team|p)\d|^en[ospx]`)

// configKeys are lines of a section as facts' keys, with one value.
var configKeys = map[string]string{"mtu": "mtu", "description": "description", "speed": "speed", "lacp rate": "lacp_rate", "lacp timer": "lacp_rate",
	"lacp period": "lacp_rate", "hash": "hash", "load-balance": "hash", "lacp min-links": "min_links", "port-channel min-links": "min_links", "minimum-links": "min_links",
	"link-aggregation selected-port minimum": "min_links", "switchport mode": "switchport", "jumboframe enable": "mtu", "link-aggregation load-sharing mode": "hash", "port-channel load-balance": "hash",
	"lacp mode": "mode", "least active-linknumber": "min_links", "switchport access vlan": "access_vlan", "port access vlan": "access_vlan", "port default vlan": "access_vlan", "vlan access": "access_vlan",
	"switchport trunk native vlan": "native_vlan", "port trunk pvid vlan": "native_vlan", "vlan trunk native": "native_vlan",
	"switchport trunk allowed vlan": "vlans", "vlan trunk allowed": "vlans", "port trunk permit vlan": "vlans", "port trunk allow-pass vlan": "vlans", "vlan tagged": "vlans",
	"port link-type": "switchport", "hashing-mode": "hash", "clag-id": "mlag_id", "vpc": "mlag_id", "mlag": "mlag_id", "vlt-port-channel": "mlag_id", "duplex": "duplex", "name": "description", "speed-duplex": "speed"}

var configGroup = piece.Compile(`^(?:channel-group (\d+)(?: force)?(?: mode ([\w-]+))?(?: force)?|port link-aggregation group (\d+)|eth-trunk (\d+)|lag (\d+)|addport (?:lag )?(\S+)|bundle id (\d+)(?: mode (\S+))?|port-channel (\d+) mode (\w+)|link-aggregation group (\d+))$`)

var configRefused = piece.Compile(`^(?:\[|auto |iface |auto\b|allow-|source |#!)`)

// configGlobal reports a line of a switch's configuration that tells of hashes or
// frames outside of a section.
func configGlobal(line string) bool {
	for _, begin := range []string{"port-channel load-balance ", "system mtu ", "link-aggregation global load-sharing ", "trunk-load-balance ", "lacp hash ", "load-balance ip-selection", "hash-algorithm ", "load-balancing ip-selection"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return trunkLine.MatchString(line)
}

var trunkLine = piece.Compile(`(?i)^trunk ([A-Za-z]?\d[\w,/-]*) (trk\d+)(?: (lacp|trunk|dt-lacp))?$`)

// furthestPort is how many lines below its first one a configuration without a mark
// must have a port's section.
const furthestPort = 120

// portFollows reports a port's section of a switch below.
func portFollows(lines []piece.Line) bool {
	for _, l := range lines[:min(len(lines), furthestPort)] {
		if m := configHead.FindStringSubmatch(strings.TrimSpace(l.Text)); m != nil {
			return !linuxNames.MatchString(m[1])
		}
	}
	return false
}

// configReader is a configuration that is being read.
type configReader struct {
	*sink
	subject string // of the port whose section it is; "" none
	vlan    int    // of the VLAN whose section it is; 0 none
	whole   bool   // a mark, or a port's section, was seen: lines outside are its own
	members membership
}

func readSwitchConfig(s *sink, lines []piece.Line) int {
	c := &configReader{sink: s}
	if first := strings.TrimSpace(lines[0].Text); configEarly.MatchString(lines[0].Text) && !configMark.MatchString(lines[0].Text) && !configGlobal(first) {
		if !portFollows(lines) {
			return 0
		}
		c.whole = true
		s.ofSwitch("", lines[0])
	}
	var last piece.Line
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		last = l
		return c.line(text, l)
	})
	if read > 0 {
		c.members.tell(s, last)
	}
	return read
}

// line reads one line, wherever it stands.
func (c *configReader) line(text string, l piece.Line) bool {
	if configMark.MatchString(l.Text) {
		c.ofSwitch(markVendor(text), l)
		c.whole = true
		return true
	}
	if m := configVLAN.FindStringSubmatch(text); m != nil {
		c.subject, c.vlan = "", piece.Atoi(m[1])
		return c.whole
	}
	if m := configHead.FindStringSubmatch(text); m != nil {
		if linuxNames.MatchString(m[1]) {
			return false
		}
		c.subject, c.vlan, c.whole = "", 0, true
		c.ofSwitch(configVendor(m[1], c.vendor()), l)
		if m[2] == "" {
			c.subject = c.portSubject(m[1])
		}
		return true
	}
	if configGlobal(text) {
		c.global(text, l)
		return true
	}
	if text == "!" || text == "#" || text == "exit" {
		if text == "#" || !strings.HasPrefix(l.Text, " ") && c.vendor() != "os9" {
			c.subject, c.vlan = "", 0
		}
		return true
	}
	if text == "end" || text == "return" || strings.HasPrefix(text, "!") {
		return true
	}
	if _, ok := piece.PromptOf(l.Text); ok || configRefused.MatchString(text) {
		return false
	}
	f := strings.Fields(text)
	switch {
	case (f[0] == "hostname" || f[0] == "sysname") && len(f) == 2 && c.whole:
		c.Set("host", "name", strings.Trim(f[1], `"`), l)
		return true
	case f[0] == "feature" && len(f) == 2 && c.whole:
		c.ofSwitch("nxos", l)
		return true
	case strings.HasPrefix(text, "version "):
		return true
	}
	indented := strings.HasPrefix(l.Text, " ") || strings.HasPrefix(l.Text, "\t")
	if c.vlan > 0 && c.vlanLine(f, text) {
		return true
	}
	if c.subject != "" && c.portLine(c.subject, text, l) {
		return true
	}
	if c.subject != "" && indented && !c.OthersLine("switch configuration", l) {
		c.Set(c.subject, "unread", text, l)
		return true
	}
	if indented && (c.whole && c.subject == "" || !strings.Contains(text, ":")) && !c.OthersLine("switch configuration", l) {
		return true
	}
	if c.whole && configSections.MatchString(text) {
		c.subject, c.vlan = "", 0
		return true
	}
	return false
}

// vlanLine reads a line of a VLAN's section that lists its ports.
func (c *configReader) vlanLine(f []string, text string) bool {
	member := f[0] != "no"
	if !member {
		f = f[1:]
	}
	if len(f) < 2 || f[0] != "tagged" && f[0] != "untagged" {
		return strings.HasPrefix(text, "name ") || text == "jumbo" || text == "shutdown" || text == "no shutdown"
	}
	list := strings.Join(f[1:], " ")
	for _, port := range c.ports(list) {
		c.members.add(port, c.vlan, f[0] == "tagged", member)
	}
	return true
}

// ports are those of a list of a configuration: "1-4,Trk1", "Port-channel 10-11",
// "TenGigabitEthernet 1/3,1/4".
func (c *configReader) ports(list string) (out []string) {
	word, rest, named := strings.Cut(list, " ")
	if !named || word == "" || piece.Digits.MatchString(word) {
		word, rest = "", list
	}
	if at := strings.IndexAny(word, "0123456789"); at >= 0 {
		word, rest = "", list
	}
	for _, p := range portList(rest) {
		if strings.HasPrefix(strings.ToLower(p), "trk") {
			p = "Trk" + p[3:]
		}
		out = append(out, c.portName(word+p))
	}
	return out
}

// markVendor is the maker that a configuration's first lines tell; "" several.
func markVendor(text string) string {
	if kind, ok := strings.CutPrefix(text, "!RANCID-CONTENT-TYPE: "); ok {
		return map[string]string{"arista": "eos", "cisco-nx": "nxos", "cisco": "ios", "aruba": "aoscx"}[kind]
	}
	switch {
	case strings.Contains(text, "EOS"):
		return "eos"
	case strings.HasPrefix(text, "!Command: show running"), strings.HasPrefix(text, "!Running configuration last"):
		return "nxos"
	case strings.Contains(text, "Configuration Editor"):
		return "procurve"
	case strings.Contains(text, "ArubaOS-CX"):
		return "aoscx"
	case strings.HasPrefix(text, "! Version 10"):
		return "os10"
	case strings.HasPrefix(text, "! Version 9"), strings.HasPrefix(text, "Current Configuration ..."):
		return "os9"
	}
	return ""
}

// configVendor tells the maker by the name of a port; "" it may be several.
func configVendor(name, now string) string {
	low := strings.ToLower(name)
	switch {
	case strings.HasPrefix(low, "ten-gigabitethernet"), strings.HasPrefix(low, "bridge-aggregation"), strings.HasPrefix(low, "route-aggregation"):
		return "comware"
	case strings.HasPrefix(low, "xgigabitethernet"), strings.HasPrefix(low, "eth-trunk"):
		return "huawei"
	case strings.HasPrefix(name, "Port-Channel"):
		return "eos"
	case strings.HasPrefix(name, "Port-channel "):
		return "os9"
	case strings.HasPrefix(name, "Port-channel"):
		return "ios"
	case strings.HasPrefix(name, "port-channel ") && (now == "" || now == "onyx"):
		return "onyx"
	case strings.HasPrefix(low, "lag "):
		return "aoscx"
	case strings.HasPrefix(name, "ethernet1/") && strings.Count(name, "/") == 2:
		return "os10"
	}
	return ""
}

// channelOf is the name of a channel that a port's line gives by its number.
func (s *sink) channelOf(m []string, l piece.Line) string {
	number := cmp.Or(m[1:]...)
	switch {
	case m[3] != "" || m[11] != "":
		s.ofSwitch("comware", l)
		return "BAGG" + number
	case m[4] != "":
		s.ofSwitch("huawei", l)
		return "Eth-Trunk" + number
	case m[5] != "":
		s.ofSwitch("aoscx", l)
		return "lag" + number
	case m[7] != "":
		return "BE" + number
	case m[6] != "":
		return number
	case s.vendor() == "os10":
		return "port-channel" + number
	}
	return "Po" + number
}

// portLine reads one line of a port's section.
func (s *sink) portLine(subject, text string, l piece.Line) bool {
	if m := configGroup.FindStringSubmatch(text); m != nil {
		port, ok := strings.CutPrefix(subject, "port ")
		if !ok {
			return false
		}
		channel := s.channelOf(m, l)
		s.join(channel, port, l)
		if mode := cmp.Or(m[2], m[8], m[10]); mode != "" {
			s.Set(subject, "mode", mode, l)
			s.SetIf("channel "+channel, "protocol", protocolWord(mode), l)
		} else if m[1] != "" { // NX-OS writes no mode where it is on
			s.Set(subject, "mode", "on", l)
			s.Set("channel "+channel, "protocol", "static", l)
		}
		return true
	}
	if kind, bps := rateLine(text); bps != "" {
		s.Set("policy-config "+strings.TrimPrefix(subject, "port "), kind, bps, l)
		return true
	}
	switch {
	case text == "link-aggregation mode dynamic", strings.HasPrefix(text, "mode lacp"):
		s.Set(subject, "protocol", "lacp", l)
	case text == "link-aggregation mode static", text == "mode manual load-balance", text == "port-channel static", text == "no lacp mode":
		s.Set(subject, "protocol", "static", l)
	case text == "no port-channel static":
		s.Set(subject, "protocol", "lacp", l)
	case text == "ip load-sharing per-packet":
		s.Set(subject, "load_sharing", "per-packet", l)
	case text == "shutdown", text == "disable":
		s.Set(subject, "admin", "down", l)
	case text == "no shutdown", text == "enable":
		s.Set(subject, "admin", "up", l)
	case text == "lacp long-timeout":
		s.Set(subject, "lacp_rate", "slow", l)
	case text == "lacp short-timeout":
		s.Set(subject, "lacp_rate", "fast", l)
	case strings.HasPrefix(text, "channel-member "):
		channel, ok := strings.CutPrefix(subject, "channel ")
		if !ok {
			return false
		}
		s.SetIf(subject, "protocol", "static", l)
		for _, p := range (&configReader{sink: s}).ports(strings.TrimPrefix(text, "channel-member ")) {
			s.join(channel, p, l)
		}
	case text == "port-channel-protocol LACP", text == "switchport", text == "no switchport", text == "no routing", text == "routing", strings.HasPrefix(text, "no "):
	default:
		return s.portValue(subject, text, l)
	}
	return true
}

// portValue reads a line of a port's section that gives a key a value.
func (s *sink) portValue(subject, text string, l piece.Line) bool {
	f := strings.Fields(text)
	for words := 4; words > 0; words-- {
		if len(f) <= words {
			continue
		}
		key, ok := configKeys[strings.Join(f[:words], " ")]
		if !ok {
			continue
		}
		value := strings.Join(f[words:], " ")
		switch key {
		case "vlans":
			s.vlanList(subject, value, l)
			if strings.HasPrefix(text, "vlan ") {
				s.Set(subject, "switchport", "trunk", l)
			}
			return true
		case "native_vlan", "access_vlan":
			if strings.HasPrefix(text, "vlan ") {
				s.Set(subject, "switchport", map[bool]string{true: "trunk", false: "access"}[key == "native_vlan"], l)
			}
			value = piece.NumberText(f[words])
		case "speed":
			if rate, duplex, ok := strings.Cut(value, "-"); ok && (duplex == "full" || duplex == "half") { // AOS-S
				s.Set(subject, "duplex", duplex, l)
				value = rate
			}
			value = piece.Mbits(strings.TrimPrefix(value, "forced "))
		case "lacp_rate":
			value = map[string]string{"fast": "fast", "short": "fast", "1": "fast", "normal": "slow", "slow": "slow", "long": "slow"}[value]
		case "mode":
			s.Set(subject, "protocol", "lacp", l)
		case "description":
			value = strings.Trim(value, `"`)
		case "duplex":
			if value != "full" && value != "half" {
				return true
			}
		case "mtu", "min_links", "mlag_id":
			value = piece.NumberText(f[words])
		}
		s.SetIf(subject, key, value, l)
		return true
	}
	return false
}

// global reads a line that is the whole switch's.
func (c *configReader) global(text string, l piece.Line) {
	if m := trunkLine.FindStringSubmatch(text); m != nil {
		c.ofSwitch("procurve", l)
		c.whole = true
		channel := "Trk" + strings.TrimLeft(strings.ToLower(m[2]), "trk")
		for _, port := range portList(m[1]) {
			c.join(channel, port, l)
		}
		c.SetIf("channel "+channel, "protocol", protocolWord(cmp.Or(m[3], "trunk")), l)
		return
	}
	f := strings.Fields(text)
	switch {
	case f[0] == "system" && len(f) >= 3:
		c.ofSwitch("ios", l)
		c.SetIf("host", "mtu", piece.NumberText(f[len(f)-1]), l)
	case f[0] == "trunk-load-balance":
		c.ofSwitch("procurve", l)
		c.SetIf("host", "load_balance", strings.Join(f[1:], " "), l)
	case f[0] == "link-aggregation":
		c.ofSwitch("comware", l)
		c.SetIf("host", "load_balance", strings.Join(f[min(4, len(f)):], " "), l)
	case f[0] == "lacp":
		c.ofSwitch("aoscx", l)
		c.SetIf("host", "load_balance", f[len(f)-1], l)
	case f[0] == "hash-algorithm":
		c.ofSwitch("", l)
		c.SetIf("host", "hash_algorithm", strings.Join(f[1:], " "), l)
	case f[0] == "load-balance" || f[0] == "load-balancing":
		c.ofSwitch(map[bool]string{true: "os9", false: "os10"}[f[0] == "load-balance"], l)
		c.SetIf("host", "load_balance", strings.Join(f[1:], " "), l)
	default:
		c.ofSwitch(map[bool]string{true: "eos"}[len(f) > 2 && (f[2] == "trident" || f[2] == "sand")], l)
		if n := len(f); n > 3 && f[n-2] == "module" {
			c.Set("host", "load_balance_scope", "module", l)
			f = f[:n-2]
		}
		c.SetIf("host", "load_balance", strings.Join(f[2:], " "), l)
	}
}

var portRange = piece.Compile(`^([A-Za-z]*(?:\d+/)*)(\d+)-(?:[A-Za-z]*(?:\d+/)*)(\d+)$`)

// portList are the ports of a list like "1-4,A1,1/1/5-1/1/6".
func portList(list string) (out []string) {
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		m := portRange.FindStringSubmatch(part)
		if m == nil {
			out = append(out, part)
			continue
		}
		from, to := piece.Atoi(m[2]), piece.Atoi(m[3])
		if from < 0 || to < from || to-from > 64 {
			out = append(out, part)
			continue
		}
		for n := from; n <= to; n++ {
			out = append(out, m[1]+strconv.Itoa(n))
		}
	}
	return out
}
