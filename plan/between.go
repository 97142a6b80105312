package plan

import (
	"errors"
	"fmt"
	"slices"
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

// Between returns the steps from an observed host to a desired one: sysctls;
// links that are to go, then links that are to be made and bonds' options and
// ports, lower layers first; MTUs; hardware addresses; up and down; addresses;
// routes, those that reach a gateway before those over it, and rules; MPTCP;
// devices' settings, one port after the other.
//
// What desired does not say stays as it is: a link or sysctl that is not in
// it, a zero MTU or hardware address, nil addresses, ports, routes, rules,
// MPTCP and settings. Links of Absent are deleted. Link-local and leased
// addresses, and routes and rules that the kernel, a DHCP client, a router or
// a routing daemon made, are not touched for their own sake. Every problem
// found is in the joined error, each a *RuleError; the plan is empty then.
func Between(observed, desired netstate.Host) (Plan, error) {
	b := newBuilder(observed, desired)
	b.check()
	if len(b.problems) == 0 {
		b.build()
	}
	if len(b.problems) == 0 {
		b.checkRollback()
	}
	if len(b.problems) > 0 {
		return Plan{Host: b.name()}, errors.Join(b.problems...)
	}
	return Plan{Host: b.name(), Steps: b.steps, Left: b.left}, nil
}

// checkRollback refuses a plan that the kernel would not take back: an observed
// host may hold what nobody could make again, such as a route whose gateway
// has become out of reach.
func (b *builder) checkRollback() {
	_, err := Apply(b.now, Plan{Steps: b.steps}.Rollback())
	var state *StateError
	if errors.As(err, &state) {
		b.problem(state.Step.Target(), "it could not be restored by a rollback: %s", state.Why)
	}
}

// builder collects the steps of a plan. Each is tried on a model of the host
// as it is by then, so that every Old is what the step will find.
type builder struct {
	observed, want, now netstate.Host
	steps               []Step
	problems            []error
	left                []string
	// lost are the routes that had to go for a link's sake.
	lost []netstate.Route
	// moved are the leased addresses that go with their link into a bond.
	moved map[string]string // port -> bond
	// whole plans everything that is on a link, whoever made it.
	whole bool
}

func newBuilder(observed, desired netstate.Host) *builder {
	b := &builder{observed: observed, want: desired.Clone(), now: observed.Clone(), moved: make(map[string]string)}
	kept := b.want.Links[:0]
	for _, l := range b.want.Links {
		if !b.absent(l.Name) {
			kept = append(kept, l)
		}
	}
	b.want.Links = kept
	return b
}

func (b *builder) name() string {
	if b.observed.Name != "" {
		return b.observed.Name
	}
	return b.want.Name
}

func (b *builder) absent(link string) bool {
	return slices.Contains(b.want.Absent, link)
}

func (b *builder) problem(what, format string, args ...any) {
	b.problems = append(b.problems, rule(what, format, args...))
}

// do adds a step that changes something, with Old as it will be found.
func (b *builder) do(s Step) {
	old, err := Current(b.now, s)
	if err == nil && old == s.New {
		return
	}
	s.Old = old
	if err == nil {
		b.spareMTU6(s)
	}
	switch s.Kind {
	case Ring, Channel, Offload, LinkMAC, PortOrder:
		s.ReadyRolledBack = s.Ready // it disturbs both ways
	}
	s.ReadyRolledBack = b.ableToCarry(s.ReadyRolledBack)
	if err == nil {
		err = set(&b.now, s)
	}
	s.Ready = b.ableToCarry(s.Ready)
	if err != nil {
		why := err.Error()
		var state *StateError
		if errors.As(err, &state) {
			why = state.Why
		}
		b.problem(s.Target(), "cannot become %s: %s", s.New, why)
		return
	}
	b.steps = append(b.steps, s)
}

// ableToCarry is those of the links that can have carrier as the host is by
// then; a change that waited for another would wait in vain.
func (b *builder) ableToCarry(links []string) []string {
	var able []string
	for _, name := range links {
		if canCarry(b.now, name) {
			able = append(able, name)
		}
	}
	return able
}

func (b *builder) build() {
	b.sysctls("")
	b.deleteLinks()
	for _, l := range b.layers() {
		b.link(l)
	}
	b.mtus()
	b.macs()
	b.states()
	b.mtus6()
	b.addresses()
	b.routing()
	b.mptcp()
	b.devices()
}

// sysctls sets the keys of links that are there already, or, where a link is
// named, those of that link, which was made just now.
func (b *builder) sysctls(made string) {
	for _, key := range inOrder(b.want.SysctlKeys()) {
		want := fold(b.want.Sysctls[key].Value)
		if want == "" {
			continue
		}
		if link, ok := netstate.LinkOfSysctl(key); ok && (made != "" && link != made || made == "" && (b.makes(link) || b.absent(link))) || !ok && made != "" {
			continue
		}
		have, ok := b.now.Sysctls[key]
		if !ok && made != "" && key == mtu6Key(made) || b.overMTU6(key, want) {
			continue // it goes with its link, or the kernel does not take it
		}
		if !ok {
			b.problem(key, "it was not observed, so it could not be rolled back")
			continue
		}
		if want != fold(have.Value) {
			b.level(key)
		}
		b.do(Step{Kind: Sysctl, Key: key, Scope: have.Scope, New: want, Disruption: Online})
	}
}

// makes reports a link that the plan makes.
func (b *builder) makes(link string) bool {
	_, there := b.observed.Link(link)
	_, wanted := b.want.Link(link)
	return wanted && !there
}

// fold is a sysctl's value as it is compared: one space between the numbers,
// where the kernel prints a tab.
func fold(value string) string { return strings.Join(strings.Fields(value), " ") }
