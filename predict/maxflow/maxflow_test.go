package maxflow

import (
	"math"
	"slices"
	"testing"
)

// TestFill: two ways of unlike capacity that join before the sink, by hand.
func TestFill(t *testing.T) {
	n := New()
	source, a, b, join, sink := n.Node("source"), n.Node("a"), n.Node("b"), n.Node("join"), n.Node("sink")
	n.Pipe(source, a, math.Inf(1), "")
	n.Pipe(source, b, 3e9, "all of b")
	n.Pipe(a, join, 10e9, "a's link")
	n.Pipe(b, join, 5e9, "b's link")
	n.Pipe(join, sink, 20e9, "the sink's link")
	if sum := n.Fill(source, sink); sum != 13e9 {
		t.Errorf("flow %v, want 13e9", sum)
	}
	if got := n.Cut(source); !slices.Equal(got, []string{"all of b", "a's link"}) {
		t.Errorf("bounded by %q", got)
	}
	if n.Node("a") != a {
		t.Error("a node of the same name is another")
	}
	open := New()
	s, e := open.Node("s"), open.Node("e")
	open.Pipe(s, e, math.Inf(1), "")
	if sum := open.Fill(s, e); !math.IsInf(sum, 1) {
		t.Errorf("an unbounded network carries %v", sum)
	}
}
