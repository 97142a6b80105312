package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// SysNet reads files below /sys/class/net and /proc/sys: one that a command prints,
// or what `grep . FILES` prints, path and value in one line.
var SysNet = piece.Reader{
	Kind:   "/sys/class/net",
	Starts: func(line string) bool { return strings.HasPrefix(line, "/") && sysRow.MatchString(line) },
	Owns: func(s piece.Segment, line string) bool {
		return len(sysPaths(s)) > 0 && len(line) < 200 && !strings.Contains(line, "No such file") && sysValue.MatchString(line)
	},
	Read: reading(readSysNet),
}

var sysRow = piece.Compile(`^(/sys/class/net/[\w.@-]+/[\w./@-]+|/proc/sys/[\w./@-]+):(.*)$`)

var sysPath = piece.Compile(`^(/sys/class/net/[\w.@{},-]+/[\w./@{},-]+|/proc/sys/[\w./@{},-]+)$`)

var sysBrace = piece.Compile(`^(.*?)\{([^{}]*)\}(.*)$`)

// sysValue is the value of a file: a word, a number, names; no sentence.
var sysValue = piece.Compile(`^\s*[-+\w.:/@]+(?:[ \t]+[-+\w.:/@]+){0,15}\s*$`)

var sysFacts = map[string]string{"mtu": "mtu", "operstate": "state", "address": "mac", "carrier": "carrier", "carrier_changes": "carrier_changes",
	"duplex": "duplex", "speed": "speed", "tx_queue_len": "qlen", "device/numa_node": "numa", "device/current_link_speed": "sta_speed",
	"device/current_link_width": "sta_width", "device/max_link_speed": "cap_speed", "device/max_link_width": "cap_width", "bonding_slave/perm_hwaddr": "perm_mac",
	"bonding_slave/ad_aggregator_id": "aggregator_id", "bonding_slave/ad_actor_oper_port_state": "actor_state", "bonding_slave/state": "slave_state",
	"bonding_slave/ad_partner_oper_port_state": "partner_state", "bonding_slave/link_failure_count": "link_failure_count", "bonding_slave/mii_status": "mii_status"}

var sysBond = map[string]string{"ad_num_ports": "ad_num_ports", "ad_aggregator": "ad_aggregator", "ad_partner_mac": "ad_partner_mac", "ad_actor_key": "ad_actor_key",
	"ad_partner_key": "ad_partner_key", "mii_status": "mii_status", "active_slave": "active_slave"}

// sysPaths are the files that a segment's command prints, in order.
func sysPaths(s piece.Segment) []string {
	if !strings.Contains(s.Command+s.Path, "/sys/") {
		return nil
	}
	words := []string{s.Path}
	for _, st := range piece.Statements(s.Command) {
		if st[0] == "cat" || st[0] == "head" || st[0] == "more" {
			words = append(words, st[1:]...)
		}
	}
	var out []string
	for i := 0; i < len(words) && i < 256; i++ {
		if m := sysBrace.FindStringSubmatch(words[i]); m != nil {
			for _, part := range strings.Split(m[2], ",") {
				words = append(words, m[1]+part+m[3])
			}
			continue
		}
		if sysPath.MatchString(words[i]) && (len(out) == 0 || out[len(out)-1] != words[i]) {
			out = append(out, words[i])
		}
	}
	return out
}

func readSysNet(s *sink, lines []piece.Line) (read int) {
	paths := sysPaths(s.Segment)
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		path, value := "", text
		if m := sysRow.FindStringSubmatch(text); m != nil {
			path, value = m[1], strings.TrimSpace(m[2])
		} else if len(paths) > 0 && sysValue.MatchString(text) {
			path, paths = paths[0], paths[1:]
		} else {
			return read
		}
		s.sysFile(path, value, l)
		read = i + 1
	}
	return read
}

// sysFile sets what one file holds.
func (s *sink) sysFile(path, value string, l piece.Line) {
	if name, ok := strings.CutPrefix(path, "/proc/sys/"); ok {
		s.Set("sysctl", strings.ReplaceAll(name, "/", "."), strings.Join(strings.Fields(value), " "), l)
		return
	}
	name, file, ok := strings.Cut(strings.TrimPrefix(path, "/sys/class/net/"), "/")
	if !ok || value == "" {
		return
	}
	subject := "link " + name
	if option, ok := strings.CutPrefix(file, "bonding/"); ok {
		s.sysOption(name, option, value, l)
		return
	}
	if counter, ok := strings.CutPrefix(file, "statistics/"); ok {
		if piece.Digits.MatchString(value) {
			if counter != "rx_errors" && counter != "tx_errors" {
				counter = strings.TrimSuffix(counter, "_errors")
			}
			if counter == "rx_over" {
				counter = "rx_overrun"
			}
			s.Set(subject, counter, value, l)
		}
		return
	}
	key := sysFacts[file]
	switch {
	case key == "":
		return
	case key == "speed":
		value = megabits(strings.TrimPrefix(value, "-"))
		if value == "1" {
			value = "unknown" // -1
		}
	case key == "state":
		value = strings.ToUpper(value)
	case key == "carrier":
		value = map[string]string{"1": "yes", "0": "no"}[value]
	case strings.HasSuffix(key, "_speed"):
		value, _, _ = strings.Cut(value, ".0 ")
		value, _, _ = strings.Cut(value, " ")
	}
	if value != "" {
		s.Set(subject, key, value, l)
	}
}

// sysOption sets a bond's option: "layer3+4 1" is a word and its number.
func (s *sink) sysOption(bond, option, value string, l piece.Line) {
	subject := "link " + bond
	if option == "slaves" {
		s.Set(subject, "kind", "bond", l)
		for _, port := range strings.Fields(value) {
			s.Port(bond, port, l)
		}
		return
	}
	if o, ok := bondopt.Find(option); ok {
		s.Set(subject, "kind", "bond", l)
		if o.Kind == bondopt.Number {
			value, _, _ = strings.Cut(value, " ")
		}
		s.Set(subject, option, value, l)
	} else if key := sysBond[option]; key != "" {
		s.Set(subject, key, value, l)
	}
}
