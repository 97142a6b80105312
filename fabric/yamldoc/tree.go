// Package yamldoc reads a YAML document as nodes with their places, tells what
// is wrong with it and where, changes it so that comments survive, and writes
// it. It must never know what a key means.
package yamldoc

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// NodeKind tells the shapes of YAML data apart.
type NodeKind uint8

// The shapes. Zero is a key without a value.
const (
	NullNode NodeKind = iota
	ScalarNode
	MappingNode
	SequenceNode
)

// String is the shape as an error message names it.
func (k NodeKind) String() string {
	switch k {
	case ScalarNode:
		return "a value"
	case MappingNode:
		return "a mapping"
	case SequenceNode:
		return "a list"
	}
	return "nothing"
}

// Node is YAML as ordered data: what a key held that nothing here reads, kept
// as it was written.
type Node struct {
	Kind NodeKind
	// Text is a scalar as written, quotes removed: 5.10 stays "5.10".
	Text string
	// Quoted is true for a scalar that was written as a string on purpose.
	Quoted bool
	Pairs  []Pair  // of a mapping, in file order
	Items  []*Node // of a sequence
	// Line and Column are where it was read, from 1; zero when made up.
	Line, Column int
	// Flow asks for {a: b} and [a, b] instead of one line each.
	Flow bool
	// Comment goes above a mapping's pairs or a list's items when written.
	Comment string
}

// Pair is one key of a mapping and what it holds.
type Pair struct {
	Key          string
	Line, Column int // of the key
	Value        *Node
	// Comment lines go above the pair when written.
	Comment string
}

// Get returns what a mapping's key holds, nil when it has no such key.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Pairs {
		if n.Pairs[i].Key == key {
			return n.Pairs[i].Value
		}
	}
	return nil
}

// Children are the values of a mapping by key; of equal keys the first.
func (n *Node) Children() map[string]*Node {
	if n == nil {
		return nil
	}
	all := make(map[string]*Node, len(n.Pairs))
	for i := range n.Pairs {
		if _, known := all[n.Pairs[i].Key]; !known {
			all[n.Pairs[i].Key] = n.Pairs[i].Value
		}
	}
	return all
}

