package steer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// No two groups have the same letters.
func TestGroupsHaveLettersOfTheirOwn(t *testing.T) {
	seen := map[string]int{}
	for g := range 1024 {
		text := groupLetters(g)
		if other, taken := seen[text]; taken {
			t.Errorf("groups %d and %d are both called %s", other, g, text)
		}
		seen[text] = g
	}
	groups := []int{0, 1, 25, 26, 27, 51, 52, 701, 702, 0}
	const want = "flows with the same letters share a port: A B Z AA AB AZ BA ZZ AAA A"
	if d := cmp.Diff(want, groupsText(groups)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if text := groupsText(make([]int, 65)); !strings.Contains(text, "1 groups") {
		t.Errorf("many flows: %s", text)
	}
}
