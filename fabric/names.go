package fabric

import (
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// Suggestion is " (nearest: WORD)" for the candidate that is most like word,
// "" where none is.
func Suggestion(word string, candidates []string) string { return yamldoc.Nearest(word, candidates) }

// InNaturalOrder returns names as people order them, ens2f2 before ens2f10.
func InNaturalOrder(names []string) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int {
		switch {
		case NaturalLess(a, b):
			return -1
		case NaturalLess(b, a):
			return 1
		}
		return 0
	})
	return sorted
}
