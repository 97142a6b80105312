package wire

import (
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// What a controller says of its conversation with a host, in the place of a
// method.
var (
	Open   = agentapi.AnyMethod{Name: "talk-open", Role: agentapi.RoleWatch}
	Beat   = agentapi.AnyMethod{Name: "talk-beat", Role: agentapi.RoleWatch}
	Close  = agentapi.AnyMethod{Name: "talk-close", Role: agentapi.RoleWatch}
	Cancel = agentapi.AnyMethod{Name: "talk-cancel", Role: agentapi.RoleWatch}
)

// Session is the one of them that has a name; the zero AnyMethod is none.
func Session(name agentapi.MethodName) agentapi.AnyMethod {
	for _, m := range [...]agentapi.AnyMethod{Open, Beat, Close, Cancel} {
		if m.Name == name {
			return m
		}
	}
	return agentapi.AnyMethod{}
}

// MostOf is how many bytes a request for a method may have: a plan is long, what
// else is asked for is not.
func MostOf(m agentapi.AnyMethod) int {
	if m.Role == agentapi.RoleChange {
		return MostRequest
	}
	return mostAsked
}

// Opened answers Open.
type Opened struct {
	Version  int    `json:"version"` // agentapi.Version of the agent
	Instance string `json:"instance"`
	// Challenge is what every signature in the conversation is over, too.
	Challenge string `json:"challenge"`
	// Silence is how long a conversation lasts without a word.
	Silence time.Duration `json:"silence_ns"`
}

// HeartbeatRequest keeps a conversation, and says which calls have no reply yet:
// every call up to Last that is not in Waiting has.
type HeartbeatRequest struct {
	Last    uint64   `json:"last"`
	Waiting []uint64 `json:"waiting,omitempty"`
}

// HeartbeatReply names those of them that the agent has not heard of, or has
// answered: to be sent again, as the bus lost one way or the other.
type HeartbeatReply struct {
	Again []uint64 `json:"again,omitempty"`
}

// CancelRequest ends a call that nobody waits for any more.
type CancelRequest struct {
	Call uint64 `json:"call"`
}
