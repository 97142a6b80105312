package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Forgotten is what was, or would be, forgotten.
type Forgotten struct {
	Runs   int `json:"runs_count"`
	Trials int `json:"trials_count"`
}

// Forget removes the runs that began before a moment, with their records; dry
// only counts them. What is gone stays gone.
func (s *Store) Forget(ctx context.Context, before time.Time, dry bool) (out Forgotten, err error) {
	moment := before.UnixNano()
	err = s.write(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(trials_count), 0) FROM runs WHERE started_ns < $1`, moment).Scan(&out.Runs, &out.Trials); err != nil || dry {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE started_ns < $1`, moment); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM trials AS t WHERE t.series = series.number)`)
		return err
	})
	if err == nil && !dry && out.Runs > 0 && s.kind.shrink != "" {
		_, err = s.db.ExecContext(ctx, s.kind.shrink)
		err = s.kind.explain(err)
	}
	if err != nil {
		return Forgotten{}, fmt.Errorf("forget runs of %s: %w", s.place, err)
	}
	return out, nil
}
