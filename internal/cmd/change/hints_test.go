package change

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/run/change"
)

// A change that a proof refuses is not to be kept in spite of it: the hint says what
// stands in its way.
func TestRolledBackHint(t *testing.T) {
	for proof, want := range map[change.Proof]string{change.ProofMTU: "raise the MTU of every switch port", change.ProofReach: "look at the addresses and routes",
		change.ProofPartner: "set its switch port to LACP", change.ProofTraffic: "its switch port", change.ProofState: "what else configures"} {
		hint := rolledBackHint(change.Outcome{Proofs: []change.Proved{{Proof: proof, Verdict: change.Broken}}})
		if !strings.Contains(hint, want) || strings.Contains(hint, "--accept") {
			t.Errorf("%s: %q", proof, hint)
		}
	}
}
