package placement

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// machine is nodes of so many physical cores of two threads each, two caches a
// node, numbered as Linux does: first threads of all cores, then the second.
func machine(nodes, cores int) []Core {
	var out []Core
	for i := range 2 * nodes * cores {
		physical := i % (nodes * cores)
		out = append(out, Core{ID: i, Physical: physical, Node: physical / cores, Cache: physical / (cores / 2)})
	}
	return out
}

func all(cores []Core) []int {
	var ids []int
	for _, c := range cores {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestChoose(t *testing.T) {
	big := machine(2, 8) // 32 cores; node 1 is 8-15 and 24-31, its caches 8-11 and 12-15
	for _, c := range []struct {
		name string
		r    Request
		want []int
	}{
		{"beside one interrupt, its cache first", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 1, []int{13}}}, Streams: 4}, []int{12, 14, 15, 8}},
		{"the interrupt's hyperthread is left out too", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 1, []int{29}}}, Streams: 2}, []int{12, 14}},
		{"two links of one node", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 0, []int{0, 1}}, {"eth1", 0, []int{2, 3}}}, Streams: 4}, []int{4, 5, 6, 7}},
		{"links on two nodes", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 0, []int{0}}, {"eth1", 1, []int{8}}}, Streams: 1}, nil},
		{"a node that is not told is the interrupts'", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", -1, []int{8}}}, Streams: 2}, []int{9, 10}},
		{"a veth", Request{Cores: big, Allowed: all(big), Links: []Link{{"veth0", -1, nil}}, Streams: 1}, nil},
		{"a card and a veth", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 1, []int{8}}, {"veth0", -1, nil}}, Streams: 1}, nil},
		{"no link", Request{Cores: big, Allowed: all(big), Streams: 1}, nil},
		{"interrupts on every core of the node", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 0, []int{0, 1, 2, 3, 4, 5, 6, 7}}}, Streams: 1}, nil},
		{"as many streams as cores are free", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 0, []int{0}}}, Streams: 7}, []int{1, 2, 3, 4, 5, 6, 7}},
		{"one stream more", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 0, []int{0}}}, Streams: 8}, nil},
		{"a process that may use two cores only", Request{Cores: big, Allowed: []int{0, 1}, Links: []Link{{"eth0", 0, []int{0}}}, Streams: 1}, []int{1}},
		{"an interrupt on a core that is offline", Request{Cores: big, Allowed: all(big), Links: []Link{{"eth0", 0, []int{99}}}, Streams: 1}, nil},
		{"two cores in all, one with the interrupt", Request{Cores: []Core{{ID: 0}, {ID: 1, Physical: 1}}, Allowed: []int{0, 1}, Links: []Link{{"eth0", -1, []int{1}}}, Streams: 1}, []int{0}},
	} {
		got := Choose(c.r)
		if diff := cmp.Diff(c.want, got.Cores); diff != "" || got.Why == "" {
			t.Errorf("%s: %q (-want +got)\n%s", c.name, got.Why, diff)
		}
	}
}

// TestChooseKeepsItsRules: whatever the machine, a choice is a core for each
// stream, all different, allowed, on one node, and none that serves a link.
func TestChooseKeepsItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := machine(rapid.IntRange(1, 3).Draw(t, "nodes"), 2*rapid.IntRange(1, 8).Draw(t, "cores"))
		some := rapid.SliceOfDistinct(rapid.SampledFrom(all(cores)), rapid.ID[int])
		r := Request{Cores: cores, Allowed: some.Draw(t, "allowed"), Streams: rapid.IntRange(0, 20).Draw(t, "streams")}
		for range rapid.IntRange(0, 2).Draw(t, "links") {
			r.Links = append(r.Links, Link{Name: "eth", Node: rapid.IntRange(-1, 2).Draw(t, "node"), Interrupts: some.Draw(t, "interrupts")})
		}
		got := Choose(r)
		if got.Why == "" {
			t.Fatal("no reason")
		}
		if got.Cores == nil {
			return
		}
		seen := make(map[int]bool)
		for _, id := range got.Cores {
			c := cores[slices.IndexFunc(cores, func(c Core) bool { return c.ID == id })]
			if seen[c.Physical] || !slices.Contains(r.Allowed, id) || c.Node != cores[slices.IndexFunc(cores, func(o Core) bool { return o.ID == got.Cores[0] })].Node {
				t.Fatalf("core %d of %v", id, got.Cores)
			}
			seen[c.Physical] = true
			for _, l := range r.Links {
				if slices.Contains(l.Interrupts, id) {
					t.Fatalf("core %d serves %v", id, l)
				}
			}
		}
		if len(got.Cores) != r.Streams {
			t.Fatalf("%d cores for %d streams", len(got.Cores), r.Streams)
		}
	})
}
