package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// RuleError is a change that the kernel would refuse, or that a plan could not
// take back: it names the rule.
type RuleError struct {
	// What is the thing that should change, as Step.Target names it.
	What string
	Rule string
}

func (e *RuleError) Error() string { return fmt.Sprintf("plan %s: %s", e.What, e.Rule) }

func rule(what, format string, args ...any) error {
	return &RuleError{What: what, Rule: fmt.Sprintf(format, args...)}
}

// Between returns the steps from an observed host to a desired one: sysctls
// first, then bond options, then MTUs, lower layers first when one grows.
// What desired does not know (a zero MTU, a nil Bond, an absent sysctl or
// link) stays as it is. Every problem found is in the joined error, each a
// *RuleError; the plan is empty then.
func Between(observed, desired netstate.Host) (Plan, error) {
	name := observed.Name
	if name == "" {
		name = desired.Name
	}
	steps, problems := sysctlSteps(observed, desired)
	for _, want := range desired.Links {
		have, ok := observed.Link(want.Name)
		switch {
		case !ok:
			problems = append(problems, rule(want.Name, "no such link was observed, and a plan creates none"))
		case want.Bond != nil && have.Bond == nil:
			problems = append(problems, rule(want.Name, "it is no bond, and a plan creates none"))
		case want.Bond != nil:
			more, errs := bondSteps(observed, have, want)
			steps, problems = append(steps, more...), append(problems, errs...)
		}
	}
	more, errs := mtuSteps(observed, desired)
	steps, problems = append(steps, more...), append(problems, errs...)
	if len(problems) > 0 {
		return Plan{Host: name}, errors.Join(problems...)
	}
	return Plan{Host: name, Steps: steps}, nil
}

func sysctlSteps(observed, desired netstate.Host) (steps []Step, problems []error) {
	for _, key := range desired.SysctlKeys() {
		want := fold(desired.Sysctls[key].Value)
		if want == "" {
			continue
		}
		have, ok := observed.Sysctls[key]
		if !ok {
			problems = append(problems, rule(key, "it was not observed, so it could not be put back"))
			continue
		}
		if old := fold(have.Value); old != want {
			steps = append(steps, Step{Kind: Sysctl, Key: key, Scope: have.Scope, Old: old, New: want, Disruption: Online})
		}
	}
	return steps, problems
}

// fold is a sysctl's value as it is compared: one space between the numbers,
// where the kernel prints a tab.
func fold(value string) string { return strings.Join(strings.Fields(value), " ") }
