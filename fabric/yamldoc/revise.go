package yamldoc

import (
	"slices"
	"sort"
	"strings"
)

// Parse returns one YAML document as ordered data, with line and column of
// every node; a NullNode for an empty one. The error is Problems.
func Parse(name string, text []byte) (*Node, error) {
	return parse(&Collector{File: name}, text)
}

// ParseRepeated is Parse of a document whose keys may stand twice: mappings are joined,
// of all else the last counts.
func ParseRepeated(name string, text []byte) (*Node, error) {
	return parse(&Collector{File: name, Repeated: true}, text)
}

func parse(ps *Collector, text []byte) (*Node, error) {
	t := Read(ps, Normalised(text))
	if err := ps.All.Err(); err != nil {
		return nil, err
	}
	return t.Root, nil
}

// Equal reports whether two nodes hold the same data: order counts in lists
// and not in mappings, styles, places and comments do not.
func (n *Node) Equal(other *Node) bool {
	if n == nil || other == nil {
		return n == other
	}
	if n.Kind != other.Kind || n.Text != other.Text || len(n.Pairs) != len(other.Pairs) || len(n.Items) != len(other.Items) {
		return false
	}
	values := other.Children()
	for i := range n.Pairs {
		if v, ok := values[n.Pairs[i].Key]; !ok || !n.Pairs[i].Value.Equal(v) {
			return false
		}
	}
	for i := range n.Items {
		if !n.Items[i].Equal(other.Items[i]) {
			return false
		}
	}
	return true
}

// maxRevisions bounds the changes made one by one to a text.
const maxRevisions = 300

// Revise returns text changed to read as wanted: values, keys and items are
// changed where they stand; comments, order and style of the rest stay. Kept
// is false for a text that had to be written anew, without its comments,
// because it has a form that cannot be changed piece by piece (aliases,
// mappings over several lines in braces). The error is Problems, for a text
// that is no YAML.
func Revise(text string, wanted *Node) (revised string, kept bool, err error) {
	ps := &Collector{File: "text"}
	t := Read(ps, Normalised([]byte(text)))
	if err := ps.All.Err(); err != nil {
		return "", false, err
	}
	if t.TakesAlias(t.Root) {
		if t.Root.Equal(wanted) {
			return text, true, nil
		}
		return Write(wanted), false, nil
	}
	if t.Root.Kind == NullNode && wanted.Kind == MappingNode {
		text = strings.TrimRight(strings.Join(t.lines, "\n"), "\n")
		if text != "" {
			text += "\n"
		}
		return text + Write(wanted), true, nil
	}
	changed := false
	for range maxRevisions {
		if t.Root.Equal(wanted) {
			if !changed {
				return text, true, nil
			}
			return strings.Join(t.lines, "\n"), true, nil
		}
		r := reviser{lines: append([]string(nil), t.lines...)}
		if !r.node(t.Root, wanted, nil) {
			break
		}
		changed = true
		next := &Collector{}
		if t = Read(next, []byte(strings.Join(r.lines, "\n"))); t == nil || len(next.All) > 0 {
			break
		}
	}
	return Write(wanted), false, nil
}

// reviser makes one change to a text's lines.
type reviser struct{ lines []string }

// node changes the first thing that differs below have; false where it cannot.
// Holder is the pair that have is the value of, nil at the top, in a list and
// in braces.
func (r *reviser) node(have, want *Node, holder *Pair) bool {
	switch {
	case have.Equal(want):
		return false
	case have.Line < 1 || have.Line > len(r.lines):
		return false
	case have.Kind != want.Kind, have.Kind == MappingNode && (len(want.Pairs) == 0 || len(have.Pairs) == 0),
		have.Kind == SequenceNode && (len(want.Items) == 0 || len(have.Items) == 0):
		return r.replace(have, want, holder)
	case have.Kind == ScalarNode:
		return r.set(ReplaceScalar(r.lines, have, scalarText(want.Text, want.Quoted, true)))
	case have.Kind == MappingNode:
		return r.mapping(have, want)
	}
	return r.sequence(have, want, holder)
}

func (r *reviser) set(text string, ok bool) bool {
	if ok {
		r.lines = strings.Split(text, "\n")
	}
	return ok
}

func (r *reviser) mapping(have, want *Node) bool {
	if have.Flow {
		return r.braces(have, want)
	}
	for i, p := range have.Pairs {
		switch v := want.Get(p.Key); {
		case v == nil:
			return r.cut(p.Line, LastLine(p.Value))
		case !v.Equal(p.Value):
			return r.node(p.Value, v, &have.Pairs[i])
		}
	}
	for _, p := range want.Pairs {
		if have.Get(p.Key) == nil {
			w := &writer{}
			w.pairs(&Node{Pairs: []Pair{p}}, have.Pairs[0].Column-1)
			return r.insert(LastLine(have), w.b.String())
		}
	}
	return false
}

// braces changes one value in {...}, or puts one pair in front.
func (r *reviser) braces(have, want *Node) bool {
	missing := false
	for _, p := range have.Pairs {
		switch v := want.Get(p.Key); {
		case v == nil:
			missing = true
		case !v.Equal(p.Value):
			if p.Value.Kind == v.Kind && r.node(p.Value, v, nil) {
				return true
			}
			missing = true
		}
	}
	for _, p := range want.Pairs {
		if !missing && have.Get(p.Key) == nil {
			first := have.Pairs[0]
			return r.set(ReplaceAt(r.lines, first.Line, first.Column, "", QuotedKey(p.Key)+": "+OneLine(p.Value)+", "))
		}
	}
	return r.span(have, OneLine(ordered(want, have)))
}

