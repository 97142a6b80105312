package yamldoc

import (
	"strconv"
	"strings"
)

// Write returns a node as YAML text that reads back as the same data: block
// style, two blanks a level, and {...} or [...] where Flow asks for it and no
// comment stands in the way.
func Write(n *Node) string {
	w := &writer{}
	switch {
	case n == nil || n.Kind == NullNode:
		return ""
	case n.Kind == MappingNode && len(n.Pairs) > 0 && !n.Flow:
		w.pairs(n, 0)
	case n.Kind == SequenceNode && len(n.Items) > 0 && !n.Flow:
		w.items(n, 0)
	default:
		w.b.WriteString(OneLine(n) + "\n")
	}
	return w.b.String()
}

type writer struct{ b strings.Builder }

func (w *writer) comment(text string, indent int) {
	if text == "" {
		return
	}
	for _, line := range strings.Split(text, "\n") {
		w.b.WriteString(strings.Repeat(" ", indent) + strings.TrimRight("# "+printable(line), " ") + "\n")
	}
}

func (w *writer) pairs(n *Node, indent int) {
	w.comment(n.Comment, indent)
	for i, p := range n.Pairs {
		w.comment(p.Comment, indent)
		// The first pair of a list's item follows the dash that is written.
		if i > 0 || n.Comment != "" || p.Comment != "" || !strings.HasSuffix(w.b.String(), "- ") {
			w.b.WriteString(strings.Repeat(" ", indent))
		}
		w.b.WriteString(QuotedKey(p.Key) + ":")
		w.value(p.Value, indent)
	}
}

// value writes what follows "key:".
func (w *writer) value(n *Node, indent int) {
	switch {
	case n == nil || n.Kind == NullNode:
		w.b.WriteString("\n")
		if n != nil {
			w.comment(n.Comment, indent+2)
		}
	case n.Kind == MappingNode && len(n.Pairs) > 0 && (!n.Flow || n.Comment != ""):
		w.b.WriteString("\n")
		w.pairs(n, indent+2)
	case n.Kind == SequenceNode && len(n.Items) > 0 && (!n.Flow || n.Comment != ""):
		w.b.WriteString("\n")
		w.items(n, indent+2)
	default:
		w.b.WriteString(" " + OneLine(n) + "\n")
	}
}

func (w *writer) items(n *Node, indent int) {
	w.comment(n.Comment, indent)
	for _, item := range n.Items {
		w.b.WriteString(strings.Repeat(" ", indent) + "- ")
		if item.Kind == MappingNode && len(item.Pairs) > 0 && !item.Flow && item.Comment == "" && item.Pairs[0].Comment == "" {
			w.pairs(item, indent+2)
			continue
		}
		w.b.WriteString(OneLine(item) + "\n")
	}
}

// OneLine is a node on one line.
func OneLine(n *Node) string {
	switch {
	case n == nil || n.Kind == NullNode:
		return "null"
	case n.Kind == ScalarNode:
		return scalarText(n.Text, n.Quoted, true)
	}
	var parts []string
	for _, p := range n.Pairs {
		parts = append(parts, QuotedKey(p.Key)+": "+OneLine(p.Value))
	}
	for _, item := range n.Items {
		parts = append(parts, OneLine(item))
	}
	if n.Kind == MappingNode {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// QuotedKey is a key; the parser loses its way at colons in one.
func QuotedKey(s string) string {
	if strings.Contains(s, ":") {
		return strconv.Quote(s)
	}
	return scalarText(s, false, true)
}

// scalarText is a scalar in quotes where plain text would read as something
// else, or where it was quoted and would read as a number or a word.
func scalarText(s string, quoted, inFlow bool) string {
	plain := s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s[:1], "-?:,[]{}#&*!|>'\"%@`=<~") &&
		!strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":") && printableASCII(s) &&
		(!inFlow || !strings.ContainsAny(s, ",[]{}"))
	if plain && !(quoted && special(s)) && strings.ToLower(s) != "null" {
		return s
	}
	return strconv.Quote(s)
}

// printableASCII keeps what YAML and Go quote alike out of plain text.
func printableASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// special is text that YAML reads as a number, a truth or nothing.
func special(s string) bool {
	if _, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64); err == nil {
		return true
	}
	if _, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 0, 64); err == nil {
		return true
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "~":
		return true
	}
	return false
}
