package switchtext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// SwitchConfig reads the sections of a configuration that is written like IOS's: of
// IOS, NX-OS, EOS, Dell, AOS-CX, Comware, Huawei and the small switches.
var SwitchConfig = piece.Reader{
	Kind:     "switch configuration",
	Commands: []string{"show", "sh", "display"},
	Starts:   func(line string) bool { return configHead.MatchString(line) || configGlobal(line) },
	Read:     reading(readSwitchConfig),
}

var configHead = piece.Compile(`^\s*(?:interface (?:range )?((?:[A-Za-z][\w-]*?\s?\d[\d/.:]*|\d+(?:/\d+)+)|lag \d+)(?: multi-chassis)?(\s?-\s?[\d/]+)?$|Building configuration\.\.\.|Current configuration ?:|!Command: show running|! Command: show running)`)

var linuxNames = piece.Compile(`^(?:eth|en[ospx]|em|bond|br|vmbr|wlan|lo|veth|tap|ib|team|p)\d|^en[ospx]`)

// configKeys are lines of a section as facts' keys, with one value.
var configKeys = map[string]string{"mtu": "mtu", "description": "description", "speed": "speed", "lacp rate": "lacp_rate", "lacp timer": "lacp_rate",
	"lacp period": "lacp_rate", "hash": "hash", "load-balance": "hash", "lacp min-links": "min_links", "port-channel min-links": "min_links",
	"switchport mode": "switchport", "jumboframe enable": "mtu", "link-aggregation load-sharing mode": "hash", "port-channel load-balance": "hash",
	"lacp mode": "mode", "least active-linknumber": "min_links", "switchport access vlan": "access_vlan", "switchport trunk allowed vlan": "vlans",
	"port link-type": "switchport", "hashing-mode": "hash", "clag-id": "mlag_id", "vpc": "mlag_id", "mlag": "mlag_id"}

var configGroup = piece.Compile(`^(?:channel-group (\d+)(?: mode (\w+))?|port link-aggregation group (\d+)|eth-trunk (\d+)|lag (\d+)|addport (?:lag )?(\S+)|bundle id (\d+)(?: mode (\S+))?|port-channel (\d+) mode (\w+)|link-aggregation group (\d+))$`)

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

func readSwitchConfig(s *sink, lines []piece.Line) int {
	subject := ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := configHead.FindStringSubmatch(text); m != nil {
			if subject = ""; m[1] != "" && m[2] == "" {
				if linuxNames.MatchString(m[1]) {
					return false
				}
				s.ofSwitch(configVendor(m[1]), l)
				subject = s.portSubject(m[1])
			}
			return true
		}
		if configGlobal(text) {
			s.configGlobal(text, l)
			return true
		}
		if text == "!" || text == "#" || text == "exit" {
			subject = ""
			return true
		}
		if text == "end" || text == "return" || strings.HasPrefix(text, "!") || strings.HasPrefix(text, "version ") {
			return true
		}
		if _, ok := piece.PromptOf(l.Text); ok || configRefused.MatchString(text) {
			return false
		}
		indented := strings.HasPrefix(l.Text, " ") || strings.HasPrefix(l.Text, "\t")
		if subject == "" {
			return indented && !strings.Contains(text, ":")
		}
		return s.configLine(subject, text, l) || indented && !s.OthersLine("switch configuration", l)
	})
}

// configVendor tells the maker by the name of a port; "" it may be several.
func configVendor(name string) string {
	low := strings.ToLower(name)
	switch {
	case strings.HasPrefix(low, "ten-gigabitethernet"), strings.HasPrefix(low, "bridge-aggregation"), strings.HasPrefix(low, "route-aggregation"):
		return "comware"
	case strings.HasPrefix(low, "xgigabitethernet"), strings.HasPrefix(low, "eth-trunk"):
		return "huawei"
	case strings.HasPrefix(name, "Port-Channel"):
		return "eos"
	case strings.HasPrefix(name, "Port-channel"):
		return "ios"
	case strings.HasPrefix(name, "port-channel "):
		return "onyx"
	case strings.HasPrefix(low, "lag "):
		return "aoscx"
	}
	return ""
}

