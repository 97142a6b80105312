package hosttext

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Document reads YAML and JSON by what its mappings hold: netplan, nmstate, Talos,
// Harvester, cloud-init, what `ip -j` prints, teamd's configuration and state.
var Document = piece.Reader{
	Kind: "document",
	Starts: func(line string) bool {
		if strings.HasPrefix(strings.TrimSpace(line), "[{") || strings.TrimSpace(line) == "{" || strings.TrimSpace(line) == "[ {" || strings.HasPrefix(strings.TrimSpace(line), `{"`) {
			return true
		}
		key, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- "), ":")
		return ok && (documentKeys[key] && strings.TrimSpace(rest) == "" || documentWords[key] && documentValues[strings.TrimSpace(rest)])
	},
	Owns: func(s piece.Segment, line string) bool {
		name := s.Path + " " + s.Command
		return (strings.Contains(name, ".yaml") || strings.Contains(name, ".yml") || strings.Contains(name, "-o yaml") || strings.Contains(name, "/netplan")) &&
			yamlLine(line) && strings.Contains(line, ":")
	},
	Read: reading(readDocument),
}

var documentKeys = piece.Words(`network ethernets bonds vlans bridges interfaces desiredState currentState spec status machine bond bondMaster link-aggregation
		management_interface install networks config uplink bondOptions bond_options metadata parameters links`)

var documentWords = piece.Words("apiVersion kind version renderer type")

var documentValues = piece.Words("v1alpha1 nmstate.io/v1 nmstate.io/v1beta1 nmstate.io/v1alpha1 BondConfig LinkConfig NodeNetworkConfigurationPolicy NodeNetworkState VlanConfig VLANConfig 2 networkd NetworkManager bond network.harvesterhci.io/v1beta1 v1 MachineConfig")

// yamlLine reports a line that can stand in a YAML document.
func yamlLine(text string) bool {
	t := strings.TrimSpace(text)
	switch {
	case t == "" || strings.HasPrefix(t, "#") || t == "---" || t == "...":
		return true
	case strings.HasPrefix(t, "- "), t == "-":
		return text != t || len(strings.Fields(t)) <= 4 || strings.Contains(t, ": ")
	}
	key, rest, ok := strings.Cut(t, ":")
	if !ok || rest != "" && rest[0] != ' ' {
		return text != t && !strings.Contains(t, " ") // the tail of a list
	}
	return !strings.Contains(strings.Trim(key, `"'{[ `), " ") || text != t && strings.HasPrefix(key, `"`)
}

// readDocument takes the longest front of the lines that can be a document.
func readDocument(s *sink, lines []piece.Line) int {
	if s.Failed >= mostTries {
		return 0
	}
	n := documentEnd(lines[:min(len(lines), mostDocument)])
	r := documentReader{sink: s}
	read := 0
	for from := 0; from < n; {
		to := from
		for to < n && (to == from || strings.TrimSpace(lines[to].Text) != "---") {
			to++
		}
		took := r.parse(lines[from:to])
		if took == 0 {
			break
		}
		read = from + took
		if from+took < to {
			break
		}
		from = to
	}
	if !r.found {
		s.Failed++
		return 0
	}
	return read
}

// Bounds of what is tried: the parser takes the square of a document's length, and
// text that only begins like one is tried again at each of its lines.
const (
	mostTries    = 6
	mostDocument = 5000 // lines
)

// documentEnd is how many lines look like a document's: JSON's to its last bracket.
func documentEnd(lines []piece.Line) int {
	first := strings.TrimSpace(lines[0].Text)
	if first[0] == '{' || first[0] == '[' {
		depth, quoted := 0, false
		for i, l := range lines {
			for j := 0; j < len(l.Text); j++ {
				switch c := l.Text[j]; {
				case c == '\\':
					j++
				case c == '"':
					quoted = !quoted
				case quoted:
				case c == '{' || c == '[':
					depth++
				case c == '}' || c == ']':
					if depth--; depth == 0 {
						return i + 1
					}
				}
			}
		}
		return len(lines) // its end was cut off
	}
	for i, l := range lines {
		if !yamlLine(l.Text) {
			return i
		}
	}
	return len(lines)
}

// documentReader walks a document.
type documentReader struct {
	*sink
	lines []piece.Line // of the document; a node's line counts from its first
	found bool
}

