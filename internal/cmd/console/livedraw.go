//go:build !aix

package console

import (
	"io"
	"os"
	"strings"

	"charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/linerate/linerate/internal/tui"
)

// perSecond bounds how often the terminal is written to.
const perSecond = 8

// program draws by bubbletea.
type program struct {
	*tea.Program
	over chan struct{} // closed when it is
}

// draw begins to draw. The program reads no keys and handles no signals: Ctrl-C
// ends a measurement as it does without. A width of zero asks the terminal,
// also when its window changes.
func draw(out io.Writer, width, height int) drawn {
	options := []tea.ProgramOption{tea.WithOutput(out), tea.WithInput(nil), tea.WithoutSignalHandler(), tea.WithFPS(perSecond)}
	if width > 0 {
		options = append(options, tea.WithWindowSize(width, height))
	}
	p := program{tea.NewProgram(liveWindow{}, options...), make(chan struct{})}
	go func() {
		defer close(p.over)
		_, _ = p.Run() // a terminal that is gone ends nothing else
	}()
	return p
}

func (p program) show(v tui.View) { p.Send(v) }

func (p program) above(line string) { p.Println(line) }

func (p program) end() {
	p.Send(done{})
	<-p.over
}

// terminalColumns is how wide a terminal is, zero where nobody knows.
func terminalColumns(f *os.File) int {
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return width
}

// done ends a window.
type done struct{}

// liveWindow is the state of what is drawn.
type liveWindow struct {
	view          tui.View
	width, height int
	over          bool
}

// Init has nothing to do.
func (liveWindow) Init() tea.Cmd { return nil }

// Update takes the newest view, or the window's new size.
func (w liveWindow) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	switch m := m.(type) {
	case tui.View:
		w.view = m
	case tea.WindowSizeMsg:
		w.width, w.height = m.Width, m.Height
	case done:
		w.over = true
		return w, tea.Quit
	}
	return w, nil
}

// View draws nothing where nothing runs.
func (w liveWindow) View() tea.View {
	if w.over || w.view.What == "" || w.width == 0 {
		return tea.NewView("")
	}
	return tea.NewView(strings.Join(tui.Lines(w.view, w.width, w.height, tui.Colour), "\n"))
}