// configLine reads one line of a port's section.
func (s *sink) configLine(subject, text string, l piece.Line) bool {
	if m := configGroup.FindStringSubmatch(text); m != nil {
		port, ok := strings.CutPrefix(subject, "port ")
		if !ok {
			return false
		}
		number := cmp.Or(m[1:]...)
		channel := number
		switch {
		case m[3] != "" || m[11] != "":
			s.ofSwitch("comware", l)
			channel = "BAGG" + number
		case m[4] != "":
			s.ofSwitch("huawei", l)
			channel = "Eth-Trunk" + number
		case m[5] != "":
			s.ofSwitch("aoscx", l)
			channel = "lag" + number
		case m[1] != "" || m[9] != "":
			channel = "Po" + number
		case m[7] != "":
			channel = "BE" + number
		}
		s.join(channel, port, l)
		if mode := cmp.Or(m[2], m[8], m[10]); mode != "" {
			s.Set(subject, "mode", mode, l)
			s.SetIf("channel "+channel, "protocol", protocolWord(mode), l)
		} else if m[1] != "" {
			s.Set(subject, "mode", "on", l)
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
		return true
	case text == "link-aggregation mode static", text == "mode manual load-balance", text == "port-channel static", text == "no lacp mode":
		s.Set(subject, "protocol", "static", l)
		return true
	case text == "no port-channel static":
		s.Set(subject, "protocol", "lacp", l)
		return true
	case text == "ip load-sharing per-packet":
		s.Set(subject, "load_sharing", "per-packet", l)
		return true
	case text == "shutdown":
		s.Set(subject, "state", "down", l)
		return true
	}
	for words := 3; words > 0; words-- {
		f := strings.Fields(text)
		if len(f) <= words {
			continue
		}
		key, ok := configKeys[strings.Join(f[:words], " ")]
		if !ok {
			continue
		}
		value := strings.Join(f[words:], " ")
		switch key {
		case "speed":
			value = piece.Mbits(value)
		case "lacp_rate":
			value = map[string]string{"fast": "fast", "short": "fast", "1": "fast", "normal": "slow", "slow": "slow", "long": "slow"}[value]
		case "mode":
			s.Set(subject, "protocol", "lacp", l)
		case "description":
			value = strings.Trim(value, `"`)
		case "mtu":
			value = piece.NumberText(value)
		}
		s.SetIf(subject, key, value, l)
		return true
	}
	return false
}

// configGlobal reads a line that is the whole switch's.
func (s *sink) configGlobal(text string, l piece.Line) {
	if m := trunkLine.FindStringSubmatch(text); m != nil {
		s.ofSwitch("procurve", l)
		channel := "Trk" + strings.TrimLeft(strings.ToLower(m[2]), "trk")
		for _, port := range portList(m[1]) {
			s.join(channel, port, l)
		}
		s.SetIf("channel "+channel, "protocol", protocolWord(cmp.Or(m[3], "trunk")), l)
		return
	}
	f := strings.Fields(text)
	switch {
	case f[0] == "system" && len(f) >= 3:
		s.ofSwitch("ios", l)
		s.SetIf("host", "mtu", piece.NumberText(f[len(f)-1]), l)
	case f[0] == "trunk-load-balance":
		s.ofSwitch("procurve", l)
		s.SetIf("host", "load_balance", strings.Join(f[1:], " "), l)
	case f[0] == "link-aggregation":
		s.ofSwitch("comware", l)
		s.SetIf("host", "load_balance", strings.Join(f[min(4, len(f)):], " "), l)
	case f[0] == "lacp":
		s.ofSwitch("aoscx", l)
		s.SetIf("host", "load_balance", f[len(f)-1], l)
	case f[0] == "hash-algorithm":
		s.ofSwitch("", l)
		s.SetIf("host", "hash_algorithm", strings.Join(f[1:], " "), l)
	case f[0] == "load-balance" || f[0] == "load-balancing":
		s.ofSwitch(map[bool]string{true: "os9", false: "os10"}[f[0] == "load-balance"], l)
		s.SetIf("host", "load_balance", strings.Join(f[1:], " "), l)
	default:
		s.ofSwitch(map[bool]string{true: "eos"}[len(f) > 2 && (f[2] == "trident" || f[2] == "sand")], l)
		s.SetIf("host", "load_balance", strings.Join(f[2:], " "), l)
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
