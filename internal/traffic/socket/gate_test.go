package socket

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGate(t *testing.T) {
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	var cut []string
	g := NewGate(4, 2)
	enter := func(from netip.Addr, name string) *Stranger {
		return g.Enter(from, func() { cut = append(cut, name) })
	}
	a1 := enter(a, "a1")
	enter(a, "a2")
	enter(a, "a3") // a1 goes
	enter(b, "b1")
	b2 := enter(b, "b2")
	enter(netip.MustParseAddr("192.0.2.3"), "c1") // the oldest of all goes: a2
	g.Leave(a1)                                   // gone already
	g.Leave(b2)
	enter(b, "b3") // there is room
	if diff := cmp.Diff([]string{"a1", "a2"}, cut); diff != "" {
		t.Errorf("cut (-want +got):\n%s", diff)
	}
	if len(g.waiting) != 4 || g.by[a] != 1 || g.by[b] != 2 {
		t.Errorf("%d wait, %v", len(g.waiting), g.by)
	}
}
