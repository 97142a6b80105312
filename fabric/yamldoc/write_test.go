package yamldoc

import (
	"testing"

	"pgregory.net/rapid"
)

// TestWriteReadsBack writes random data, hard scalars among it, and reads it
// back.
func TestWriteReadsBack(t *testing.T) {
	scalars := rapid.SampledFrom([]string{
		"a", "", "5.10", "true", "null", "~", "- a", "a: b", "a #b", "#", "*x", "&x", "!t", "[", "}", "{}", "a,b", "'", `"`, `\`, "::1", "fd00::", "10:70:fd",
		" a", "a ", "é", "%", "@", "0x1f", "0000:17:00", "4096 131072 6291456", "layer3+4", "|", ">", "?", "? a", "---", "a\nb", "1e3", "<<", "=", "2024-01-02",
	})
	var node func(depth int) *rapid.Generator[*Node]
	node = func(depth int) *rapid.Generator[*Node] {
		return rapid.Custom(func(t *rapid.T) *Node {
			kind := NodeKind(rapid.IntRange(0, 3).Draw(t, "kind"))
			if depth == 0 && kind > ScalarNode {
				kind = ScalarNode
			}
			n := &Node{Kind: kind, Flow: rapid.Bool().Draw(t, "flow")}
			switch kind {
			case ScalarNode:
				n.Text, n.Quoted = scalars.Draw(t, "text"), rapid.Bool().Draw(t, "quoted")
			case MappingNode:
				n.Comment = rapid.SampledFrom([]string{"", "about this", "two\nlines"}).Draw(t, "comment")
				seen := map[string]bool{"<<": true} // the merge key is not data
				for range rapid.IntRange(0, 3).Draw(t, "pairs") {
					key := scalars.Draw(t, "key")
					if !seen[key] {
						seen[key] = true
						n.Pairs = append(n.Pairs, Pair{Key: key, Value: node(depth-1).Draw(t, "value")})
					}
				}
			case SequenceNode:
				n.Items = rapid.SliceOfN(node(depth-1), 0, 3).Draw(t, "items")
			}
			return n
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		n := &Node{Kind: MappingNode, Pairs: []Pair{{Key: "top", Value: node(3).Draw(t, "node")}}}
		text := Write(n)
		ps := &Collector{}
		tree := Read(ps, []byte(text))
		if tree == nil || len(ps.All) > 0 || !equal(tree.Root, n) {
			t.Fatalf("written:\n%s\nproblems: %v", text, ps.All)
		}
	})
}
