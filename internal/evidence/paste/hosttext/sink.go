package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// sink is what this package's readers put facts into.
type sink struct{ *piece.Sink }

// reading is a reader's function as the table of readers has it.
func reading(read func(*sink, []piece.Line) int) func(*piece.Sink, []piece.Line) int {
	return func(s *piece.Sink, lines []piece.Line) int { return read(&sink{s}, lines) }
}

// fromShell gives what only a Linux host prints to one, where it stands behind a command of
// a switch that has no shell: a post often has a prompt at its switch's outputs alone.
func (s *sink) fromShell() {
	vendor, _ := s.Host.Get("host", "vendor")
	if word := piece.Program(s.Segment.Command); !s.Host.Switch || word != "show" && word != "sh" && word != "display" || vendor.Text == "cumulus" || vendor.Text == "sonic" || strings.Contains(s.Segment.Command, "bond") {
		return
	}
	s.Host = s.C.Host("")
}
