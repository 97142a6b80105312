package apply

import (
	"context"
	"errors"
	"fmt"
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
	err := o.Begin(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("begin change: nobody let it begin before its deadline: %w", err)
	}
	return err
}