// Find follows keys and, for sequences, indices as far as they lead, and
// returns the last node reached: where to point for a problem below.
func (n *Node) Find(path ...any) *Node {
	for _, step := range path {
		var next *Node
		switch s := step.(type) {
		case string:
			next = n.Get(s)
		case int:
			if s >= 0 && s < len(n.Items) {
				next = n.Items[s]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// Clone is a copy that shares nothing.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Pairs = append([]Pair(nil), n.Pairs...)
	for i := range c.Pairs {
		c.Pairs[i].Value = c.Pairs[i].Value.Clone()
	}
	c.Items = append([]*Node(nil), n.Items...)
	for i := range c.Items {
		c.Items[i] = c.Items[i].Clone()
	}
	return &c
}

// maxNodes bounds what aliases may expand to: an honest file of ten thousand
// hosts and as many paths as it has reason to name has a million nodes.
const maxNodes = 1_200_000

// Document is a document and which of its containers took something from an
// alias, so that their text alone does not say what they hold.
type Document struct {
	Root    *Node
	aliased map[*Node]bool
	lines   []string
}

// builder turns the parser's AST into Nodes.
type builder struct {
	*Collector
	lines   []string
	anchors map[string]*Node
	sizes   map[*Node]int // nodes in an anchored subtree, aliases expanded
	aliased map[*Node]bool
	count   int
	full    bool
}

func (b *builder) build(n ast.Node) *Node {
	if b.count++; b.count > maxNodes {
		b.overflow(n)
		return &Node{}
	}
	switch v := n.(type) {
	case nil:
		return &Node{}
	case *ast.AnchorNode:
		return b.anchor(v)
	case *ast.AliasNode:
		return b.alias(v)
	case *ast.TagNode:
		return b.build(v.Value)
	case *ast.MappingNode:
		return b.mapping(v, v.Values, v.IsFlowStyle)
	case *ast.MappingValueNode:
		return b.mapping(v, []*ast.MappingValueNode{v}, v.IsFlowStyle)
	case *ast.SequenceNode:
		return b.sequence(v)
	case *ast.NullNode:
		return located(v, Node{Kind: NullNode})
	case *ast.LiteralNode:
		return located(v, Node{Kind: ScalarNode, Text: v.Value.Value, Quoted: true})
	}
	tk := n.GetToken()
	if tk == nil {
		return &Node{}
	}
	quoted := tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType
	return located(n, Node{Kind: ScalarNode, Text: tk.Value, Quoted: quoted})
}

func (b *builder) overflow(n ast.Node) {
	if b.full {
		return
	}
	b.full = true
	line, column := position(n)
	b.Add(line, column, "the file expands to too much data", "write fewer aliases (*name)")
}

func position(n ast.Node) (line, column int) {
	if n == nil {
		return 0, 0
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return 0, 0
	}
	return tk.Position.Line, tk.Position.Column
}

func located(n ast.Node, v Node) *Node {
	v.Line, v.Column = position(n)
	return &v
}

func (b *builder) anchor(v *ast.AnchorNode) *Node {
	before := b.count
	n := b.build(v.Value)
	if n.Line == 0 {
		n.Line, n.Column = position(v)
	}
	if v.Name != nil && v.Name.GetToken() != nil {
		b.anchors[v.Name.GetToken().Value] = n
		b.sizes[n] = b.count - before
	}
	return n
}

func (b *builder) alias(v *ast.AliasNode) *Node {
	line, column := position(v)
	name := ""
	if v.Value != nil && v.Value.GetToken() != nil {
		name = v.Value.GetToken().Value
	}
	n, ok := b.anchors[name]
	if !ok {
		b.Add(line, column, "alias *"+name+" names no anchor above it", "")
		return &Node{Line: line, Column: column}
	}
	if b.count += b.sizes[n]; b.count > maxNodes {
		b.overflow(v)
		return &Node{Line: line, Column: column}
	}
	return n
}

func (b *builder) sequence(v *ast.SequenceNode) *Node {
	n := located(v, Node{Kind: SequenceNode, Flow: v.IsFlowStyle})
	for _, item := range v.Values {
		b.note(n, item)
		built := b.build(item)
		if v.IsFlowStyle {
			b.rejoin(built)
		}
		n.Items = append(n.Items, built)
	}
	return n
}

// rejoin undoes what the parser does to a plain text with colons in it, such
// as an IPv6 address in [fd00::1/64] within {...}: it makes {fd00: ":1/64"} of
// it, though only a colon before a blank ends a key there (YAML 1.2.2, 7.3.3).
func (b *builder) rejoin(n *Node) {
	if n.Kind != MappingNode || len(n.Pairs) != 1 || n.Pairs[0].Value.Kind != ScalarNode || n.Pairs[0].Value.Quoted {
		return
	}
	p := n.Pairs[0]
	joined := p.Key + ":" + p.Value.Text
	if p.Line < 1 || p.Line > len(b.lines) {
		return
	}
	line := []rune(b.lines[p.Line-1])
	if p.Column < 1 || p.Column > len(line) || !strings.HasPrefix(string(line[p.Column-1:]), joined) || p.Value.Text == "" {
		return
	}
	*n = Node{Kind: ScalarNode, Text: joined, Line: p.Line, Column: p.Column}
}

func (b *builder) note(holder *Node, n ast.Node) {
	if _, ok := n.(*ast.AliasNode); ok {
		b.aliased[holder] = true
	}
}

func (b *builder) mapping(at ast.Node, values []*ast.MappingValueNode, flow bool) *Node {
	n := located(at, Node{Kind: MappingNode, Flow: flow})
	seen := map[string]int{}
	var merged []*Node
	for _, v := range values {
		line, column := position(v.Key)
		if v.Key != nil && v.Key.IsMergeKey() {
			b.aliased[n] = true
			merged = append(merged, b.mergeSources(v.Value)...)
			continue
		}
		key, ok := keyText(v.Key)
		if !ok {
			b.Add(line, column, "a key must be plain text", "")
			continue
		}
		first, twice := seen[key]
		if twice && b.Repeated {
			join(n, Pair{Key: key, Line: line, Column: column, Value: b.build(v.Value)})
			continue
		}
		if twice {
			b.Add(line, column, "duplicate key "+Quote(key)+" (first on line "+itoa(first)+")", "")
			continue
		}
		seen[key] = line
		b.note(n, v.Value)
		value := b.build(v.Value)
		if value.Line == 0 {
			value.Line, value.Column = line, column
		}
		n.Pairs = append(n.Pairs, Pair{Key: key, Line: line, Column: column, Value: value})
	}
	if len(n.Pairs) > 0 && !flow {
		n.Line, n.Column = n.Pairs[0].Line, n.Pairs[0].Column
	}
	b.merge(n, merged, seen)
	return n
}

// join adds a pair to a mapping that has its key already.
func join(n *Node, p Pair) {
	for i := range n.Pairs {
		have := &n.Pairs[i]
		switch {
		case have.Key != p.Key:
			continue
		case have.Value.Kind != MappingNode || p.Value.Kind != MappingNode:
			have.Value = p.Value
		default:
			for _, inner := range p.Value.Pairs {
				join(have.Value, inner)
			}
		}
		return
	}
	n.Pairs = append(n.Pairs, p)
}

// keyText is a key's text; false for keys that are themselves lists,
// mappings, aliases.
func keyText(k ast.MapKeyNode) (string, bool) {
	var n ast.Node = k
	if q, ok := k.(*ast.MappingKeyNode); ok {
		n = q.Value
	}
	switch v := n.(type) {
	case nil, *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode, *ast.AliasNode, *ast.AnchorNode, *ast.TagNode, *ast.LiteralNode, *ast.NullNode:
		return "", false
	default:
		if v.GetToken() == nil {
			return "", false
		}
		return v.GetToken().Value, true
	}
}

// mergeSources are the mappings a "<<" key brings in.
func (b *builder) mergeSources(v ast.Node) []*Node {
	n := b.build(v)
	if n.Kind == MappingNode {
		return []*Node{n}
	}
	if n.Kind == SequenceNode {
		for _, item := range n.Items {
			if item.Kind != MappingNode {
				b.At(n, "<< takes mappings only", "")
				return nil
			}
		}
		return n.Items
	}
	b.At(n, "<< takes a mapping, not "+n.Kind.String(), "")
	return nil
}

// merge adds the pairs that n does not have itself; of several sources the
// first wins (https://yaml.org/type/merge.html).
func (b *builder) merge(n *Node, sources []*Node, seen map[string]int) {
	for _, s := range sources {
		for _, p := range s.Pairs {
			if _, own := seen[p.Key]; own {
				continue
			}
			if b.count++; b.count > maxNodes {
				return
			}
			seen[p.Key] = p.Line
			n.Pairs = append(n.Pairs, p)
		}
	}
}
