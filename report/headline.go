package report

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Headline is the record in one plain sentence.
func Headline(r record.Record) string {
	all := seriesOf(r)
	s, c, ok := lead(all)
	if !ok {
		if len(r.Failures) > 0 {
			return "Nothing could be measured: " + unit.Counted(len(r.Failures), "pair") + " failed."
		}
		return "Nothing was measured."
	}
	subject := subject(r, s, c)
	ceiling, _ := c.ceiling()
	if !phased(r) {
		return fmt.Sprintf("%s %s %s, %s: %s.", subject, verb(subject, "carry", "carries"), carried(c.before), ceilingWords(c.before, ceiling), Meaning(cause(c.before)))
	}
	if c.before == nil || c.after == nil {
		if words := tunedHeadline(r); words != "" {
			return words
		}
	}
	switch {
	case c.after == nil:
		return fmt.Sprintf("%s %s %s, %s; nothing was measured afterwards.", subject, verb(subject, "carry", "carries"), carried(c.before), ceilingWords(c.before, ceiling))
	case c.before == nil:
		return fmt.Sprintf("%s %s %s, %s; nothing was measured before.", subject, verb(subject, "carry", "carries"), carried(c.after), ceilingWords(c.after, ceiling))
	}
	return fmt.Sprintf("%s carried %s; %s %s, %s.", subject, carried(c.before), between(r), carried(c.after), ceilingWords(c.after, ceiling))
}

// between says what lies between what was measured before and after.
func between(r record.Record) string {
	switch n := kept(r); {
	case n > 0:
		return "after " + unit.Counted(n, "change")
	case len(r.Steps) > 0:
		return "no change was kept:"
	}
	return "measured again:"
}

// carried is a trial's goodput as the sentence needs it.
func carried(t *record.Trial) string {
	if g := goodput(t); g != unknown {
		return g
	}
	return "an unknown rate"
}

func ceilingWords(t *record.Trial, ceiling unit.BitRate) string {
	p := ofCeiling(t, ceiling)
	if p == unknown {
		return "the ceiling is unknown"
	}
	return p + " of the ceiling"
}

// lead is the place the headline speaks of: the first pair's first direction,
// forward where it was measured, at the summary's stream count.
func lead(all []series) (series, cell, bool) {
	for _, s := range all {
		for _, d := range s.directions {
			if n, ok := s.summary[d]; ok {
				return s, s.cells[at{d, n}], true
			}
		}
	}
	return series{}, cell{}, false
}

// subject names what carried the traffic: the sender's links where they are
// known ("Two 500 Mbit/s links"), else the pair.
func subject(r record.Record, s series, c cell) string {
	t := c.last()
	sender := t.From
	if t.Direction == flow.Reverse {
		sender = t.To
	}
	var links []record.LinkUse
	for _, l := range t.Links {
		if l.Host == sender {
			links = append(links, l)
		}
	}
	if len(links) == 0 {
		return s.name()
	}
	speed := commonSpeed(r, links)
	words := spelled(len(links)) + " "
	if speed > 0 {
		words += round(speed) + " "
	}
	if len(links) == 1 {
		return words + "link"
	}
	return words + "links"
}

func verb(subject, many, one string) string {
	if strings.HasSuffix(subject, "links") {
		return many
	}
	return one
}

// commonSpeed is the line rate that all the links share; zero when it is
// unknown or they differ.
func commonSpeed(r record.Record, links []record.LinkUse) unit.BitRate {
	var speed unit.BitRate
	for _, l := range links {
		h, ok := hostOf(r.Environment.Hosts, l.Host)
		if !ok {
			return 0
		}
		state, ok := h.Link(l.Link)
		if !ok || !positive(float64(state.Speed)) || speed != 0 && speed != state.Speed {
			return 0
		}
		speed = state.Speed
	}
	return speed
}

func hostOf(hosts []netstate.Host, name string) (netstate.Host, bool) {
	for _, h := range hosts {
		if h.Name == name {
			return h, true
		}
	}
	return netstate.Host{}, false
}

// name is "a → b", with what tells it from another series of the same pair.
func (s series) name() string {
	n := orUnknown(s.from) + " → " + orUnknown(s.to)
	if s.qualifier != "" {
		n += " (" + s.qualifier + ")"
	}
	return n
}

// way names a direction by its hosts: payload of reverse goes from to to from.
func (s series) way(d flow.Direction) string {
	a, b := orUnknown(s.from), orUnknown(s.to)
	switch d {
	case flow.Reverse:
		return b + " → " + a
	case flow.Both:
		return a + " ⇄ " + b
	}
	return a + " → " + b
}

// kind is what made the record, in one word for titles.
func kind(r record.Record) string {
	switch {
	case r.Environment.BackEnd != "" && phased(r):
		return "Demonstration"
	case phased(r):
		return "Tuning"
	}
	return "Measurement"
}

// repeatCommands are the commands that give the record again.
func repeatCommands(r record.Record, o Options) []string {
	file := o.RecordFile
	if file == "" {
		file = "record.json"
	}
	again := o.Repeat
	if again == nil {
		target := r.Fabric.File
		if target == "" {
			target = "FABRIC"
		}
		switch kind(r) {
		case "Demonstration":
			again = []string{"linerate demo"}
		case "Tuning":
			again = []string{"linerate tune " + plaintext.ShellWord(target)}
		default:
			again = []string{"linerate measure " + plaintext.ShellWord(target)}
		}
	}
	out := append([]string(nil), again...)
	return append(out, "linerate explain "+plaintext.ShellWord(file), "linerate report "+plaintext.ShellWord(file)+" -o report.html")
}

// title is the page's title.
func title(r record.Record, o Options) string {
	if o.Title != "" {
		return o.Title
	}
	t := kind(r)
	if all := seriesOf(r); len(all) > 0 {
		t += " " + all[0].name()
		if len(all) > 1 {
			t += " and " + unit.Counted(len(all)-1, "other pair")
		}
	}
	return t
}
