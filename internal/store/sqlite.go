//go:build !aix

package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// openSQLite opens a file, or makes one. Writers of several processes take
// turns, readers never wait (WAL); what is committed is on the disk.
func openSQLite(file string, create bool) (*sql.DB, backEnd, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, backEnd{}, err
	}
	// The file itself is not opened here: closing it would let go of the locks
	// that another store of this process has on it (fcntl(2)).
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		// What was measured says much of a network: its user's alone.
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, backEnd{}, err
		}
		if err := makeFile(path); err != nil {
			return nil, backEnd{}, err
		}
	case errors.Is(err, fs.ErrNotExist):
		return nil, backEnd{}, ErrNone
	case err != nil:
		return nil, backEnd{}, err
	case !info.Mode().IsRegular():
		return nil, backEnd{}, fmt.Errorf("%w: no regular file", ErrNotStore)
	}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()), "synchronous(FULL)", "foreign_keys(1)",
	}}
	mode := "rw"
	if create {
		mode = "rwc"
	}
	options.Set("mode", mode)
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	return db, backEnd{
		tables: `SELECT count(*), coalesce(sum(name = '` + schemaTable + `' AND sql = '` + makeSchema + `'), 0) FROM sqlite_master WHERE type IN ('table', 'view')`,
		shaped: shaped,
		// The file keeps both. Not asked of every connection: a file that turns out
		// to be another program's is left as it is.
		prepare: `PRAGMA auto_vacuum = incremental; PRAGMA journal_mode = WAL`,
		rows:    1, // a statement is a function call
		shrink:  `PRAGMA incremental_vacuum`,
		explain: explainSQLite,
	}, err
}

// makeFile makes an empty store that its owner alone may read; SQLite gives its
// other files the same mode. It is made under another name and closed before
// anybody can open it, for the locks' sake; one that has come to be there
// meanwhile is as good.
func makeFile(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".linerate-*") // 0600, by its documentation
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// explainSQLite says what SQLite's result codes mean to a caller
// (https://sqlite.org/rescode.html).
func explainSQLite(err error) error {
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return err
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT:
		return fmt.Errorf("%w: %w", ErrNotStore, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
