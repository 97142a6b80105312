// Package ask is how a host is asked for what agentapi names, wherever it is and
// whatever carries the request.
package ask

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Host answers requests: a fleet.Host, an agent.Agent, or what stands for one.
type Host interface {
	// Ask has the host carry out a request of the method's type and fills reply,
	// a pointer to one of its reply's type. A method that the host does not know
	// is errors.ErrUnsupported.
	Ask(ctx context.Context, m agentapi.AnyMethod, request, reply any) error
}

// Call asks a host and returns its answer. A request that is outside its own
// bounds (agentapi.Check) is not sent.
func Call[Req, Rep any](ctx context.Context, at Host, m agentapi.Method[Req, Rep], r Req) (reply Rep, err error) {
	if err := agentapi.Check(r); err != nil {
		return reply, err
	}
	err = at.Ask(ctx, m.Any(), r, &reply)
	return reply, err
}

// NewSession draws a session's name and the key of its streams.
func NewSession() (string, agentapi.Key) {
	var key agentapi.Key
	var id [8]byte
	_, _ = rand.Read(key[:]) // never fails, by its documentation
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:]), key
}
