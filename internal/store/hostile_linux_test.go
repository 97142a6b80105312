package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
)

// TestHostileFiles: a file that somebody else made for us to open, with the names of our
// tables and other things behind them, is no store: nothing is asked of it, nothing
// written to it.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.db")
	s := open(t, whole)
	mustAdd(t, s, recordOf(day0, trialOf(flow.Forward, 1, day0, 5e8)), New)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	const endless = " AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS number, x AS version, x AS run, 'n'||x AS name, 1700000000000000000 AS started_ns FROM c"
	const aside = "PRAGMA foreign_keys = 0; PRAGMA legacy_alter_table = 1; "
	for name, made := range map[string]string{
		"runs without end":           aside + "ALTER TABLE runs RENAME TO other; CREATE VIEW runs" + endless,
		"trials without end":         aside + "ALTER TABLE trials RENAME TO other; CREATE VIEW trials" + endless,
		"versions without end":       "DROP TABLE linerate_schema; CREATE VIEW linerate_schema" + endless,
		"a version that is computed": "DROP TABLE linerate_schema; CREATE TABLE linerate_schema (other INTEGER, version INTEGER GENERATED ALWAYS AS (1) VIRTUAL); INSERT INTO linerate_schema (other) VALUES (1)",
		"a version below none":       "UPDATE linerate_schema SET version = -5",
		"a trigger":                  "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM trials; END",
		"a trigger by SQLite's name": "PRAGMA writable_schema = 1; INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_autoindex_t', 'runs', 0, 'CREATE TRIGGER sqlite_autoindex_t AFTER INSERT ON runs BEGIN DELETE FROM trials; END')",
		"another index":              "CREATE INDEX more ON trials (goodput_bps * 2)",
		"another column":             "ALTER TABLE series ADD COLUMN more TEXT",
		"a table less":               aside + "DROP TABLE records",
		"a rate without end":         "UPDATE trials SET goodput_bps = 9e999",
		"a rate that is a word":      "UPDATE trials SET ceiling_bps = 'nan'",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "hostile.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			execute(t, path, made)
			before, _ := os.ReadFile(path)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			s, err := Open(ctx, Config{Place: path, Create: true})
			if err == nil {
				_, _, err = s.Runs(ctx, Span{}, 0)
				if err == nil {
					_, err = s.Lines(ctx, Query{})
				}
				_ = s.Close()
			}
			if !errors.Is(err, ErrNotStore) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it says: %v", err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("it was written to")
			}
		})
	}
	// What a person adds beside our tables is nothing to us.
	execute(t, whole, "CREATE VIEW fast AS SELECT * FROM trials WHERE goodput_bps > 1e9; CREATE TABLE notes (text TEXT); ANALYZE; VACUUM")
	s = open(t, whole)
	if _, all, err := s.Runs(t.Context(), Span{}, 0); err != nil || all != 1 {
		t.Errorf("%d runs, %v", all, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
