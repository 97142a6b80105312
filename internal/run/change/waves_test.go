package change

import (
	"errors"
	"fmt"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
)

// changing is a change of hosts, of which those in capitals have nothing to change.
func changing(names string, paths ...string) *Change {
	c := &Change{before: predict.Fabric{}}
	for _, n := range names {
		h := Host{Name: string(n)}
		if n >= 'a' {
			h.Plan.Steps = []plan.Step{{Kind: plan.Sysctl}}
		}
		c.parts = append(c.parts, h)
	}
	for _, p := range paths {
		c.before.Paths = append(c.before.Paths, fabric.Path{From: p[:1], To: p[1:]})
	}
	return c
}

// TestWaves: the canaries first, then so many at a time, in the hosts' order; hosts
// that do not change are in none, and those that are cabled to each other in one.
func TestWaves(t *testing.T) {
	none := 0
	for _, c := range []struct {
		names    string
		canaries []string
		size     int
		cables   []string
		want     string
	}{
		{"abcde", nil, 2, nil, "[[a] [b c] [d e]]"},
		{"abcde", []string{"d"}, 0, nil, "[[d] [a b c e]]"},
		{"abcde", []string{"e", "b"}, 3, nil, "[[b e] [a c d]]"},
		{"aBc", nil, 1, nil, "[[a] [c]]"},
		{"AB", nil, 1, nil, "[]"},
		{"a", nil, 1, nil, "[[a]]"},
		{"abcde", nil, 1, []string{"ad", "bc"}, "[[a d] [b c] [e]]"},
		{"abcde", []string{"b"}, 2, []string{"ab", "bc"}, "[[a b c] [d e]]"},
	} {
		change := changing(c.names, c.cables...)
		if len(c.cables) > 0 {
			change.cfg.Fabric.Switches = &none
		}
		got, err := change.Waves(c.canaries, c.size)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s, canaries %v, %d at a time, cables %v: %v, %v; want %s", c.names, c.canaries, c.size, c.cables, got, err, c.want)
		}
	}
	if got, err := changing("abc", "ab").Waves(nil, 1); err != nil || fmt.Sprint(got) != "[[a] [b] [c]]" {
		t.Errorf("with a switch between them: %v, %v", got, err)
	}
	for _, canary := range []string{"B", "z"} {
		if _, err := changing("aBc").Waves([]string{canary}, 1); !errors.Is(err, ErrWaves) {
			t.Errorf("canary %s: %v", canary, err)
		}
	}
}
