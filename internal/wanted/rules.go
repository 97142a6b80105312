package wanted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// The kernel's own rules (fib_default_rules_init, net/ipv4/fib_rules.c).
const (
	priorityMain    = 32766
	priorityDefault = 32767
)

func kernelRule(r netstate.Rule) bool {
	return r.Priority == 0 || r.Priority == priorityMain || r.Priority == priorityDefault
}

// ruleFamily is a rule's address family.
func ruleFamily(r netstate.Rule) string {
	switch {
	case r.Family != "":
		return r.Family
	case r.From.IsValid():
		return familyOf(r.From.Addr())
	case r.To.IsValid():
		return familyOf(r.To.Addr())
	}
	return "ipv4"
}

// sameRule compares what a rule selects and does, its priority aside.
func sameRule(a, b netstate.Rule) bool {
	return a.From == b.From && a.To == b.To && mainTable(a.Table) == mainTable(b.Table) && ruleFamily(a) == ruleFamily(b) &&
		a.Action == b.Action && a.Selectors == b.Selectors
}

// rules adds the file's policy routing rules.
func (b *builder) rules() {
	for _, d := range b.definitions() {
		for i, r := range d.device.Rules {
			wanted, path := r.Kernel(), network(d.name, d.device.ID, "routing-policy", i)
			if wanted.Priority == priorityMain || wanted.Priority == priorityDefault {
				b.wrong(path, "choose another", "priority %d is of the kernel's own rule", wanted.Priority)
				continue
			}
			b.wanted = append(b.wanted, wanted)
			b.rule(wanted, path, "")
		}
	}
}

// rule adds one. Without a priority it gets the one that the kernel would give
// it: before all but the first (fib_default_rule_pref, net/core/fib_rules.c).
func (b *builder) rule(r netstate.Rule, path []any, why string) {
	lowest := priorityMain
	for _, have := range b.want.Rules {
		if sameRule(have, r) && (r.Priority == 0 || r.Priority == have.Priority) {
			return
		}
		if have.Priority > 0 && ruleFamily(have) == r.Family {
			lowest = min(lowest, have.Priority)
		}
	}
	if r.Priority == 0 {
		r.Priority = max(lowest-1, 1)
	}
	if r.Protocol == "" {
		r.Protocol = protocolStatic
	}
	b.want.Rules = append(b.want.Rules, r)
	b.because(plan.Step{Kind: plan.Rule, Rule: &r}, b.at.Line(path...), why)
}

// ruleWords are a rule as a person reads it.
func ruleWords(r netstate.Rule) string {
	var w []string
	if r.From.IsValid() {
		w = append(w, "from "+r.From.String())
	}
	if r.To.IsValid() {
		w = append(w, "to "+r.To.String())
	}
	if r.Selectors != "" {
		w = append(w, r.Selectors)
	}
	return strings.Join(append(w, fmt.Sprintf("table %d priority %d", mainTable(r.Table), r.Priority)), " ")
}

// fromFile reports a rule that the file, or its source rules, ask for.
func (b *builder) fromFile(r netstate.Rule) bool {
	return slices.ContainsFunc(b.wanted, func(w netstate.Rule) bool { return sameRule(w, r) })
}
