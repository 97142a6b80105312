package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// errLate is a host that did not answer in the time that its request may take.
var errLate = fmt.Errorf("%w: it did not answer", ErrUnreachable)

// inTime is ctx until a host has to have answered a request: that the connection is
// alive does not say that the host ever will.
func inTime(ctx context.Context, m agentapi.AnyMethod, request any) (context.Context, context.CancelFunc) {
	within := agentapi.Within(request)
	return context.WithTimeoutCause(ctx, within, fmt.Errorf("%w %q within %v, though its connection is alive: look there for a linerate that is stuck, or leave the host out", errLate, m.Name, within))
}

// overdue is err, or that the host was late where that ended ctx.
func overdue(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errLate) {
		return cause
	}
	return err
}

// giveUp is why ctx ended. A host that was late is asked nothing more: die ends its
// connection.
func giveUp(ctx context.Context, die func(error)) error {
	err := overdue(ctx, ctx.Err())
	if errors.Is(err, errLate) {
		die(err)
	}
	return err
}
