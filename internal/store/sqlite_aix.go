package store

import (
	"database/sql"
	"errors"
	"fmt"
)

// openSQLite: modernc.org/sqlite is not made for AIX; PostgreSQL is reached
// from there.
func openSQLite(string, bool) (*sql.DB, backEnd, error) {
	return nil, backEnd{}, fmt.Errorf("SQLite on AIX: %w: name a postgres:// URL", errors.ErrUnsupported)
}
