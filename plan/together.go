package plan

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
)

// longestTogether is how long a key that stands for several may be: it is
// shown on one line.
const longestTogether = 54

// Together deals steps into what a person reads as one: sysctls of several
// links, next to each other in the plan, that go from one value to another
// for one reason. What comes back are the steps' indices, each group where its
// first step is; the steps themselves stay in their order.
func Together(steps []Step) [][]int {
	var groups [][]int
	for from := 0; from < len(steps); {
		if steps[from].Kind != Sysctl {
			groups = append(groups, []int{from})
			from++
			continue
		}
		to := from
		for to < len(steps) && steps[to].Kind == Sysctl {
			to++
		}
		groups = append(groups, sysctlsTogether(steps, from, to)...)
		from = to
	}
	return groups
}

// sysctlsTogether is Together within a run of sysctls.
func sysctlsTogether(steps []Step, from, to int) [][]int {
	type likeness struct{ before, after, old, new, why, by string }
	var groups [][]int
	open := map[likeness]int{} // the group that the next such step joins
	for i := from; i < to; i++ {
		s := steps[i]
		before, name, after := perLink(s.Key)
		if name == "" {
			groups = append(groups, []int{i})
			continue
		}
		like := likeness{before, after, s.Old, s.New, s.Why, s.By}
		at, found := open[like]
		if found && len(keyOf(steps, append(slices.Clone(groups[at]), i))) <= longestTogether {
			groups[at] = append(groups[at], i)
			continue
		}
		open[like] = len(groups)
		groups = append(groups, []int{i})
	}
	return groups
}

// perLink splits the key of a link's own sysctl: "net.ipv4.conf.", "eth0",
// ".rp_filter". The name is "" for other keys, and where a shell would read
// more into it than a name.
func perLink(key string) (before, name, after string) {
	for _, tree := range []string{"net.ipv4.conf.", "net.ipv6.conf.", "net.ipv4.neigh.", "net.ipv6.neigh."} {
		rest, ok := strings.CutPrefix(key, tree)
		dot := strings.LastIndexByte(rest, '.')
		if !ok || dot <= 0 {
			continue
		}
		name = rest[:dot]
		if plaintext.ShellWord(name) != name || strings.Contains(name, ",") {
			return "", "", ""
		}
		return tree, name, rest[dot:]
	}
	return "", "", ""
}

// keyOf is the key of a group as a shell's brace expansion has it:
// "net.ipv4.conf.{all,eth0}.rp_filter".
func keyOf(steps []Step, group []int) string {
	var names []string
	for _, i := range group {
		_, name, _ := perLink(steps[i].Key)
		names = append(names, name)
	}
	before, _, after := perLink(steps[group[0]].Key)
	return before + "{" + strings.Join(names, ",") + "}" + after
}

// ChangeTogether is the change of a group of Together on one line.
func ChangeTogether(steps []Step, group []int) string {
	s := steps[group[0]]
	if len(group) > 1 {
		s.Key = keyOf(steps, group)
	}
	return s.Change()
}

// commandTogether is what a person would type into a shell that expands braces.
func commandTogether(steps []Step, group []int) string {
	s := steps[group[0]]
	if len(group) == 1 {
		return s.Command()
	}
	return "sysctl -w " + keyOf(steps, group) + "=" + plaintext.ShellWord(s.New)
}
