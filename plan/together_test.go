package plan_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/plan"
)

// TestTogether: one sysctl of several links is one entry of the text, with the
// numbers of its steps; what goes elsewhere, for another reason, or stands on
// the other side of a step that is no sysctl, is an entry of its own.
func TestTogether(t *testing.T) {
	set := func(key, from, to, why string) plan.Step {
		return plan.Step{Kind: plan.Sysctl, Key: key, Old: from, New: to, Why: why, Disruption: plan.Online}
	}
	steps := []plan.Step{
		set("net.ipv4.conf.all.rp_filter", "0", "2", "loosely"),
		set("net.ipv4.tcp_sack", "0", "1", ""),
		set("net.ipv4.conf.eth0.rp_filter", "0", "2", "loosely"),
		set("net.ipv4.conf.eth1.rp_filter", "1", "2", "loosely"),
		set("net.ipv4.conf.bond0/100.rp_filter", "0", "2", "loosely"),
		set("net.ipv4.conf.a;b.rp_filter", "0", "2", "loosely"),
		set("net.ipv4.conf.a,b.rp_filter", "0", "2", "loosely"),
		{Kind: plan.LinkMTU, Link: "eth0", Old: "1500", New: "9000", Disruption: plan.Online},
		set("net.ipv4.conf.eth2.rp_filter", "0", "2", "loosely"),
	}
	want := [][]int{{0, 2, 4}, {1}, {3}, {5}, {6}, {7}, {8}}
	if diff := cmp.Diff(want, plan.Together(steps)); diff != "" {
		t.Fatalf("groups (-want +got):\n%s", diff)
	}
	text := plan.Plan{Steps: steps}.Text(80)
	for _, line := range []string{
		"  1. online     net.ipv4.conf.{all,eth0,bond0/100}.rp_filter: 0 -> 2\n                also: steps 3 and 5\n",
		"                sysctl -w net.ipv4.conf.{all,eth0,bond0/100}.rp_filter=2\n",
		"rollback: the same 9 steps backwards",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

// TestTogetherFits: however many links there are, an entry stays on its line,
// and none of the steps is lost.
func TestTogetherFits(t *testing.T) {
	var steps []plan.Step
	for i := range 60 {
		name := "enp" + strings.Repeat("1", 1+i%7) + "s0f" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		steps = append(steps, plan.Step{Kind: plan.Sysctl, Key: "net.ipv4.conf." + name + ".accept_redirects", Old: "1", New: "0", Disruption: plan.Online})
	}
	seen := map[int]bool{}
	groups := plan.Together(steps)
	for _, g := range groups {
		for _, i := range g {
			seen[i] = true
		}
	}
	if len(seen) != len(steps) || len(groups) >= len(steps) {
		t.Errorf("%d of %d steps in %d groups", len(seen), len(steps), len(groups))
	}
	for line := range strings.Lines(plan.Plan{Steps: steps}.Text(80)) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

// A plan fits the terminal that it is shown on: a line is wider only where it is one
// word, or a command's.
func TestTextWidth(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*", "plan.txt"))
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		p, err := plan.Between(readHost(t, dir, "observed"), readHost(t, dir, "desired"))
		if err != nil {
			continue // a case that is refused
		}
		for _, width := range []int{80, 60} {
			for line := range strings.Lines(p.Text(width)) {
				words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), `\`))
				if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width && len(words) > 1 {
					t.Errorf("%s at %d columns: %s", file, width, line)
				}
			}
		}
	}
}
