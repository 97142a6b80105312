package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/term"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/internal/tui"
)

// Live is the part of a terminal that is drawn anew while something is
// measured. What is over is printed above it, where it stays, and whatever
// else is written to the terminal takes its place. Nil shows nothing.
type Live struct {
	out io.Writer // the terminal itself
	// width and height are those of a terminal that is far away; zero asks out,
	// which then follows when the window changes.
	width, height int

	mu    sync.Mutex
	drawn drawn // nil while nothing is
}

// drawn is what stands on the terminal. Of its calls only end waits for it.
type drawn interface {
	show(tui.View)
	above(line string)
	end() // takes it off
}

// Show draws a view, from the first one on.
func (l *Live) Show(v tui.View) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn == nil {
		l.drawn = draw(l.out, l.width, l.height)
	}
	if l.drawn != nil {
		l.drawn.show(v)
	}
}

// Rest draws nothing until the next view, where one is drawn.
func (l *Live) Rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn != nil {
		l.drawn.show(tui.View{})
	}
}

// Above prints a line above the view; false where none is drawn.
func (l *Live) Above(line string) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn == nil {
		return false
	}
	l.drawn.above(plaintext.Text(line))
	return true
}

// Stop takes the view off the terminal; what was printed above it stays.
func (l *Live) Stop() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn == nil {
		return
	}
	l.drawn.end()
	l.drawn = nil
}

// stream is standard output or error as commands write to it. Only plain text
// comes through: what a command prints is the word of strangers in large part,
// of hosts, records, names. It takes the place of the live view.
type stream struct {
	to    io.Writer
	plain *plaintext.Writer
	live  *Live
	lost  *error // the first that a write met; nil none so far
}

// Lost is why some of what was written to a stream did not get there; nil where all
// did, or the reader had enough (a pipe that was closed).
func Lost(w io.Writer) error {
	s, ok := w.(stream)
	if !ok || *s.lost == nil || errors.Is(*s.lost, syscall.EPIPE) {
		return nil
	}
	return WithHint(fmt.Errorf("write output: %w", *s.lost), lostOutput)
}

// StreamTo makes a stream of where it goes to; one that is there stays.
func (con *Console) StreamTo(w io.Writer) io.Writer {
	if _, ok := w.(stream); ok || w == nil {
		return w
	}
	return stream{w, plaintext.NewWriter(w), con.Live, new(error)}
}

func (s stream) Write(b []byte) (int, error) {
	s.live.Stop()
	n, err := s.plain.Write(b)
	if err != nil && *s.lost == nil {
		*s.lost = err
	}
	return n, err
}

// Bare is where a stream goes to, for a program that writes to it by itself.
func Bare(w io.Writer) io.Writer {
	if s, ok := w.(stream); ok {
		s.live.Stop()
		return s.to
	}
	return w
}

// farAway is the size of a terminal in the words of envTerminal.
func farAway(words string) (width, height int, ok bool) {
	n, err := fmt.Sscanf(words, "%dx%d", &width, &height)
	return width, height, err == nil && n == 2 && width > 0 && height > 0
}

// Size is that of the terminal in the words of envTerminal.
func (l *Live) Size() string {
	const unknown = "1"
	if l == nil {
		return unknown
	}
	if l.width > 0 {
		return fmt.Sprintf("%dx%d", l.width, l.height)
	}
	f, ok := l.out.(*os.File)
	if !ok {
		return unknown
	}
	width, height, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 || height <= 0 {
		return unknown
	}
	return fmt.Sprintf("%dx%d", width, height)
}
