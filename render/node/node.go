// Package node builds and changes the YAML of fabric and netplan files.
package node

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// Texts are the items of a list, or of what stands where a list may.
func Texts(n *fabric.Node) []string {
	if n == nil || n.Kind == fabric.NullNode {
		return nil
	}
	if n.Kind == fabric.ScalarNode {
		return []string{n.Text}
	}
	var all []string
	for _, item := range n.Items {
		all = append(all, item.Text)
	}
	return all
}

// Mapping returns an empty mapping.
func Mapping() *fabric.Node { return &fabric.Node{Kind: fabric.MappingNode} }

// Sequence returns an empty list.
func Sequence() *fabric.Node { return &fabric.Node{Kind: fabric.SequenceNode} }

// Plain returns a scalar as it stands.
func Plain(s string) *fabric.Node { return &fabric.Node{Kind: fabric.ScalarNode, Text: s} }

// PlainInt returns a number.
func PlainInt(n int) *fabric.Node { return Plain(strconv.Itoa(n)) }

// Quoted is text that stays text though it looks like a number.
func Quoted(s string) *fabric.Node {
	return &fabric.Node{Kind: fabric.ScalarNode, Text: s, Quoted: true}
}

// Put sets a mapping's key; nil and empty values are left out.
func Put(n *fabric.Node, key string, value *fabric.Node) {
	if value == nil || value.Kind != fabric.ScalarNode && len(value.Pairs)+len(value.Items) == 0 {
		return
	}
	for i := range n.Pairs {
		if n.Pairs[i].Key == key {
			n.Pairs[i].Value = value
			return
		}
	}
	n.Pairs = append(n.Pairs, fabric.Pair{Key: key, Value: value})
}

// PutAt sets the key at a path of keys with dots between them.
func PutAt(n *fabric.Node, path string, value *fabric.Node) {
	keys := strings.Split(path, ".")
	last := len(keys) - 1
	Put(Within(n, keys[:last]...), keys[last], value)
}

// PutText sets a mapping's key to a quoted text; one that is empty is left out.
func PutText(n *fabric.Node, key, text string) {
	if text != "" {
		Put(n, key, Quoted(text))
	}
}

// Within is the mapping at a path below a node, made where there is none.
func Within(n *fabric.Node, keys ...string) *fabric.Node {
	for _, key := range keys {
		below := n.Get(key)
		if below == nil || below.Kind != fabric.MappingNode {
			below = Mapping()
			SetKey(n, key, below)
		}
		n = below
	}
	return n
}

// Push adds an item to the list below a key, which is made where there is none.
func Push(n *fabric.Node, key string, item *fabric.Node) {
	list := n.Get(key)
	if list == nil || list.Kind != fabric.SequenceNode {
		list = Sequence()
		SetKey(n, key, list)
	}
	list.Items = append(list.Items, item)
}

// True reports a node that says true; one that is not there does not.
func True(n *fabric.Node) bool { return n != nil && Yes(n.Text) }

// Yes reads netplan's words for true.
func Yes(s string) bool {
	return slices.Contains([]string{"true", "yes", "on", "y"}, strings.ToLower(s))
}

// FlowList is [a, b].
func FlowList(values []string) *fabric.Node {
	n := &fabric.Node{Kind: fabric.SequenceNode, Flow: true}
	for _, v := range values {
		n.Items = append(n.Items, Plain(v))
	}
	return n
}

// FlowMap is {key: value, ...} of the pairs whose value is not "".
func FlowMap(pairs ...string) *fabric.Node {
	n := &fabric.Node{Kind: fabric.MappingNode, Flow: true}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			Put(n, pairs[i], Plain(pairs[i+1]))
		}
	}
	return n
}

// SetKey gives a mapping's key the value; nil takes the key out.
func SetKey(n *fabric.Node, key string, value *fabric.Node) {
	if n.Kind == fabric.NullNode {
		n.Kind = fabric.MappingNode
	}
	for i := range n.Pairs {
		if n.Pairs[i].Key != key {
			continue
		}
		if value == nil {
			n.Pairs = append(n.Pairs[:i:i], n.Pairs[i+1:]...)
			return
		}
		n.Pairs[i].Value = value
		return
	}
	if value != nil {
		n.Pairs = append(n.Pairs, fabric.Pair{Key: key, Value: value})
	}
}

// Contains reports whether one of the items is equal to item.
func Contains(items []*fabric.Node, item *fabric.Node) bool {
	for _, other := range items {
		if other.Equal(item) {
			return true
		}
	}
	return false
}

// QuotedList is a list of quoted texts.
func QuotedList(values []string) *fabric.Node {
	n := Sequence()
	for _, v := range values {
		n.Items = append(n.Items, Quoted(v))
	}
	return n
}

// Text leaves numbers plain and quotes what has colons in it.
func Text(s string) *fabric.Node {
	if strings.Contains(s, ":") {
		return Quoted(s)
	}
	return Plain(s)
}

// Pairs are a mapping's; none of a node that is not there.
func Pairs(n *fabric.Node) []fabric.Pair {
	if n == nil {
		return nil
	}
	return n.Pairs
}
