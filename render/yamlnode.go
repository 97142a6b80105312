package render

import (
	"net/netip"
	"strconv"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// flowList is [a, b].
func flowList(values []string) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}
	for _, v := range values {
		n.Items = append(n.Items, plain(v))
	}
	return n
}

// flowMap is {key: value, ...} of the pairs whose value is not "".
func flowMap(pairs ...string) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			n.Pairs = append(n.Pairs, yamldoc.Pair{Key: pairs[i], Value: plain(pairs[i+1])})
		}
	}
	return n
}

// setKey gives a mapping's key the value; nil takes the key out.
func setKey(n *yamldoc.Node, key string, value *yamldoc.Node) {
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

// appendItem adds to a mapping's list, which is made where there is none.
func appendItem(n *yamldoc.Node, key string, item *yamldoc.Node) {
	l := n.Get(key)
	if l == nil || l.Kind != yamldoc.SequenceNode {
		l = &yamldoc.Node{Kind: yamldoc.SequenceNode}
		setKey(n, key, l)
	}
	l.Items = append(l.Items, item)
}

func prefixText(p netip.Prefix) string {
	if !p.IsValid() {
		return ""
	}
	return p.String()
}

// numberText is a number's text, "" for zero.
func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
