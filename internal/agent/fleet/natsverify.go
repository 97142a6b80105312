package fleet

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// verify is nil for a part of a reply that the agent of this conversation has
// signed. Who that is, the first good reply says: a claim of the host's name.
// t.mu is held.
func (t *natsTalk) verify(m *nats.Msg, call uint64, p wire.Part) error {
	who, challenge := t.agent, t.opened.Challenge
	if token := m.Header.Get(wire.HeaderClaim); token != "" {
		// It opens the conversation, or is a refusal of an agent that knows of none.
		id, err := t.trust.Believe(token)
		if err != nil {
			return err
		}
		if id.Name != t.host || id.Role != agentapi.RoleAgent || t.opened.Challenge != "" && id.Key != t.agent.Key {
			return fmt.Errorf("%w: %s, %s, answers for %s", claim.ErrClaim, id.Name, id.Role, t.host)
		}
		who, challenge = id, ""
	}
	said := wire.Signed{Kind: wire.KindReply, Subject: m.Subject, Talk: t.id, Challenge: challenge, Call: call}.OfPart(p)
	if err := who.Verify(said.Text(), m.Header.Get(wire.HeaderSignature)); err != nil {
		return err
	}
	t.agent = who
	return nil
}

// forged notes a reply that is not the agent's: whoever waits for one that never
// comes is told so. t.mu is held.
func (t *natsTalk) forged(err error) { t.doubt = err }
