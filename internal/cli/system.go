package cli

import (
	"os"
	"strconv"
)

// System is the app on this process's own streams.
func System(version string) *App {
	app := &App{Version: version, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		app.Terminal = os.Getenv("TERM") != "dumb" && os.Getenv("CI") == ""
	}
	if os.Getenv(envTerminal) == "1" { // our output is shown on one, far away
		app.Terminal = true
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 20 {
		app.Width = columns
	}
	return app
}

// envTerminal tells a process in a lab guest that its output is shown on a
// terminal.
const envTerminal = "LINERATE_TERMINAL"
