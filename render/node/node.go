// Package node builds and changes the YAML of fabric and netplan files.
package node

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// Texts are the items of a list, or of what stands where a list may.
func Texts(n *yamldoc.Node) []string {
	if n == nil || n.Kind == yamldoc.NullNode {
		return nil
	}
	if n.Kind == yamldoc.ScalarNode {
		return []string{n.Text}
	}
	var all []string
	for _, item := range n.Items {
		all = append(all, item.Text)
	}
	return all
}

// Items are a list's; none of a node that is not there.
func Items(n *yamldoc.Node) []*yamldoc.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Said is a scalar's text; "" for what is none, and for a node that is not there.
func Said(n *yamldoc.Node) string {
	if n == nil || n.Kind != yamldoc.ScalarNode {
		return ""
	}
	return n.Text
}

// Mapping returns an empty mapping.
func Mapping() *yamldoc.Node { return &yamldoc.Node{Kind: yamldoc.MappingNode} }

// Sequence returns an empty list.
func Sequence() *yamldoc.Node { return &yamldoc.Node{Kind: yamldoc.SequenceNode} }

// Plain returns a scalar as it stands.
func Plain(s string) *yamldoc.Node { return &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: s} }

// PlainInt returns a number.
func PlainInt(n int) *yamldoc.Node { return Plain(strconv.Itoa(n)) }

// Quoted is text that stays text though it looks like a number.
func Quoted(s string) *yamldoc.Node {
	return &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: s, Quoted: true}
}

// Put sets a mapping's key; nil and empty values are left out.
func Put(n *yamldoc.Node, key string, value *yamldoc.Node) {
	if value == nil || value.Kind != yamldoc.ScalarNode && len(value.Pairs)+len(value.Items) == 0 {
		return
	}
	for i := range n.Pairs {
		if n.Pairs[i].Key == key {
			n.Pairs[i].Value = value
			return
		}
	}
	n.Pairs = append(n.Pairs, yamldoc.Pair{Key: key, Value: value})
}

// PutAt sets the key at a path of keys with dots between them.
func PutAt(n *yamldoc.Node, path string, value *yamldoc.Node) {
	keys := strings.Split(path, ".")
	last := len(keys) - 1
	Put(Within(n, keys[:last]...), keys[last], value)
}

// PutText sets a mapping's key to a quoted text; one that is empty is left out.
func PutText(n *yamldoc.Node, key, text string) {
	if text != "" {
		Put(n, key, Quoted(text))
	}
}

// Within is the mapping at a path below a node, made where there is none.
func Within(n *yamldoc.Node, keys ...string) *yamldoc.Node {
	for _, key := range keys {
		below := n.Get(key)
		if below == nil || below.Kind != yamldoc.MappingNode {
			below = Mapping()
			SetKey(n, key, below)
		}
		n = below
	}
	return n
}

// Push adds an item to the list below a key, which is made where there is none.
func Push(n *yamldoc.Node, key string, item *yamldoc.Node) {
	list := n.Get(key)
	if list == nil || list.Kind != yamldoc.SequenceNode {
		list = Sequence()
		SetKey(n, key, list)
	}
	list.Items = append(list.Items, item)
}

// True reports a node that says true; one that is not there does not.
func True(n *yamldoc.Node) bool { return n != nil && Yes(n.Text) }

// Yes reads netplan's words for true.
func Yes(s string) bool {
	return slices.Contains([]string{"true", "yes", "on", "y"}, strings.ToLower(s))
}

// FlowList is [a, b].
func FlowList(values []string) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}
	for _, v := range values {
		n.Items = append(n.Items, Plain(v))
	}
	return n
}

// FlowMap is {key: value, ...} of the pairs whose value is not "".
func FlowMap(pairs ...string) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			Put(n, pairs[i], Plain(pairs[i+1]))
		}
	}
	return n
}

// SetKey gives a mapping's key the value; nil takes the key out.
func SetKey(n *yamldoc.Node, key string, value *yamldoc.Node) {
	if n.Kind == yamldoc.NullNode {
		n.Kind = yamldoc.MappingNode
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
		n.Pairs = append(n.Pairs, yamldoc.Pair{Key: key, Value: value})
	}
}

// Contains reports whether one of the items is equal to item.
func Contains(items []*yamldoc.Node, item *yamldoc.Node) bool {
	return slices.ContainsFunc(items, func(other *yamldoc.Node) bool { return other.Equal(item) })
}

// QuotedList is a list of quoted texts.
func QuotedList(values []string) *yamldoc.Node {
	n := Sequence()
	for _, v := range values {
		n.Items = append(n.Items, Quoted(v))
	}
	return n
}

// Text leaves numbers plain and quotes what has colons in it.
func Text(s string) *yamldoc.Node {
	if strings.Contains(s, ":") {
		return Quoted(s)
	}
	return Plain(s)
}

// Pairs are a mapping's; none of a node that is not there.
func Pairs(n *yamldoc.Node) []yamldoc.Pair {
	if n == nil {
		return nil
	}
	return n.Pairs
}
