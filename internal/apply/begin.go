package apply

import (
	"context"
	"time"
)

// awaitBegin returns when the first step of an armed change may be done.
func (o Options) awaitBegin(ctx context.Context) error {
	if o.Pause > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(o.Pause):
		}
	}
	if o.Begin == nil {
		return nil
	}
	return o.Begin(ctx)
}
