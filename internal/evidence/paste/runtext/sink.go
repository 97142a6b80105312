package runtext

import "github.com/linerate/linerate/internal/evidence/paste/piece"

// sink is what this package's readers put facts into.
type sink struct{ *piece.Sink }

// reading is a reader's function as the table of readers has it.
func reading(read func(*sink, []piece.Line) int) func(*piece.Sink, []piece.Line) int {
	return func(s *piece.Sink, lines []piece.Line) int { return read(&sink{s}, lines) }
}
