package explaining

import (
	"fmt"

	"github.com/linerate/linerate/record"
)

// kind is one way to bring a cause about.
type kind struct {
	cause record.Cause
	// also are words that are as true of it.
	also []record.Cause
	name string
	// onHost takes the running kernel: processors are told apart there.
	onHost bool
	// anywhere can be the second fault there too.
	anywhere bool
	// claims is what two faults at once must not both change.
	claims string
	// suit changes a healthy network so that the fault can be put into it;
	// false where it cannot.
	suit func(dice, *network) bool
	draw func(dice, network) fault
}

func (k *kind) String() string { return fmt.Sprintf("%s: %s", k.cause, k.name) }

// causes are those that faults are made of, in the contract's order.
func causes() (all []record.Cause) {
	for _, c := range record.Causes() {
		if c != record.LineRate && c != record.Unknown {
			all = append(all, c)
		}
	}
	return all
}
