// Package act carries out one step of a plan in the network namespace of the
// calling thread, and reads back what it changed. It must never decide
// whether a step is a good one, nor do anything a step does not say.
//
// Messages that set bond options are encoded here: the netlink library's sets all
// that it knows together, and a step sets one option and no other.
package act

import (
	"fmt"

	"github.com/linerate/linerate/plan"
)

// Kernel is the running kernel. It keeps nothing: every call opens its own
// sockets, in the namespace of the thread that calls.
type Kernel struct{}

// PreconditionError is a step that the kernel refuses in its present state.
type PreconditionError struct {
	Step plan.Step
	Why  string
}

// refusal is a state in which a step is not carried out, found before the
// kernel was asked: a PreconditionError that does not know its step yet.
type refusal struct{ why string }

func (e *refusal) Error() string { return e.why }

func (e *PreconditionError) Error() string {
	return fmt.Sprintf("set %s to %s: %s", e.Step.Target(), e.Step.New, e.Why)
}
