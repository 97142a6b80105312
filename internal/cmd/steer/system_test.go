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

// TestTeam: a team's words make a team, and what it hashes is its policy.
func TestTeam(t *testing.T) {
	for policy, want := range map[string]string{"": "eth,ipv4,ipv6", "l3,l4": "ipv4,ipv6,tcp,udp,sctp", "activebackup": "activebackup", "random": "random"} {
		on, err := aggregation("--", systemTeam, policy, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := aggregationPolicy(on); got != want || !strings.HasPrefix(aggregationText(on), "team, ") {
			t.Errorf("%q is %q, %q", policy, got, aggregationText(on))
		}
	}
	if _, err := aggregation("--", systemTeam, "layer3+4", 2); err == nil {
		t.Error("a bond's policy is taken for a team's")
	}
}
