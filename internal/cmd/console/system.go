package console

import (
	"os"
	"strconv"
	"strings"
)

// System is the console of this process's own streams.
func System(version string) *Console {
	con := &Console{Version: version, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	if Terminal(os.Stderr) {
		con.Terminal = os.Getenv("TERM") != "dumb" && os.Getenv("CI") == ""
	}
	if con.Terminal && utf8Spoken(os.Getenv) {
		con.Live = &Live{out: os.Stderr}
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
	}
	return con
}

// utf8Spoken reports a terminal of which the locale says that it shows UTF-8,
// as bars and arrows are (setlocale(3): the first of these that is set).
func utf8Spoken(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
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
