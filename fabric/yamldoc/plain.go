package yamldoc

import "fmt"

// CheckPlain refuses line breaks and other control characters in keys and values
// under n, which YAML's quoted text can hold: each becomes a word or a line of a
// system's file or of a script, and would be two there. At says what n is.
func (c *Collector) CheckPlain(at string, n *Node) {
	if n == nil {
		return
	}
	switch n.Kind {
	case ScalarNode:
		if r, found := control(n.Text); found {
			c.At(n, fmt.Sprintf("%s: control character %U in a value", at, r), "write it on one line: it becomes a line of a system's file")
		}
	case MappingNode:
		for _, p := range n.Pairs {
			if r, found := control(p.Key); found {
				c.Add(p.Line, p.Column, fmt.Sprintf("%s: control character %U in a key", at, r), "")
				continue
			}
			c.CheckPlain(at+"."+p.Key, p.Value)
		}
	case SequenceNode:
		for _, item := range n.Items {
			c.CheckPlain(at, item)
		}
	}
}

// control is the first character that ends a line somewhere or prints as none:
// those of ASCII and Latin-1, and Unicode's line and paragraph separators.
func control(s string) (rune, bool) {
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return r, true
		}
	}
	return 0, false
}
