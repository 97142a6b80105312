package render

import (
	"net/netip"
	"strconv"

	"github.com/linerate/linerate/fabric"
)

// flowList is [a, b].
func flowList(values []string) *fabric.Node {
	n := &fabric.Node{Kind: fabric.SequenceNode, Flow: true}
	for _, v := range values {
		n.Items = append(n.Items, plain(v))
	}
	return n
}

// flowMap is {key: value, ...} of the pairs whose value is not "".
func flowMap(pairs ...string) *fabric.Node {
	n := &fabric.Node{Kind: fabric.MappingNode, Flow: true}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			n.Pairs = append(n.Pairs, fabric.Pair{Key: pairs[i], Value: plain(pairs[i+1])})
		}
	}
	return n
}

// setKey gives a mapping's key the value; nil takes the key out.
func setKey(n *fabric.Node, key string, value *fabric.Node) {
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
