package agentapi

// ArmedRequest waits until the change of that gate is journalled and its guard
// stands. One that ends before is ErrState.
type ArmedRequest struct {
	Gate string `json:"gate"`
}

// ArmedReply is empty.
type ArmedReply struct{}

// BeginRequest lets an armed change begin; one that is not armed is ErrState.
type BeginRequest struct {
	Gate string `json:"gate"`
	// Abandon ends it instead, with nothing done; also one that is not armed yet.
	Abandon bool `json:"abandon,omitempty"`
}

// BeginReply is empty.
type BeginReply struct{}
