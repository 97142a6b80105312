//go:build !aix

package store

import (
	"context"
	"database/sql"
	"fmt"
)

// object is a table, index, view or trigger of a SQLite file, with what made it.
type object struct{ kind, name, table, text string }

// mostObjects is more than any file has that a person works with.
const mostObjects = 1000

// shaped reports ErrNotStore of a file whose tables are not those that these steps make:
// somebody else's may have a view of endless rows in the place of one, a column that is
// computed, or a trigger. What else is in the file is nothing to us.
func shaped(ctx context.Context, db *sql.DB, steps []migration) error {
	there, err := objects(ctx, db)
	if err != nil {
		return err
	}
	fresh, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer fresh.Close()
	fresh.SetMaxOpenConns(1) // another connection is another database
	for _, m := range steps {
		if _, err := fresh.ExecContext(ctx, m.text); err != nil {
			return err
		}
	}
	ours, err := objects(ctx, fresh)
	if err != nil {
		return err
	}
	want, tables := map[string]object{}, map[string]bool{schemaTable: true}
	for _, o := range ours {
		want[o.name], tables[o.table] = o, true
	}
	for _, o := range there {
		switch {
		case want[o.name] == o:
			delete(want, o.name)
		case o.kind == "trigger", tables[o.table] && o.name != schemaTable:
			return fmt.Errorf("%w: its %s %.40q is not as it was made", ErrNotStore, o.kind, o.name)
		}
	}
	for name, o := range want {
		return fmt.Errorf("%w: it has no %s %s", ErrNotStore, o.kind, name)
	}
	return nil
}

// objects are those of a file that SQLite did not make itself: the indexes of keys, and what
// ANALYZE counts.
func objects(ctx context.Context, db *sql.DB) ([]object, error) {
	rows, err := db.QueryContext(ctx, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master
		WHERE NOT (type = 'index' AND name GLOB 'sqlite_autoindex_*' AND sql IS NULL) AND NOT (type = 'table' AND name GLOB 'sqlite_stat?') LIMIT $1`, mostObjects)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []object
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.table, &o.text); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}
