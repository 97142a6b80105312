// Package store keeps records over time, whole and by path, in a SQLite file or
// in PostgreSQL, and finds what one path carried. An index has all that a
// history shows, in its order: a year of a path among a million trials is one walk,
// under 100 ms in both. Rows stand beside the compressed record, which loses
// nothing. Both databases are asked through database/sql by one suite of tests;
// SQLite is modernc.org/sqlite, which needs no C compiler and is not on AIX.
//
// It must never judge what it finds. Don't write a statement for one database
// where both take the same, don't change a released migration, and don't make a
// store that nobody asked for.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// What a caller can act on.
var (
	// ErrNone: there is no store at the place, and none was to be made.
	ErrNone = errors.New("no store is there")
	// ErrNotStore: what is there is something else, or damaged.
	ErrNotStore = errors.New("not a store of linerate, or damaged")
	// ErrNewer: a newer linerate made the store.
	ErrNewer = errors.New("a newer linerate made this store")
	// ErrUnreachable: the database does not answer, or lets nobody in.
	ErrUnreachable = errors.New("database unreachable")
	// ErrBusy: others write, and did not end within the time that a writer waits.
	ErrBusy = errors.New("others are writing to the store")
	// ErrFull: the disk has no room for it.
	ErrFull = errors.New("the disk is full")
	// ErrNoRun: no run of that name is kept.
	ErrNoRun = errors.New("no such run")
	// ErrNoTime: a record does not say when it was made, so no history has a
	// place for it.
	ErrNoTime = errors.New("the record does not say when it was made")
	// ErrTooLarge: a record is larger than a database takes in one piece.
	ErrTooLarge = errors.New("the record is too large to keep")
)

// connections is how many a store has at most: series are read side by side.
const connections = 4

// patience is how long a writer waits for others, connecting how long a
// database has to let one in, silence how long it may say nothing while it is
// asked.
const (
	patience   = 10 * time.Second
	connecting = 5 * time.Second
	silence    = time.Minute
)

// Config says which store, and how it is opened.
type Config struct {
	// Place is a file or the URL of a PostgreSQL database.
	Place string
	// Create makes the store where there is none.
	Create bool
	// Silence is how long a PostgreSQL database may say nothing while it is asked;
	// zero is a minute.
	Silence time.Duration
	Logger  *slog.Logger
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// Store is an open store. Several goroutines may use it, and several programs
// the same place.
type Store struct {
	db    *sql.DB
	kind  backEnd
	place string
	now   func() time.Time
	log   *slog.Logger
}

// backEnd is what the two databases do not have in common.
type backEnd struct {
	// tables counts the tables there are, and those of them that say the
	// schema's version.
	tables string
	// shaped is an error where a store is not as steps make it; nil is not asked.
	shaped func(ctx context.Context, db *sql.DB, steps []migration) error
	// prepare is done once, before the first table is made; "" nothing.
	prepare string
	// lock keeps other writers out until the transaction ends; "" where
	// beginning one does.
	lock string
	// rows is how many trials one statement inserts.
	rows int
	// shrink gives back room that was forgotten; "" where the database does by
	// itself.
	shrink string
	// explain turns the driver's errors into those of this package.
	explain func(error) error
}

// Open opens a store, and brings one of an older linerate to this one's schema.
// Errors: ErrNone, ErrNotStore, ErrNewer, ErrUnreachable, ErrBusy,
// fs.ErrPermission, and errors.ErrUnsupported where SQLite is not built in.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := &Store{place: Shown(cfg.Place), now: cfg.Now, log: cfg.Logger}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if IsURL(cfg.Place) {
		s.db, s.kind, err = openPostgres(cfg.Place, cmp.Or(cfg.Silence, silence))
	} else {
		s.db, s.kind, err = openSQLite(cfg.Place, cfg.Create)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", s.place, err)
	}
	s.db.SetMaxOpenConns(connections)
	s.db.SetMaxIdleConns(connections)
	if err := s.ready(ctx, cfg.Create); err != nil {
		return nil, fmt.Errorf("open store %s: %w", s.place, errors.Join(s.kind.explain(err), s.db.Close()))
	}
	return s, nil
}

// again is how long to wait before a store that others are making is looked at
// once more.
const again = 25 * time.Millisecond

// ready brings the schema to this program's version. SQLite does not wait for
// whoever makes a file write-ahead at the same moment: it is asked again.
func (s *Store) ready(ctx context.Context, create bool) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	for begin := time.Now(); ; {
		err := s.migrate(ctx, steps, create)
		if !errors.Is(s.kind.explain(err), ErrBusy) || time.Since(begin) > patience {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(again):
		}
	}
}

// Place is the file or URL, without a password.
func (s *Store) Place() string { return s.place }

// Close lets go of the store.
func (s *Store) Close() error { return s.db.Close() }

// write runs f in a transaction that no other writer is beside, and keeps all
// of it or nothing.
func (s *Store) write(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.kind.explain(err)
	}
	if s.kind.lock != "" {
		_, err = tx.ExecContext(ctx, s.kind.lock)
	}
	if err == nil {
		err = f(tx)
	}
	if err == nil {
		return s.kind.explain(tx.Commit())
	}
	if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
		s.log.Debug("roll back", "store", s.place, "error", undo)
	}
	return s.kind.explain(err)
}
