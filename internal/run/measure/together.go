package measure

import (
	"context"
	"fmt"

	"github.com/linerate/linerate/record"
)

// Together carries out trials at the same time, in one window, and returns
// their results in the order of the specs. As Run it measures again what was
// disturbed, twice at most, and returns the soundest. All of them or none.
func Together(ctx context.Context, cfg Config, specs []Spec) ([]record.Trial, error) {
	return soundestTogether(ctx, func() ([]record.Trial, float64, error) { return runRound(ctx, cfg, specs) })
}

// soundestTogether is soundest of a whole round.
func soundestTogether(ctx context.Context, once func() ([]record.Trial, float64, error)) ([]record.Trial, error) {
	best, dip, err := once()
	if err != nil {
		return nil, err
	}
	for range repeats {
		why := disturbedTogether(best, dip)
		if why == "" {
			break
		}
		again, againDip, err := once()
		if err != nil { // the first result is there, also after an interrupt
			best[0].Notes = append(best[0].Notes, unrepeated(ctx, err))
			return best, nil
		}
		if n, m := contradictions(again), contradictions(best); n < m || n == m && againDip < dip {
			again[0].Notes = append(again[0].Notes, "measured again: an earlier round "+why)
			best, dip = again, againDip
		}
	}
	if dip > tolerableDip {
		best[0].Notes = append(best[0].Notes, fmt.Sprintf("unsteady: the sum fell by %.0f %% for a moment, in every repetition", 100*dip))
	}
	return best, nil
}

// disturbedTogether is disturbed of a whole round.
func disturbedTogether(trials []record.Trial, dip float64) string {
	full := false
	for _, t := range trials {
		if halted(t.Stop) || t.Stop == StopStalled || len(t.Outages) > 0 {
			return ""
		}
		full = full || busy(t)
	}
	if n := contradictions(trials); n > 0 {
		return "contradicted itself"
	}
	if dip > tolerableDip && !full {
		return fmt.Sprintf("fell by %.0f %% for a moment", 100*dip)
	}
	return ""
}

func contradictions(trials []record.Trial) int {
	n := len(record.CheckGroup(trials, 0))
	for _, t := range trials {
		n += len(t.Check())
	}
	return n
}
