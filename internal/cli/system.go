package cli

import (
	"os"
	"strconv"
)

// System is the app on this process's own streams.
func System(version string) *App {
	app := &App{Version: version, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	if terminal(os.Stderr) {
		app.Terminal = os.Getenv("TERM") != "dumb" && os.Getenv("CI") == ""
	}
	app.CanAsk = terminal(os.Stdin) && terminal(os.Stderr)
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

// terminal reports a character device that is not the null device.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
