package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// writing is the lock that writers of one database take turns by: "linerate"
// as bytes, the last dropped.
const writing = 0x6c696e65726174

// openPostgres makes ready to talk to a database that may say nothing for most;
// nothing is sent yet.
func openPostgres(url string, most time.Duration) (*sql.DB, backEnd, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, backEnd{}, badURL(err)
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connecting
	}
	cfg.AfterNetConnect = quietFor(most)
	db := stdlib.OpenDB(*cfg)
	return db, backEnd{
		// Not to_regclass, which remembers that nothing was there while it waited
		// for the lock under which somebody else made it.
		tables: `SELECT 0, count(*) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
			WHERE c.relname = 'linerate_schema' AND n.nspname = ANY (current_schemas(false))`,
		lock:    fmt.Sprintf(`SET LOCAL lock_timeout = '%dms'; SELECT pg_advisory_xact_lock(%d)`, patience.Milliseconds(), writing),
		rows:    200, // a statement is a round trip
		explain: explainPostgres,
	}, nil
}

// ErrURL: the address of a database cannot be read.
var ErrURL = errors.New("bad database URL")

// badURL is what is wrong with a URL, without repeating it: it may hold a
// password.
func badURL(err error) error {
	why := "want postgres://USER@HOST/DATABASE"
	if inner := errors.Unwrap(err); inner != nil && !strings.Contains(inner.Error(), "://") {
		why = inner.Error()
	}
	return fmt.Errorf("%w: %s", ErrURL, why)
}

// explainPostgres says what a failure means to a caller, by its class
// (PostgreSQL's documentation, appendix A).
func explainPostgres(err error) error {
	var connect *pgconn.ConnectError
	var failed *pgconn.PgError
	switch {
	case errors.As(err, &connect):
		if errors.Is(err, context.Canceled) {
			return err
		}
		return fmt.Errorf("%w: %s", ErrUnreachable, innermost(connect))
	case !errors.As(err, &failed):
		if errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) { // quietConn's, not the caller's
			return fmt.Errorf("%w: it has stopped answering", ErrUnreachable)
		}
		return err
	}
	switch {
	case failed.Code == "42501", failed.Code == "25006": // insufficient_privilege, read_only_sql_transaction
		return fmt.Errorf("%w: %s", fs.ErrPermission, failed.Message)
	case failed.Code == "55P03": // lock_not_available
		return fmt.Errorf("%w: %s", ErrBusy, failed.Message)
	case strings.HasPrefix(failed.Code, "08"), strings.HasPrefix(failed.Code, "28"), strings.HasPrefix(failed.Code, "57P"), strings.HasPrefix(failed.Code, "3D"):
		return fmt.Errorf("%w: %s", ErrUnreachable, failed.Message)
	case strings.HasPrefix(failed.Code, "XX"): // internal error, data or index corrupted
		return fmt.Errorf("%w: %s", ErrNotStore, failed.Message)
	}
	return err
}

// innermost is what kept a connection from coming about, without the user and
// the database that the driver's words begin with.
func innermost(connect *pgconn.ConnectError) string {
	var failed *pgconn.PgError
	if errors.As(connect, &failed) {
		return failed.Message
	}
	text := connect.Error()
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text = text[i+1:] // of several addresses the last
	}
	return strings.TrimSpace(text)
}
