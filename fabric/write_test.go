package fabric

import (
	"testing"

	"github.com/linerate/linerate/internal/bondopt"
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
		ps := &problems{}
		tree := parseTree(ps, []byte(text))
		if tree == nil || len(ps.all) > 0 || !equal(tree.root, n) {
			t.Fatalf("written:\n%s\nproblems: %v", text, ps.all)
		}
	})
}

// TestBondNames: each of netplan's names leads to one option, and back.
func TestBondNames(t *testing.T) {
	names := map[string]bool{}
	for _, o := range bondopt.Options() {
		said, ok := o.Saying(bondopt.Netplan)
		if name, netplans := BondParameter(o.Name); netplans != ok || name != said.Name {
			t.Errorf("BondParameter(%s) = %s, %v", o.Name, name, netplans)
		}
		if !ok {
			continue
		}
		for _, name := range append([]string{said.Name}, said.Older...) {
			if found, _, ok := netplanParameter(name); names[name] || !ok || found.Name != o.Name {
				t.Errorf("netplan's name %s is in two rows, or leads to %q, not %q", name, found.Name, o.Name)
			}
			names[name] = true
		}
		if got := Option(kernelBond(), o.Name); o.Own() && got != InitialOption(o.Name) {
			t.Errorf("the kernel's %s is %q, the table says %q", o.Name, got, InitialOption(o.Name))
		}
	}
	if name, ok := BondParameter("lacp_active"); ok {
		t.Errorf("netplan has no lacp_active, BondParameter says %s", name)
	}
}
