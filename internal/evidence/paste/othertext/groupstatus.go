package othertext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// GroupStatus reads `ifgrp status` and `vif status` of Data ONTAP: a group, what it
// distributes by, and each port's state, traffic and LACP frames.
var GroupStatus = piece.Reader{
	Kind:     "ifgrp status",
	Commands: []string{"ifgrp", "vif"},
	Starts: func(line string) bool {
		return strings.Contains(line, "transmit '") && (groupHead.MatchString(line) || groupDefault.MatchString(line))
	},
	Read: reading(readGroupStatus),
}

var groupDefault = piece.Compile(`^\s*default: transmit '[\w ]+', (?:Ifgrp|VIF) Type '`)

var groupHead = piece.Compile(`^\s*([A-Za-z][\w-]*): (\d+) links?, transmit '([\w ]+?)(?: [Ll]oad balancing)?', (?:Ifgrp|VIF) Type '(\w+)'`)

var groupPort = piece.Compile(`^([a-z]\d+[a-z]\d*): state (up|down|broken|disabled)\b`)

var groupCount = piece.Compile(`(input|output) (packets|bytes|lacp packets) (\d+)`)

var groupFlaps = piece.Compile(`up indications (\d+), broken indications (\d+)`)

var groupOthers = piece.Compile(`^(?:(?:Ifgrp|VIF) Status|up:$|down:$|active:$|standby:$|mediatype:|flags:|active aggr|drops |output probe|trunked:|strike count|lag_active|lag_inactive|consecutive|input packets|output packets|input lacp|input bytes)`)

// groupModes are the types of a group as a bond's modes.
var groupModes = map[string]string{"lacp": "802.3ad", "multi_mode": "balance-xor", "single_mode": "active-backup"}

func readGroupStatus(s *sink, lines []piece.Line) int {
	group, port := "", ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := groupHead.FindStringSubmatch(text); m != nil {
			s.OfSystem("ontap", l)
			group, port = m[1], ""
			subject := "link " + group
			s.Set(subject, "kind", "ifgrp", l)
			s.Set(subject, "load_balance", strings.ToLower(m[3]), l)
			s.SetIf(subject, "group_mode", groupModes[m[4]], l)
			return true
		}
		if m := groupPort.FindStringSubmatch(text); m != nil && group != "" {
			port = m[1]
			s.Port(group, port, l)
			s.Set("link "+port, "state", map[bool]string{true: "UP", false: "DOWN"}[m[2] == "up"], l)
			return true
		}
		if port != "" {
			subject := "link " + port
			for _, m := range groupCount.FindAllStringSubmatch(text, -1) {
				s.Set(subject, map[string]string{"input": "rx_", "output": "tx_"}[m[1]]+strings.ReplaceAll(m[2], "lacp packets", "lacp"), m[3], l)
			}
			if m := groupFlaps.FindStringSubmatch(text); m != nil {
				s.Set(subject, "link_failure_count", m[2], l)
			}
			if groupCount.MatchString(text) || groupFlaps.MatchString(text) {
				return true
			}
		}
		return groupDefault.MatchString(text) || groupOthers.MatchString(text)
	})
}
