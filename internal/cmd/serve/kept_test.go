package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
)

// TestKeepsTrying: a run that could not be read is not forgotten; one that no store takes
// is.
func TestKeepsTrying(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{errors.New("connection lost"), true}, {store.ErrFull, true}, {store.ErrBusy, true},
		{fmt.Errorf("keep record: %w", store.ErrTooLarge), false}, {nil, false},
	} {
		tried := 0
		k := &keeper{log: slog.New(slog.DiscardHandler), heard: make(map[string]heardRun)}
		k.add = func(context.Context, string) error { tried++; return c.err }
		k.hear("eve.r", record.Trial{})
		now := time.Now()
		for _, later := range []time.Duration{time.Minute, 24 * time.Hour} {
			for run, h := range k.due(now.Add(later)) {
				k.keep(t.Context(), run, h)
			}
		}
		if again := tried > 1; again != c.want || tried == 0 {
			t.Errorf("%v: tried %d times", c.err, tried)
		}
		if c.want && k.heard["eve.r"].wait != 2*keepAgain {
			t.Errorf("%v: tried again after %v", c.err, k.heard["eve.r"].wait)
		}
	}
}
