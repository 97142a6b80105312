package yamldoc

import (
	"fmt"
	"sort"
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
)

// Problem is one thing wrong with a fabric file and where.
type Problem struct {
	File string
	// Line and Column count from 1, columns in characters; zero is unknown.
	Line, Column int
	What         string
	Hint         string // what to write instead; "" none
}

// Error prints "file:line:column: what", without the hint.
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.What)
}

// Problems is everything wrong with a fabric file, in the file's order. It is
// never empty when it is an error.
type Problems []Problem

// Error prints one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each problem to errors.As and errors.Is.
func (ps Problems) Unwrap() []error {
	all := make([]error, len(ps))
	for i, p := range ps {
		all[i] = p
	}
	return all
}

// Hint is the first problem's hint that there is; "" none.
func (ps Problems) Hint() string {
	for _, p := range ps {
		if p.Hint != "" {
			return p.Hint
		}
	}
	return ""
}

// Err is ps as an error in the file's order, without repetitions; nil when
// there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	sort.SliceStable(ps, func(i, j int) bool {
		a, b := ps[i], ps[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	kept := ps[:1]
	for _, p := range ps[1:] {
		if p != kept[len(kept)-1] {
			kept = append(kept, p)
		}
	}
	return kept
}

// Collector collects what is wrong while a file is read.
type Collector struct {
	File string
	// Repeated takes a key that stands twice: mappings are joined, of all else the
	// last counts.
	Repeated bool
	All      Problems
}

func (ps *Collector) Add(line, column int, what, hint string) {
	ps.All = append(ps.All, Problem{File: ps.File, Line: line, Column: column, What: printable(what), Hint: printable(hint)})
}

func (ps *Collector) At(n *Node, what, hint string) { ps.Add(n.Line, n.Column, what, hint) }

// printable keeps a problem on one line whatever the file held.
func printable(s string) string {
	const most = 1000
	s = plaintext.Line(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// Closest is the candidate that takes the fewest single-letter edits to reach
// from word, or "" when none is near enough to be what was meant.
func Closest(word string, candidates []string) string {
	best, bestDistance := "", len(word)/2+1
	if len(word) > 64 {
		return ""
	}
	for _, c := range candidates {
		if d := Distance(strings.ToLower(word), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// Distance is the Levenshtein distance of a and b, a swap of two neighbours
// counted once.
func Distance(a, b string) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			change := previous[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			current[j] = min(previous[j]+1, current[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}

// Nearest is " (nearest: X)" or "".
func Nearest(word string, candidates []string) string {
	if near := Closest(word, candidates); near != "" {
		return fmt.Sprintf(" (nearest: %s)", near)
	}
	return ""
}

// Choices is "one of: a, b, c", or "" without candidates.
func Choices(candidates []string) string {
	if len(candidates) == 0 {
		return ""
	}
	return "one of: " + strings.Join(candidates, ", ")
}
