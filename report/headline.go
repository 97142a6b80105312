package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Headline is the record in one plain sentence.
func Headline(r record.Record) string { return headline(r, seriesOf(r), measured()) }

// tense is how a sentence speaks of a rate: as measured, or as predicted.
type tense struct{ many, one string }

func measured() tense { return tense{"carry", "carries"} }
func foreseen() tense { return tense{"should carry", "should carry"} }

// verb is the tense's for what carries.
func (w tense) verb(subject string) string {
	if strings.HasSuffix(subject, "links") {
		return w.many
	}
	return w.one
}

func headline(r record.Record, all []series, words tense) string {
	s, c, ok := lead(all)
	if !ok {
		if len(r.Failures) > 0 {
			return "Nothing could be measured: " + unit.Counted(len(r.Failures), "pair") + " failed."
		}
		return "Nothing was measured."
	}
	if !phased(r) {
		if t, o, ok := worstOutage(r); ok {
			return outageHeadline(t, o)
		}
		if many(all) {
			return manyHeadline(all, words)
		}
		return plainHeadline(r, s, c, words)
	}
	return comparedHeadline(r, s, c, words)
}

// plainHeadline is what one place carries and why no more.
func plainHeadline(r record.Record, s series, c place, words tense) string {
	subject := subject(r, s, c.cell)
	text := subject + " " + words.verb(subject) + " " + carried(c.before)
	if share := ceilingWords(c); share != "" {
		text += ", " + share
	} else if each := eachLink(c.before); each != "" {
		text += ", " + each
	}
	if len(s.directions) > 0 && c.direction != s.directions[0] && strings.HasSuffix(subject, "links") {
		text = s.way(c.direction) + ": " + strings.ToLower(text[:1]) + text[1:]
	}
	return text + ": " + meaningOf(c) + "."
}

// meaningOf is why a place carries no more.
func meaningOf(c place) string {
	if cause(c.last()) == record.Shaper && full(c.cell) {
		return "the limit on the way is reached"
	}
	return Meaning(cause(c.last()))
}

func comparedHeadline(r record.Record, s series, c place, words tense) string {
	subject := subject(r, s, c.cell)
	now := func(t *record.Trial) string {
		text := carried(t)
		if share := ceilingWords(c); share != "" && t == c.last() {
			text += ", " + share
		}
		return text
	}
	switch {
	case c.after == nil:
		return fmt.Sprintf("%s %s %s; nothing was measured afterwards.", subject, words.verb(subject), now(c.before))
	case c.before == nil:
		return fmt.Sprintf("%s %s %s; nothing was measured before.", subject, words.verb(subject), now(c.after))
	case c.before.Streams != c.after.Streams:
		ways := ""
		if c.direction == flow.Both {
			ways = " in both directions together"
		}
		after := carried(c.after) + " with " + unit.Counted(c.after.Streams, "stream")
		if share := ceilingWords(c); share != "" {
			after += ", " + share
		}
		return fmt.Sprintf("%s carried %s%s with %s; %s %s.", subject, carried(c.before), ways, unit.Counted(c.before.Streams, "stream"), between(r), after)
	}
	return fmt.Sprintf("%s carried %s; %s %s.", subject, carried(c.before), between(r), now(c.after))
}

// fewPairs are as many as a headline speaks of singly.
const fewPairs = 2

// many reports a matrix: its headline is of all pairs together.
func many(all []series) bool {
	n := 0
	for _, s := range all {
		if !s.swept {
			n++
		}
	}
	return n > fewPairs
}

// manyHeadline says how many ways of a matrix reach their ceiling, and which is
// furthest from it.
func manyHeadline(all []series, words tense) string {
	m := matrixOf(all)
	s, c, _ := lead(all)
	worst := fmt.Sprintf("%s %s %s", s.way(c.direction), words.one, carried(c.last()))
	switch {
	case m.known == 0:
		return fmt.Sprintf("Of %s the slowest is %s with %s.", unit.Counted(m.ways, "way"), s.way(c.direction), carried(c.last()))
	case m.full == m.ways:
		return fmt.Sprintf("All %d ways between %d hosts fill their links; the least, %s.", m.ways, m.hosts, worst)
	}
	return fmt.Sprintf("%d of %d ways between %d hosts stay below their ceiling; %s, %s: %s.", m.ways-m.full, m.ways, m.hosts, worst, ceilingWords(c), Meaning(cause(c.last())))
}

