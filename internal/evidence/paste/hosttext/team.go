package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// TeamText reads `teamdctl NAME state`; its JSON is a document.
var TeamText = piece.Reader{
	Kind:     "teamdctl",
	Commands: []string{"teamdctl"},
	Starts: func(line string) bool {
		return line == "setup:" || strings.HasPrefix(line, "  runner: ") && teamRunners[strings.TrimPrefix(line, "  runner: ")] || strings.Contains(line, "instance[link_watch_")
	},
	Read: reading(readTeamText),
}

var teamRunners = piece.Words("broadcast roundrobin random activebackup loadbalance lacp")

// lacpRates are a bond's words for what teamd says of fast_rate.
var lacpRates = map[string]string{"yes": "fast", "true": "fast", "no": "slow", "false": "slow"}

var teamWords = piece.Phrases("setup", "runner", "ports", "link watches", "link summary", "name", "link", "down count", "aggregator ID", "selected", "state",
	"active", "fast rate", "active port", "delay_up", "delay_down", "team_device", "kernel_team_mode_name", "priority", "sys_prio", "select_policy")

var teamPort = piece.Compile(`^\s*([A-Za-z][\w.@-]*)$`)

// teamName is the team that a command or a file's name names.
func (s *sink) teamName() string {
	for _, st := range piece.Statements(s.Segment.Command) {
		if (st[0] == "teamdctl" || st[0] == "teamnl") && len(st) > 1 {
			return st[1]
		}
	}
	if teams := s.linksOfKind("team"); len(teams) == 1 {
		return teams[0]
	}
	return "team0"
}

func readTeamText(s *sink, lines []piece.Line) (read int) {
	name := s.teamName()
	subject, port := "link "+name, ""
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		key, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(text, "instance["):
		case !ok && teamPort.MatchString(l.Text) && (l.Text != text || read > 0 && i+1 < len(lines) && strings.TrimSpace(lines[i+1].Text) == "link watches:"):
			port = text
			subject = "link " + port
			s.Port(name, port, l)
		case !teamWords[key]:
			return read
		case l.Text == text && (key == "setup" || key == "runner" || key == "ports") && value == "":
			subject, port = "link "+name, ""
		case key == "link summary" && value == "down" && asks(lines[i+1:]):
			s.Set(subject, "watch_failed", "yes", l) // no answer, which says nothing of the link
		default:
			s.teamFact(subject, key, value, port != "", l)
		}
		read = i + 1
	}
	return read
}

// asks reports that a port is watched by asking for an address, as the lines of its link
// watches say.
func asks(lines []piece.Line) bool {
	for _, l := range lines[:min(len(lines), 40)] {
		switch text := strings.TrimSpace(l.Text); {
		case text == "name: arp_ping" || text == "name: nsna_ping":
			return true
		case text == "runner:" || !strings.Contains(text, ":") && !strings.HasPrefix(text, "instance["):
			return false // the next part
		}
	}
	return false
}

func (s *sink) teamFact(subject, key, value string, port bool, l piece.Line) {
	switch {
	case key == "runner" && value != "":
		s.Set(subject, "kind", "team", l)
		s.Set(subject, "runner", value, l)
	case key == "link summary":
		s.Set(subject, "carrier", map[string]string{"up": "yes", "down": "no"}[value], l)
	case key == "down count":
		s.Set(subject, "link_failure_count", value, l)
	case key == "aggregator ID":
		id, _, _ := strings.Cut(value, ",")
		s.Set(subject, "aggregator_id", id, l)
	case key == "selected":
		s.Set(subject, "selected", value, l)
	case key == "state" && port:
		s.Set(subject, "lacp_state", value, l)
	case key == "active port":
		s.Set(subject, "active_slave", value, l)
	case key == "active" && !port:
		s.Set(subject, key, value, l)
	case key == "fast rate" && !port:
		s.SetIf(subject, "lacp_rate", lacpRates[value], l)
	}
}