// ordered is want with its pairs in the order that have has them.
func ordered(want, have *Node) *Node {
	place := map[string]int{}
	for i, p := range have.Pairs {
		place[p.Key] = i + 1
	}
	c := *want
	c.Pairs = append([]Pair(nil), want.Pairs...)
	sort.SliceStable(c.Pairs, func(i, j int) bool {
		a, b := place[c.Pairs[i].Key], place[c.Pairs[j].Key]
		return a != 0 && (b == 0 || a < b)
	})
	return &c
}

func (r *reviser) sequence(have, want *Node, holder *Pair) bool {
	if have.Flow {
		return r.span(have, OneLine(want))
	}
	for _, item := range have.Items {
		if !holds(want, item) {
			if _, ok := r.dash(item); !ok {
				return r.replace(have, want, holder)
			}
			return r.cut(item.Line, LastLine(item))
		}
	}
	for i, item := range want.Items {
		if holds(have, item) {
			continue
		}
		after := have.Items[min(max(i-1, 0), len(have.Items)-1)]
		indent, ok := r.dash(after)
		if !ok {
			return r.replace(have, want, holder)
		}
		line := LastLine(after)
		if i == 0 {
			line = after.Line - 1
		}
		w := &writer{}
		w.items(&Node{Items: []*Node{item}}, indent)
		return r.insert(line, w.b.String())
	}
	return r.replace(have, want, holder) // another order
}

func holds(list, item *Node) bool {
	return slices.ContainsFunc(list.Items, func(other *Node) bool { return other.Equal(item) })
}

// dash is the indentation of an item's dash, where the item begins its line.
func (r *reviser) dash(item *Node) (int, bool) {
	if item.Line < 1 || item.Line > len(r.lines) {
		return 0, false
	}
	line := r.lines[item.Line-1]
	rest := strings.TrimLeft(line, " ")
	return indentation(line), strings.HasPrefix(rest, "- ") && !strings.HasPrefix(strings.TrimLeft(rest[2:], " "), "- ")
}

// cut takes whole lines out, from and to counted from 1.
func (r *reviser) cut(from, to int) bool {
	if from < 1 || to < from || to > len(r.lines) {
		return false
	}
	r.lines = append(r.lines[:from-1:from-1], r.lines[to:]...)
	return true
}

// insert puts text's lines below a line, 0 being above the first.
func (r *reviser) insert(below int, text string) bool {
	if below < 0 || below > len(r.lines) {
		return false
	}
	added := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	r.lines = append(r.lines[:below:below], append(added, r.lines[below:]...)...)
	return true
}

// replace puts another value in the place of have.
func (r *reviser) replace(have, want *Node, holder *Pair) bool {
	switch {
	case have.Flow:
		return r.span(have, OneLine(want))
	case have.Kind == ScalarNode && want.Kind == ScalarNode:
		return r.set(ReplaceScalar(r.lines, have, OneLine(want)))
	case holder == nil || holder.Line < 1 || holder.Line > len(r.lines):
		return false
	}
	// What precedes the key on its line stays: the dash of a list's item.
	line := []rune(r.lines[holder.Line-1])
	if holder.Column < 1 || holder.Column > len(line) {
		return false
	}
	w := &writer{}
	w.b.WriteString(string(line[:holder.Column-1]) + QuotedKey(holder.Key) + ":")
	w.value(want, holder.Column-1)
	last := max(holder.Line, LastLine(have))
	return r.cut(holder.Line, last) && r.insert(holder.Line-1, w.b.String())
}

// span replaces {...} or [...].
func (r *reviser) span(n *Node, replacement string) bool {
	line := []rune(r.lines[n.Line-1])
	if n.Column < 1 || n.Column > len(line) || line[n.Column-1] != '{' && line[n.Column-1] != '[' {
		return false
	}
	rest := string(line[n.Column-1:]) + "\n" + strings.Join(r.lines[n.Line:], "\n")
	end := bracketEnd(rest)
	if end < 0 {
		return false
	}
	head := append(append([]string(nil), r.lines[:n.Line-1]...), string(line[:n.Column-1])+replacement)
	r.lines = strings.Split(strings.Join(head, "\n")+rest[end+1:], "\n")
	return true
}

// bracketEnd is the index of the bracket that closes the one text begins with;
// -1 where none does.
func bracketEnd(text string) int {
	depth, quoted, comment := 0, byte(0), false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case comment:
			comment = c != '\n'
		case quoted == '"' && c == '\\':
			i++
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '#' && i > 0 && (text[i-1] == ' ' || text[i-1] == '\n'):
			comment = true
		case (c == '"' || c == '\'') && strings.IndexByte(" ,[{:\n", text[max(i-1, 0)]) >= 0:
			quoted = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func ReplaceScalar(lines []string, n *Node, value string) (string, bool) {
	if n.Kind != ScalarNode {
		return "", false
	}
	if !n.Quoted {
		return ReplaceAt(lines, n.Line, n.Column, n.Text, value)
	}
	for _, q := range []string{`"`, `'`} {
		if text, ok := ReplaceAt(lines, n.Line, n.Column, q+n.Text+q, value); ok {
			return text, true
		}
	}
	return "", false
}

// ReplaceAt replaces old, which must stand at the place.
func ReplaceAt(lines []string, line, column int, old, replacement string) (string, bool) {
	runes := []rune(lines[line-1])
	if column < 1 || column > len(runes)+1 {
		return "", false
	}
	before, after := string(runes[:column-1]), string(runes[column-1:])
	after, ok := strings.CutPrefix(after, old)
	if !ok {
		return "", false
	}
	changed := append([]string(nil), lines...)
	changed[line-1] = before + replacement + after
	return strings.Join(changed, "\n"), true
}
