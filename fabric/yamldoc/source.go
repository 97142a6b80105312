package yamldoc

import (
	"slices"
	"strings"
)

// Source is a mapping's own text, comments included, with the indentation it
// has in the file taken off. A mapping that takes something from an alias is
// written anew, since its text alone would not say what it holds.
func (t *Document) Source(inner *Node) string {
	if inner.Kind != MappingNode || len(inner.Pairs) == 0 {
		return ""
	}
	if !t.TakesAlias(inner) {
		cut, ok := "", false
		if inner.Flow {
			cut, ok = flowText(t.lines, inner)
		} else {
			cut, ok = blockText(t.lines, inner)
		}
		// The cut must say what the tree says: a parser of the whole file and
		// one of the cut may not differ.
		if ok && SameText(cut, inner) {
			return cut
		}
	}
	return Write(inner)
}

func (t *Document) TakesAlias(n *Node) bool {
	if t.aliased[n] {
		return true
	}
	for _, p := range n.Pairs {
		if t.TakesAlias(p.Value) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, t.TakesAlias)
}

// SameText reports whether text reads as n.
func SameText(text string, n *Node) bool {
	ps := &Collector{}
	t := Read(ps, []byte(text))
	return t != nil && len(ps.All) == 0 && equal(t.Root, n)
}

// equal compares data, not places or styles.
func equal(a, b *Node) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Pairs) != len(b.Pairs) || len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Pairs {
		if a.Pairs[i].Key != b.Pairs[i].Key || !equal(a.Pairs[i].Value, b.Pairs[i].Value) {
			return false
		}
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	return true
}

// LastLine is the last line on which a node begins.
func LastLine(n *Node) int {
	last := n.Line
	for _, p := range n.Pairs {
		last = max(last, p.Line, LastLine(p.Value))
	}
	for _, item := range n.Items {
		last = max(last, LastLine(item))
	}
	return last
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func blank(line string) bool { return strings.TrimSpace(line) == "" }

func comment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// blockText cuts the lines of a block mapping, from the comments above its
// first key to the last line that is indented like it or deeper.
func blockText(lines []string, n *Node) (string, bool) {
	indent := n.Pairs[0].Column - 1
	first := n.Pairs[0].Line - 1
	if first < 0 || first >= len(lines) || indentation(lines[first]) != indent {
		return "", false
	}
	last := LastLine(n) - 1
	if last < first || last >= len(lines) { // the parser misplaces some tokens
		return "", false
	}
	for first > 0 && (comment(lines[first-1]) || blank(lines[first-1])) {
		if comment(lines[first-1]) && indentation(lines[first-1]) < indent {
			break
		}
		first--
	}
	end := last + 1
	for end < len(lines) && (blank(lines[end]) || indentation(lines[end]) >= max(indent, 1)) {
		end++
	}
	if indent == 0 {
		end = len(lines)
	}
	cut := append([]string(nil), lines[first:end]...)
	for len(cut) > 0 && blank(cut[len(cut)-1]) {
		cut = cut[:len(cut)-1]
	}
	for len(cut) > 0 && blank(cut[0]) {
		cut = cut[1:]
	}
	for i, line := range cut {
		cut[i] = line[min(indent, indentation(line)):]
		if blank(line) {
			cut[i] = ""
		}
	}
	return strings.Join(cut, "\n") + "\n", true
}

// flowText cuts {...} at its position; its inner lines keep no indentation
// that means anything.
func flowText(lines []string, n *Node) (string, bool) {
	if n.Line < 1 || n.Line > len(lines) {
		return "", false
	}
	start := []rune(lines[n.Line-1])
	if n.Column < 1 || n.Column > len(start) || start[n.Column-1] != '{' {
		return "", false
	}
	last := min(len(lines), LastLine(n)+16) // the brace may close below
	rest := string(start[n.Column-1:]) + "\n" + strings.Join(lines[n.Line:max(last, n.Line)], "\n")
	end := bracketEnd(rest)
	if end < 0 {
		return "", false
	}
	cut := strings.Split(rest[:end+1], "\n")
	for i := 1; i < len(cut); i++ {
		cut[i] = "  " + strings.TrimSpace(cut[i])
	}
	return strings.Join(cut, "\n") + "\n", true
}
