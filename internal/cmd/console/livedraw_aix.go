package console

import (
	"io"
	"os"
)

// draw is nil: bubbletea does not build for AIX. What is over is printed.
func draw(io.Writer, int, int) drawn { return nil }

// terminalColumns is zero: the terminal is not asked.
func terminalColumns(*os.File) int { return 0 }