// matrixSum counts a matrix's ways: measured, with a ceiling, at it.
type matrixSum struct {
	ways, known, full, hosts int
	rates                    []float64 // from the lowest up
}

func matrixOf(all []series) matrixSum {
	var m matrixSum
	hosts := map[string]bool{}
	for _, s := range all {
		for _, c := range s.places() {
			m.ways++
			hosts[s.from], hosts[s.to] = true, true
			m.rates = append(m.rates, amount(c.last().Goodput))
			if limit, _ := c.ceiling(); positive(float64(limit)) {
				m.known++
			}
			if full(c.cell) {
				m.full++
			}
		}
	}
	m.hosts = len(hosts)
	slices.Sort(m.rates)
	return m
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

// ceilingWords are the share of the ceiling that a place reaches; "" without one.
func ceilingWords(c place) string {
	ceiling, _ := c.ceiling()
	return ofTheCeiling(ofCeiling(c.last(), ceiling))
}

// mostEach is how many links' rates a sentence lists.
const mostEach = 4

// alikeLinks is how far apart links' rates may be to be said as one.
const alikeLinks = 0.9

// eachLink says what each of the sender's links carries: where no ceiling is
// known that is what a reader can judge by.
func eachLink(t *record.Trial) string {
	rates := linkRates(t)
	if len(rates) < 2 || len(rates) > mostEach || slices.Max(rates) == 0 {
		return ""
	}
	if slices.Min(rates) >= alikeLinks*slices.Max(rates) {
		sum := unit.BitRate(0)
		for _, v := range rates {
			sum += v
		}
		return (sum / unit.BitRate(len(rates))).String() + " each"
	}
	var words []string
	for _, v := range rates {
		words = append(words, v.String())
	}
	return "by link " + strings.Join(words, ", ")
}

// linkRates are what the sender's links of a trial carried; of both directions
// the first host's way out.
func linkRates(t *record.Trial) []unit.BitRate {
	var out []unit.BitRate
	for _, u := range senderLinks(t) {
		out = append(out, unit.BitRate(amount(txLoad(u).carried)))
	}
	return out
}

func senderLinks(t *record.Trial) []record.LinkUse {
	if t == nil {
		return nil
	}
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
	return links
}

// lead is the place that a report's first lines speak of: the first pair's first
// direction, forward where it was measured, at the summary's stream count. Of a
// run without phases it is the first place that something limits below its
// links, of a matrix the one furthest below; of an interrupted run the first.
func lead(all []series) (series, place, bool) {
	var chosen place
	var of series
	found, least := false, 2.0
	for _, s := range all {
		for _, c := range s.places() {
			if !found {
				of, chosen, found = s, c, true
			}
			if c.after != nil || c.before.Phase != "" || !s.whole() || !limited(c) {
				continue
			}
			reached := 1.5 // unknown comes after what is known
			if limit, _ := c.ceiling(); limit > 0 {
				if f, ok := fraction(c.before.Goodput, limit); ok {
					reached = f
				}
			}
			if first := least == 2; first || many(all) && reached < least {
				of, chosen, least = s, c, reached
			}
		}
	}
	return of, chosen, found
}

// limited reports a place that something holds below what its links carry.
func limited(c place) bool {
	return !full(c.cell) && cause(c.last()) != record.LineRate && c.last().Finding != nil
}

// subject names what carried the traffic: the sender's links where they are
// known ("Two 500 Mbit/s links"), else the pair.
func subject(r record.Record, s series, c cell) string {
	links := senderLinks(c.last())
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
