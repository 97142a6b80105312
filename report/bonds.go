package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// bondSetting is one option of one bond at the start and at the end.
type bondSetting struct {
	Host, Bond, Setting string
	Before, After       string
	Changed             bool
}

// bondFacts is the one table of what the report says of a bond.
var bondFacts = [...]struct {
	name  string
	value func(netstate.Host, netstate.Link) string
}{
	{"mode", func(_ netstate.Host, l netstate.Link) string { return l.Bond.ModeWord() }},
	{"transmit hash policy", func(_ netstate.Host, l netstate.Link) string { return policyOf(l) }},
	{"MTU", func(_ netstate.Host, l netstate.Link) string { return mtu(l.MTU) }},
	{"links", func(_ netstate.Host, l netstate.Link) string { return orUnknown(strings.Join(l.Bond.Ports, ", ")) }},
	{"LACP rate", func(_ netstate.Host, l netstate.Link) string {
		if l.Bond.Mode != netstate.LACP {
			return "not used"
		}
		return l.Bond.LACPRate.String()
	}},
	{"links in the active aggregator", func(_ netstate.Host, l netstate.Link) string {
		if l.Bond.Mode != netstate.LACP {
			return "not used"
		}
		if l.Bond.AD == nil {
			return unknown
		}
		return strconv.Itoa(l.Bond.AD.Ports) + " of " + unit.Counted(len(l.Bond.Ports), "link")
	}},
	{"speed of a link", func(h netstate.Host, l netstate.Link) string {
		speeds := ""
		for _, p := range l.Bond.Ports {
			port, _ := h.Link(p)
			s := round(port.Speed)
			if speeds != "" && speeds != s {
				return "differs"
			}
			speeds = s
		}
		return orUnknown(speeds)
	}},
}

// policyOf is a bond's transmit policy in its system's own words.
func policyOf(bond netstate.Link) string {
	if own := bond.Bond.Own; own != nil {
		return orUnknown(own.Policy)
	}
	return bond.Bond.HashPolicy.String()
}

// bondSettings lists every bond of the hosts. A record without an end state
// has the same on both sides.
func bondSettings(r record.Record) []bondSetting {
	var out []bondSetting
	for _, h := range r.Environment.Hosts {
		end, ended := hostOf(r.Environment.After, h.Name)
		for _, l := range h.Links {
			if l.Bond == nil {
				continue
			}
			later, ok := end.Link(l.Name)
			for _, f := range bondFacts {
				s := bondSetting{Host: h.Name, Bond: l.Name, Setting: f.name, Before: f.value(h, l)}
				s.After = s.Before
				if ended {
					s.After = unknown
				}
				if ok && later.Bond != nil {
					s.After = f.value(end, later)
				}
				s.Changed = s.After != s.Before
				out = append(out, s)
			}
		}
	}
	return out
}

// bondOver is the bond that the link is a port of.
func bondOver(h netstate.Host, link string) (netstate.Link, bool) {
	for _, l := range h.Links {
		if l.Bond == nil {
			continue
		}
		if slices.Contains(l.Bond.Ports, link) {
			return l, true
		}
	}
	return netstate.Link{}, false
}

// hostWords say in two short lines how a host's traffic links are set up:
// "bond0 · 802.3ad" and "layer2 · MTU 1500". Empty lines where it is unknown.
func hostWords(hosts []netstate.Host, host, link string) (line1, line2 string) {
	h, ok := hostOf(hosts, host)
	if !ok {
		return "", ""
	}
	if b, ok := bondOver(h, link); ok {
		second := mtuWords(b.MTU)
		if own := b.Bond.Own; b.Bond.Mode.Hashes() || own != nil && own.Policy != "" {
			second = joinWith(" · ", policyOf(b), second)
		}
		return b.Name + " · " + b.Bond.ModeWord(), second
	}
	if l, ok := h.Link(link); ok {
		return "no bond", mtuWords(l.MTU)
	}
	return "", ""
}

func mtuWords(n int) string {
	if n <= 0 {
		return ""
	}
	return "MTU " + strconv.Itoa(n)
}

// joinWith joins two words, either of which may be missing.
func joinWith(sep, a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}
