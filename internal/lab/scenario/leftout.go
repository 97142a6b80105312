package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// LeftOut is a step that the lab's kernel could not be asked to do.
type LeftOut struct {
	Step string `json:"step"`
	Why  string `json:"why"`
}

// LeftOutText is a line for each step that was left out; "" for none.
func LeftOutText(all []LeftOut) string {
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "%s\n", cut(fmt.Sprintf("left out: %s: %s", cut(l.Step, 40), l.Why), tableWidth))
	}
	return b.String()
}

// Wants are the features that steps are left out without.
func (s Scenario) Wants() (all []Feature) {
	for _, step := range s.Steps {
		all = append(all, step.Needs...)
	}
	return all
}

// needs are the features that the step shows to need, without those that it
// says it is left out for.
func (s Scenario) needs(step Step) []Feature {
	return slices.DeleteFunc(s.neededBy(step), func(f Feature) bool { return slices.Contains(step.Needs, f) })
}
