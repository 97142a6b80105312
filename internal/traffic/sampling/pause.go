package sampling

import (
	"context"
	"time"
)

// Pause waits between two samples; the error is the context's where that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}