// parse reads one document, as far as it can be parsed; 0 none of it.
func (r *documentReader) parse(lines []piece.Line) int {
	for tries := 0; len(lines) > 0 && tries < 4; tries++ {
		indent := -1
		for _, l := range lines {
			if t := strings.TrimLeft(l.Text, " "); t != "" && !strings.HasPrefix(t, "#") && t != "---" {
				if n := len(l.Text) - len(t); indent < 0 || n < indent {
					indent = n
				}
			}
		}
		var b strings.Builder
		for _, l := range lines {
			if len(l.Text) >= indent && indent > 0 {
				b.WriteString(l.Text[indent:])
			} else {
				b.WriteString(l.Text)
			}
			b.WriteByte('\n')
		}
		text := b.String()
		if first := strings.TrimSpace(text); first != "" && (first[0] == '{' || first[0] == '[') {
			text = closed(text)
		}
		ps := &yamldoc.Collector{}
		doc := yamldoc.Read(ps, []byte(text))
		if doc != nil && doc.Root != nil && doc.Root.Kind >= yamldoc.MappingNode {
			r.lines = lines
			r.walk(doc.Root, nil)
			return len(lines)
		}
		if doc == nil && len(ps.All) > 0 && ps.All[0].Line > 1 && ps.All[0].Line <= len(lines) {
			lines = lines[:ps.All[0].Line-1]
			continue
		}
		break
	}
	return 0
}

// closed is JSON whose end was cut off, with its brackets closed where that is all
// it lacks.
func closed(text string) string {
	var open []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 || quoted {
		return text
	}
	slices.Reverse(open)
	return strings.TrimRight(text, ", \t\n") + string(open) + "\n"
}

// line is where a node stands.
func (r *documentReader) line(n *yamldoc.Node) piece.Line { return r.lineAt(n.Line) }

func (r *documentReader) lineAt(line int) piece.Line {
	return r.lines[min(max(line-1, 0), len(r.lines)-1)]
}

// walk looks at each mapping of the document: those that are known are read, what
// is in others may be.
func (r *documentReader) walk(n *yamldoc.Node, path []string) {
	switch n.Kind {
	case yamldoc.SequenceNode:
		for _, item := range n.Items {
			r.walk(item, path)
		}
	case yamldoc.MappingNode:
		for _, known := range mappings {
			if known.is(n, path) {
				r.found = true
				known.read(r, n)
				if known.whole {
					return
				}
			}
		}
		for _, p := range n.Pairs {
			if p.Value != nil && len(path) < 32 {
				r.walk(p.Value, append(path[:len(path):len(path)], p.Key))
			}
		}
	}
}

// mapping is a kind of mapping in documents.
type mapping struct {
	is    func(n *yamldoc.Node, path []string) bool
	read  func(r *documentReader, n *yamldoc.Node)
	whole bool // nothing else is looked for in it
}

// mappings are the known ones.
var mappings = []mapping{
	{is: inNetplan, read: (*documentReader).netplan},
	{is: isNmstate, read: (*documentReader).nmstate, whole: true},
	{is: isTalosLink, read: (*documentReader).talosLink, whole: true},
	{is: isTalosBond, read: (*documentReader).talosBond, whole: true},
	{is: isHarvester, read: (*documentReader).harvester},
	{is: isCloudInit, read: (*documentReader).cloudInit, whole: true},
	{is: isJSONLink, read: (*documentReader).jsonLink, whole: true},
	{is: isJSONRoute, read: (*documentReader).jsonRoute, whole: true},
	{is: isTeamConfig, read: (*documentReader).teamConfig, whole: true},
	{is: isTeamState, read: (*documentReader).teamState, whole: true},
}

// value is the text that a mapping's keys lead to; "" none.
func value(n *yamldoc.Node, keys ...string) string {
	for _, k := range keys {
		n = n.Get(k)
	}
	if n == nil || n.Kind != yamldoc.ScalarNode {
		return ""
	}
	return n.Text
}

// anyOf is the first of several keys that a mapping has.
func anyOf(n *yamldoc.Node, keys ...string) *yamldoc.Node {
	for _, k := range keys {
		if v := n.Get(k); v != nil {
			return v
		}
	}
	return nil
}

// items are a list's scalars, or those of its mappings' key.
func items(n *yamldoc.Node, key string) []*yamldoc.Node {
	if n == nil {
		return nil
	}
	var out []*yamldoc.Node
	for _, item := range n.Items {
		if item.Kind == yamldoc.MappingNode {
			item = item.Get(key)
		}
		if item != nil && item.Kind == yamldoc.ScalarNode {
			out = append(out, item)
		}
	}
	return out
}

// copy declares the values of keys that have the same name as the fact, or another.
func (r *documentReader) copy(link string, n *yamldoc.Node, keys map[string]string) {
	if n == nil {
		return
	}
	for _, p := range n.Pairs {
		if fact := keys[p.Key]; fact != "" && p.Value != nil && p.Value.Kind == yamldoc.ScalarNode {
			r.declare(link, fact, p.Value.Text, r.lineAt(p.Line))
		}
	}
}

// ports declares the ports of a list.
func (r *documentReader) ports(link string, list *yamldoc.Node, key string) {
	for _, port := range items(list, key) {
		r.addPort(link, port.Text, r.line(port))
	}
}
