package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Unindented reads a netplan file whose indentation was lost on the way: which key belongs to
// which is known by the keys alone, so that links and what stands right below them is read.
var Unindented = piece.Reader{
	Kind:   piece.LostIndentation,
	Starts: func(line string) bool { return line == "network:" || netplanKindOf(line) },
	Read:   reading(readUnindented),
}

// netplanKindOf reports a line that begins one of netplan's sections.
func netplanKindOf(line string) bool {
	key, ok := strings.CutSuffix(line, ":")
	_, known := netplanKinds[key]
	return ok && known
}

// netplanWithin are keys below a link's name, and no names of links.
var netplanWithin = piece.Words("parameters addresses interfaces routes nameservers match routing-policy search optional dhcp4-overrides dhcp6-overrides openvswitch")

// readUnindented reads lines that all begin at their first column; none of a file that has its
// indentation, which the documents' reader takes.
func readUnindented(s *sink, lines []piece.Line) int {
	kind, link, list, sections, links, read := "", "", "", 0, 0, 0
	for i, l := range lines {
		text := l.Text
		if text == "" || strings.HasPrefix(text, "#") || text == "---" {
			continue
		}
		if text != strings.TrimLeft(text, " \t") || !yamlLine(text) {
			break
		}
		item, listed := strings.CutPrefix(text, "- ")
		key, rest, ok := strings.Cut(text, ":")
		rest = strings.Trim(strings.TrimSpace(rest), `"'`)
		switch {
		case text == "network:" || key == "version" || key == "renderer":
		case netplanKindOf(text):
			kind, link, list = netplanKinds[key], "", ""
			sections++
		case sections == 0:
			return 0
		case listed:
			s.unindentedItem(link, list, strings.Trim(item, `"' `), l)
		case !ok || strings.Contains(key, " "):
			return whole(read, links)
		case rest == "" && netplanWithin[key]:
			list = key
		case rest == "" || rest == "{}":
			link, list = key, ""
			links++
			s.declare(link, "format", "netplan", l)
			s.declare(link, "kind", kind, l)
		default:
			s.unindentedKey(link, kind, key, rest, l)
		}
		read = i + 1
	}
	return whole(read, links)
}

// whole is how many lines were read, none where they name no link.
func whole(read, links int) int {
	if links == 0 {
		return 0
	}
	return read
}

func (s *sink) unindentedItem(link, list, item string, l piece.Line) {
	switch {
	case link == "":
	case list == "interfaces":
		s.addPort(link, item, l)
	case list == "addresses":
		s.declare(link, "address", item, l)
	}
}

// unindentedKey declares a key with its value: of a bond's parameters by their names.
func (s *sink) unindentedKey(link, kind, key, value string, l piece.Line) {
	if link == "" {
		return
	}
	switch key {
	case "mtu":
		s.declare(link, key, value, l)
	case "link":
		s.declare(link, "below", value, l)
	case "id":
		s.declare(link, key, value, l)
	case "interfaces", "addresses":
		for _, item := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("[], \"'", r) }) {
			s.unindentedItem(link, key, item, l)
		}
	default:
		if kind == "bond" {
			s.namedOption(link, bondopt.Netplan, key, value, l)
		}
	}
}
