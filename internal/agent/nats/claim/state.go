package claim

import (
	"encoding/json"
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/plaintext"
)

// State is what a host says of itself, read from a wire.SignedState that the
// host itself has signed. A claim that has expired since is no fault: it is
// what was last said. Errors: ErrClaim, ErrSignature, wire.ErrParts.
func (t *Trust) State(host string, text []byte) (wire.State, error) {
	var signed wire.SignedState
	var state wire.State
	if err := json.Unmarshal(text, &signed); err != nil {
		return state, fmt.Errorf("%w: state of %.70q: %w", wire.ErrParts, host, err)
	}
	id, err := Read(signed.Claim)
	if err == nil {
		err = t.Ours(id)
	}
	if err != nil {
		return state, err
	}
	if id.Role != agentapi.RoleAgent || id.Name != host {
		return state, fmt.Errorf("%w: a state of %s, signed by %s", ErrClaim, host, id.Name)
	}
	if err := id.Verify(signed.Signed(host).Text(), signed.Signature); err != nil {
		return state, err
	}
	if err := json.Unmarshal(signed.State, &state); err != nil {
		return state, fmt.Errorf("%w: state of %s: %w", wire.ErrParts, host, err)
	}
	plaintext.Fields(&state)
	if state.Quiet = signed.Quiet; state.Quiet <= 0 {
		state.Quiet = t.now().Sub(state.Written)
	}
	return state, nil
}
