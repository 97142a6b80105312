// Package console is the surroundings of a command: streams and terminal,
// how hosts, NATS and the store are reached, files and flags, and the exit status
// that an error means. Nobody else knows exit statuses, and no package outside
// internal/cmd knows a flag.
package console

import (
	"cmp"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strconv"
	"strings"

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
	// Agents is the agent that the program carries for a system, as fleet.SSH has
	// it; nil carries none.
	Agents func(system string) []byte
	NATS   NATSFlags
	Bus    *link.Dialer // to NATS, when a host is reached by it
	// Checked, where set, is told of each document that is printed.
	Checked func(Described, []byte)
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

// Width is the columns that text may take.
func (con *Console) Width() int {
	if con.Columns > 0 {
		return con.Columns
	}
	return 80
}

// System is the console of this process's own streams.
func System(version string) *Console {
	con := &Console{Version: version, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	if Terminal(os.Stderr) {
		con.Terminal = os.Getenv("TERM") != "dumb" && os.Getenv("CI") == ""
	}
	if con.Terminal && utf8Spoken(os.Getenv) {
		con.Live = &Live{out: os.Stderr}
	}
	if other := locale(os.Getenv); !utf8Spoken(os.Getenv) {
		if other != "" || Terminal(os.Stdout) { // a file by somebody without a locale is UTF-8
			con.Stdout = newASCII(con, os.Stdout)
		}
		if other != "" || Terminal(os.Stderr) {
			con.Stderr = newASCII(con, os.Stderr)
		}
	}
	con.CanAsk = Terminal(os.Stdin) && Terminal(os.Stderr)
	if far := os.Getenv(EnvTerminal); far != "" { // our output is shown on one, far away
		con.Terminal = true
		if width, height, ok := farAway(far); ok {
			con.Live = &Live{out: os.Stderr, width: width, height: height}
		}
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 20 {
		con.Columns = columns
	} else if Terminal(os.Stdout) {
		if width := terminalColumns(os.Stdout); width > 20 {
			con.Columns = min(width, con.Width())
		}
	}
	return con
}

// utf8Spoken reports a terminal of which the locale says that it shows UTF-8,
// as bars and arrows are.
func utf8Spoken(env func(string) string) bool {
	name := strings.ToLower(locale(env))
	return strings.Contains(name, "utf-8") || strings.Contains(name, "utf8")
}

// locale is the one of characters, "" where none is set (setlocale(3): the first of
// these that is set).
func locale(env func(string) string) string {
	return cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG"))
}

// EnvTerminal tells a process in a lab guest that its output is shown on a
// terminal: its columns and lines, such as 80x24, or 1 where they are not known.
const EnvTerminal = "LINERATE_TERMINAL"

// Terminal reports a character device that is not the null device.
func Terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// LogLevel is how much a daemon says.
func (con *Console) LogLevel() slog.Level {
	switch {
	case con.Verbose:
		return slog.LevelDebug
	case con.Quiet:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// envMetrics is --metrics where that is not given: for a unit's environment file.
const envMetrics = "LINERATE_METRICS"

// MetricsAddress is where metrics are told, by a flag or the environment; "" is
// nowhere.
func (con *Console) MetricsAddress(flag string) (string, error) {
	address := cmp.Or(flag, con.Getenv(envMetrics))
	if address == "" {
		return "", nil
	}
	if _, err := netip.ParseAddrPort(address); err != nil {
		return "", BadUsage("--metrics: want ADDRESS:PORT, not "+address, "127.0.0.1:9117 is loopback; whoever reaches it may read it")
	}
	return address, nil
}
