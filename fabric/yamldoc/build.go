package yamldoc

import (
	"fmt"
	"strconv"
)

// Set appends a pair, and leaves out what is nil.
func (n *Node) Set(key string, value *Node) {
	if value != nil {
		n.Pairs = append(n.Pairs, Pair{Key: key, Value: value})
	}
}

// Remark adds a line of comment above a mapping's pairs.
func (n *Node) Remark(format string, args ...any) {
	if n.Comment != "" {
		n.Comment += "\n"
	}
	n.Comment += fmt.Sprintf(format, args...)
}

func Text(s string) *Node { return &Node{Kind: ScalarNode, Text: s} }

// Quoted is text that stays text though it looks like a number.
func Quoted(s string) *Node { return &Node{Kind: ScalarNode, Text: s, Quoted: true} }

func Count(n int) *Node {
	if n == 0 {
		return nil
	}
	return Text(strconv.Itoa(n))
}

// Filled is nil without pairs and comment.
func Filled(n *Node) *Node {
	if len(n.Pairs) == 0 && n.Comment == "" && len(n.Items) == 0 {
		return nil
	}
	return n
}

func Texts(all []string) *Node {
	n := &Node{Kind: SequenceNode, Flow: true}
	for _, name := range all {
		n.Items = append(n.Items, Text(name))
	}
	return n
}
