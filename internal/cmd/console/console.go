// Package console is the surroundings of a command: streams and terminal,
// how hosts, NATS and the store are reached, files and flags, and the exit status
// that an error means.
package console

import (
	"io"
	"log/slog"

	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/link"
)

// Console is what every command may use of the world around it.
type Console struct {
	Version string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	// Terminal says whether Stderr is a person's terminal: progress is then
	// redrawn in place, and questions may be asked.
	Terminal bool
	CanAsk   bool // a person can be asked: input and error are terminals
	Columns  int  // of the terminal; zero is 80
	Getenv   func(string) string

	JSON, Quiet, Verbose bool
	Plain                bool // finished things only, a line each
	Live                 *Live

	// Of hosts reached by ssh: how linerate becomes root there, and what the
	// connections of a run share.
	Become string
	SSH    *fleet.SSH
	NATS   NATSFlags
	Bus    *link.Dialer // to NATS, when a host is reached by it
}

// EnvJournal is the journal of commands that name none with --journal.
const EnvJournal = "LINERATE_JOURNAL"

// Logger is where what is done is logged: nowhere, unless asked.
func (con *Console) Logger() *slog.Logger {
	if !con.Verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(con.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Env is a variable of the environment.
func (con *Console) Env(name string) string {
	if con.Getenv == nil {
		return ""
	}
	return con.Getenv(name)
}

func (con *Console) Width() int {
	if con.Columns > 0 {
		return con.Columns
	}
	return 80
}
