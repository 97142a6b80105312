package render

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// What is read from other formats is put together as the YAML of a fabric
// file, with these.

func mapping() *fabric.Node { return &fabric.Node{Kind: fabric.MappingNode} }

func sequence() *fabric.Node { return &fabric.Node{Kind: fabric.SequenceNode} }

func plain(s string) *fabric.Node { return &fabric.Node{Kind: fabric.ScalarNode, Text: s} }

func plainInt(n int) *fabric.Node { return plain(strconv.Itoa(n)) }

// quoted is text that stays text though it looks like a number.
func quoted(s string) *fabric.Node {
	return &fabric.Node{Kind: fabric.ScalarNode, Text: s, Quoted: true}
}

// put sets a mapping's key; nil and empty values are left out.
func put(n *fabric.Node, key string, value *fabric.Node) {
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

// within is the mapping at a path below a node, made where there is none.
func within(n *fabric.Node, keys ...string) *fabric.Node {
	for _, key := range keys {
		below := n.Get(key)
		if below == nil || below.Kind != fabric.MappingNode {
			below = mapping()
			setKey(n, key, below)
		}
		n = below
	}
	return n
}

// push adds an item to the list below a key, which is made where there is none.
func push(n *fabric.Node, key string, item *fabric.Node) {
	list := n.Get(key)
	if list == nil || list.Kind != fabric.SequenceNode {
		list = sequence()
		setKey(n, key, list)
	}
	list.Items = append(list.Items, item)
}

// isTrue reads netplan's words for true; a node that is not there is false.
func isTrue(n *fabric.Node) bool {
	if n == nil {
		return false
	}
	switch strings.ToLower(n.Text) {
	case "true", "yes", "on", "y":
		return true
	}
	return false
}
