package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Each file brings the schema one version on; both databases understand all of
// them. A file that was released is never changed: a new one is added.
//
//go:embed migrations/*.sql
var files embed.FS

// migration is one step of the schema.
type migration struct {
	version int
	name    string
	text    string
}

// migrations are all steps, the first first, without a gap.
func migrations() ([]migration, error) {
	entries, err := fs.ReadDir(files, "migrations")
	if err != nil {
		return nil, err
	}
	var out []migration
	for i, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s: want number %04d", e.Name(), i+1)
		}
		text, err := files.ReadFile(path.Join("migrations", e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, migration{version, e.Name(), string(text)})
	}
	return out, nil
}

// querier is what reads, inside a transaction or not.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// schemaTable says the schema's version, makeSchema is what made it.
const (
	schemaTable = "linerate_schema"
	makeSchema  = `CREATE TABLE ` + schemaTable + ` (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_ns BIGINT NOT NULL)`
)

// version is the schema's version; zero where there is none yet.
func (s *Store) version(ctx context.Context, q querier) (int, error) {
	var all, ours, version int
	if err := q.QueryRowContext(ctx, s.kind.tables).Scan(&all, &ours); err != nil {
		return 0, err
	}
	if ours == 0 {
		if all > 0 {
			return 0, ErrNotStore // another program's tables
		}
		return 0, nil
	}
	err := q.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM `+schemaTable).Scan(&version)
	return version, err
}

// migrate carries out the steps that the store lacks, all in one transaction. A
// store that has them all is not written to.
func (s *Store) migrate(ctx context.Context, steps []migration, create bool) error {
	last := len(steps)
	version, err := s.version(ctx, s.db)
	switch {
	case err != nil:
		return err
	case version > last:
		return fmt.Errorf("%w: its schema is %d, this one knows %d", ErrNewer, version, last)
	case version < 0:
		return fmt.Errorf("%w: its schema is %d", ErrNotStore, version)
	}
	if version > 0 && s.kind.shaped != nil {
		if err := s.kind.shaped(ctx, s.db, steps[:version]); err != nil {
			return err
		}
	}
	switch {
	case version == last:
		return nil
	case version == 0 && !create:
		return ErrNone
	}
	if version == 0 && s.kind.prepare != "" {
		if _, err := s.db.ExecContext(ctx, s.kind.prepare); err != nil {
			return err
		}
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		// Somebody else may have been here since.
		version, err := s.version(ctx, tx)
		if err != nil {
			return err
		}
		if version == 0 {
			if _, err := tx.ExecContext(ctx, makeSchema); err != nil {
				return err
			}
		}
		for _, m := range steps[min(version, last):] {
			if _, err := tx.ExecContext(ctx, m.text); err != nil {
				return fmt.Errorf("migrate to %s: %w", m.name, err)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO `+schemaTable+` (version, name, applied_ns) VALUES ($1, $2, $3)`, m.version, m.name, s.now().UnixNano()); err != nil {
				return err
			}
			s.log.Debug("schema", "store", s.place, "migration", m.name)
		}
		return nil
	})
}
