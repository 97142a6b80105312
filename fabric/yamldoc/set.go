package yamldoc

import "strings"

// Set returns the text with value at what path leads to, missing mappings made: changed
// in place if that gives what setting it in the tree gives, else written anew from the
// tree. Name is the text's in errors, which are Problems.
func Set(name, text string, value *Node, path ...string) (string, error) {
	ps := &Collector{File: name}
	t := Read(ps, []byte(text))
	if t == nil || len(ps.All) > 0 {
		return "", ps.All.Err()
	}
	wanted := t.Root.Clone()
	setNode(wanted, value, path)
	changed, ok := setText(text, t.Root, value, path)
	if !ok || t.TakesAlias(t.Root) || !SameText(changed, wanted) {
		changed = Write(wanted)
	}
	return changed, nil
}

// setNode sets a path of the tree, making what is missing: first in a {...}
// mapping and last in a block, which is where text is put with ease.
func setNode(n *Node, value *Node, path []string) {
	n.Kind = MappingNode
	for i := range n.Pairs {
		if n.Pairs[i].Key != path[0] {
			continue
		}
		if len(path) == 1 {
			n.Pairs[i].Value = value
			return
		}
		setNode(n.Pairs[i].Value, value, path[1:])
		return
	}
	added := Pair{Key: path[0], Value: nested(value, path[1:])}
	if n.Flow {
		n.Pairs = append([]Pair{added}, n.Pairs...)
		return
	}
	n.Pairs = append(n.Pairs, added)
}

// nested is {a: {b: value}} for the path a, b.
func nested(value *Node, path []string) *Node {
	for i := len(path) - 1; i >= 0; i-- {
		value = &Node{Kind: MappingNode, Flow: true, Pairs: []Pair{{Key: path[i], Value: value}}}
	}
	return value
}

// setText is setNode on the text; false where the text has a form that this
// does not know.
func setText(text string, n *Node, value *Node, path []string) (string, bool) {
	for len(path) > 0 && n.Get(path[0]) != nil {
		n, path = n.Get(path[0]), path[1:]
	}
	lines := strings.Split(text, "\n")
	if n.Line < 1 || n.Line > len(lines) {
		return "", false
	}
	if len(path) == 0 {
		return ReplaceScalar(lines, n, OneLine(value))
	}
	added := QuotedKey(path[0]) + ": " + OneLine(nested(value, path[1:]))
	switch {
	case n.Kind != MappingNode:
		return "", false
	case len(n.Pairs) == 0:
		return ReplaceAt(lines, n.Line, n.Column, "{}", "{"+added+"}")
	case n.Flow:
		p := n.Pairs[0]
		return ReplaceAt(lines, p.Line, p.Column, "", added+", ")
	}
	last := LastLine(n)
	if last > len(lines) {
		return "", false
	}
	line := strings.Repeat(" ", n.Pairs[0].Column-1) + added
	lines = append(lines[:last:last], append([]string{line}, lines[last:]...)...)
	return strings.Join(lines, "\n"), true
}
