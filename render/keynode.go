package render

import (
	"strconv"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// What is read from other formats is put together as the YAML of a fabric
// file, with these.

func mapping() *yamldoc.Node { return &yamldoc.Node{Kind: yamldoc.MappingNode} }

func sequence() *yamldoc.Node { return &yamldoc.Node{Kind: yamldoc.SequenceNode} }

func plain(s string) *yamldoc.Node { return &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: s} }

func plainInt(n int) *yamldoc.Node { return plain(strconv.Itoa(n)) }

// quoted is text that stays text though it looks like a number.
func quoted(s string) *yamldoc.Node {
	return &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: s, Quoted: true}
}

// put sets a mapping's key; nil and empty values are left out.
func put(n *yamldoc.Node, key string, value *yamldoc.Node) {
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

// within is the mapping below a key, made where there is none.
func within(n *yamldoc.Node, keys ...string) *yamldoc.Node {
	for _, key := range keys {
		below := n.Get(key)
		if below == nil || below.Kind != yamldoc.MappingNode {
			below = mapping()
			n.Pairs = append(n.Pairs, yamldoc.Pair{Key: key, Value: below})
		}
		n = below
	}
	return n
}

// push adds an item to the list below a key.
func push(n *yamldoc.Node, key string, item *yamldoc.Node) {
	list := n.Get(key)
	if list == nil {
		list = sequence()
		n.Pairs = append(n.Pairs, yamldoc.Pair{Key: key, Value: list})
	}
	list.Items = append(list.Items, item)
}
