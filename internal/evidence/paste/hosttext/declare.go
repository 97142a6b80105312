package hosttext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// declare sets what a file says of a link, an option's value in the kernel's words.
func (s *sink) declare(name, key, value string, l piece.Line) {
	value = strings.TrimSpace(value)
	if name == "" || value == "" {
		return
	}
	subject := "config " + name
	switch {
	case key == "address":
		for _, a := range splitList(value) {
			s.address(subject, a, l)
		}
		return
	case key == "mac":
		value = strings.ToLower(value)
	case key == "mtu" && !piece.Digits.MatchString(value):
		return
	default:
		if o, ok := bondopt.Find(key); ok {
			s.option(subject, o, value, l)
			return
		}
	}
	s.Set(subject, key, value, l)
}

// option sets a bond's option. A value that the kernel does not take is kept as it
// is written, beside the word that it begins with where that is one.
func (s *sink) option(subject string, o bondopt.Option, value string, l piece.Line) {
	bare := value
	if o.Kind == bondopt.Number {
		bare, _, _ = strings.Cut(value, " ")
		bare = onOffWord(o, strings.ToLower(bare))
	}
	word, err := o.Word(bare)
	if err != nil {
		s.Set(subject, "invalid."+o.Name, value, l)
		return
	}
	s.Set(subject, o.Name, word, l)
	if o.Words != nil && value != word && !piece.Digits.MatchString(value) || o.Kind == bondopt.Number && strings.Contains(value, " ") {
		s.Set(subject, "written."+o.Name, value, l)
	}
}

// onOffWord is a truth of YAML's in the words or numbers of an option.
func onOffWord(o bondopt.Option, value string) string {
	n, ok := map[string]int{"true": 1, "yes": 1, "on": 1, "false": 0, "no": 0, "off": 0}[value]
	switch {
	case !ok || slices.Contains(o.Words, value):
		return value
	case len(o.Words) == 2:
		return o.Words[n]
	}
	return strconv.Itoa(n)
}

// namedOption sets a bond's option by a format's name for it, by the kernel's
// otherwise; false for what is none.
func (s *sink) namedOption(link string, f bondopt.Format, key, value string, l piece.Line) bool {
	o, ok := bondopt.Named(f, key)
	if !ok {
		if o, ok = bondopt.Find(strings.ReplaceAll(key, "-", "_")); !ok {
			if o, ok = bondopt.ByTwin(strings.ReplaceAll(key, "-", "_")); !ok {
				return false
			}
		}
	}
	if o.Unit == bondopt.Milliseconds {
		value = milliseconds(value, f)
	}
	s.option("config "+link, o, value, l)
	s.declare(link, "kind", "bond", l)
	return true
}

var timeSpan = piece.Compile(`^(\d+(?:\.\d+)?) ?(us|ms|msec|s|sec|seconds?)?$`)

// milliseconds is a time of systemd's or netplan's as a number of milliseconds: a
// bare number is seconds in units, milliseconds elsewhere.
func milliseconds(value string, f bondopt.Format) string {
	m := timeSpan.FindStringSubmatch(value)
	if m == nil {
		return value
	}
	unit := m[2]
	if unit == "" && f == bondopt.Networkd {
		unit = "s"
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n > 1e9 {
		return value
	}
	switch unit {
	case "us":
		n /= 1000
	case "s", "sec", "second", "seconds":
		n *= 1000
	}
	return strconv.Itoa(int(n))
}

// optionList reads "mode=4 miimon=100", with blanks or commas between.
func (s *sink) optionList(link, text string, f bondopt.Format, l piece.Line) {
	last := ""
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			if last == "arp_ip_target" { // a list of its own
				s.declare(link, last, w, l)
			}
			continue
		}
		if last = key; !s.namedOption(link, f, key, value, l) {
			s.declare(link, key, value, l)
		}
	}
}

// addPort adds a port to a declared link's, in the order that they are written.
func (s *sink) addPort(master, port string, l piece.Line) {
	if master == "" || port == "" {
		return
	}
	s.declare(port, "master", master, l)
	subject := "config " + master
	was, _ := s.Host.Get(subject, "ports")
	all := strings.Fields(was.Text)
	if slices.Contains(all, port) {
		return
	}
	at := l.Source()
	if was.Text != "" && was.File == l.File { // the list grows
		at.From = min(was.From, at.From)
	}
	delete(s.Host.Facts[subject], "ports")
	s.Host.Set(subject, "ports", strings.Join(append(all, port), " "), at)
}

// splitList parts a list with blanks, commas or both; brackets and quotes go.
func splitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;[]\"'", r) })
}
