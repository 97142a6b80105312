package render

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// networkdText is a value of the kernel's in networkd's words; false for one
// that it cannot say. A time always has its unit: networkd takes a bare number
// as seconds.
func networkdText(o bondopt.Option, value string) (string, bool) {
	said, _ := o.Saying(bondopt.Networkd)
	switch {
	case o.Unit == bondopt.Milliseconds:
		n, err := strconv.Atoi(value)
		return strconv.Itoa(n) + "ms", err == nil && n >= 0
	case o.Switch():
		return truthWord(value)
	case o.Listed():
		return strings.ReplaceAll(value, ",", " "), true
	}
	return value, said.Has(value)
}

// networkdValue turns it back.
func networkdValue(o bondopt.Option, text string) (string, bool) {
	switch {
	case o.Unit == bondopt.Milliseconds:
		return fromSpan(text)
	case o.Unit == bondopt.Seconds:
		return wholeSeconds(text)
	case o.Switch():
		number, ok := zeroOne(text)
		if word, err := o.Word(number); err == nil {
			number = word
		}
		return number, ok
	case o.Listed():
		return strings.Join(strings.Fields(text), ","), true
	}
	return text, true
}

func truthWord(s string) (string, bool) {
	switch s {
	case "1", "on":
		return "true", true
	case "0", "off":
		return "false", true
	}
	return "", false
}

// bondSection are the [Bond] keys of the options that pick chooses. What
// networkd cannot say is left to the ledger.
func bondSection(d device, l *ledger, pick func(option) bool) unitSection {
	s := unitSection{name: "Bond"}
	for _, row := range bondopt.Options() {
		said, known := row.Saying(bondopt.Networkd)
		o, wanted := d.option(row.Name)
		if !known || !wanted || !pick(o) || o.value == "" {
			continue
		}
		text, ok := networkdText(row, o.value)
		switch {
		case !ok:
			l.cannot(d.ID, o.key, "systemd-networkd has no "+said.Name+"="+o.value)
			continue
		case said.Since != "":
			l.out.warn(d.ID, o.key, said.Name+"= is systemd "+said.Since+"'s and newer; older ones leave it out with a warning in their log")
		}
		s.put(said.Name, text)
		l.say(d.ID, o.key)
	}
	return s
}

// netdevUnit are the sections of the file that makes a device; nil for one
// that is there already.
func netdevUnit(d device, l *ledger) []unitSection {
	head := unitSection{name: "NetDev"}
	head.put("Name", d.name)
	if !d.MAC.IsZero() {
		head.put("MACAddress", d.MAC.String())
	}
	if d.MTU > 0 {
		head.put("MTUBytes", strconv.Itoa(d.MTU))
	}
	switch d.kind {
	case kindBond:
		head.put("Kind", "bond")
		return []unitSection{head, bondSection(d, l, func(option) bool { return true })}
	case kindBridge:
		head.put("Kind", "bridge")
		if s := bridgeSection(d, l); len(s.keys) > 0 {
			return []unitSection{head, s}
		}
		return []unitSection{head}
	case kindVLAN:
		head.put("Kind", "vlan")
		l.say(d.ID, "id")
		return []unitSection{head, {name: "VLAN", keys: []assignment{{key: "Id", value: strconv.Itoa(d.tag)}}}}
	case kindDummy:
		head.put("Kind", "dummy")
		l.say(d.ID, string(kindDummy))
		return []unitSection{head}
	}
	return nil
}

// bridgeRows are netplan's bridge parameters (doc/netplan-yaml.md) in
// [Bridge]'s words.
var bridgeRows = [][2]string{
	{"ageing-time", "AgeingTimeSec"}, {"priority", "Priority"}, {"forward-delay", "ForwardDelaySec"},
	{"hello-time", "HelloTimeSec"}, {"max-age", "MaxAgeSec"}, {"stp", "STP"},
}

func bridgeSection(d device, l *ledger) unitSection {
	s := unitSection{name: "Bridge"}
	if d.parameters == nil {
		return s
	}
	for _, p := range d.parameters.Pairs {
		key := ""
		for _, row := range bridgeRows {
			if row[0] == p.Key {
				key = row[1]
			}
		}
		if key == "" || p.Value.Kind != yamldoc.ScalarNode {
			continue // the ledger knows
		}
		s.put(key, p.Value.Text)
		l.say(d.ID, "parameters."+p.Key)
	}
	return s
}
