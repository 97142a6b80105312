package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// Bounds on what a reader takes in at once.
const (
	fileLines    = 800  // of a file
	packageLines = 6000 // of a package, outside its tests
	rootFolders  = 12   // with Go sources, beside the foundations
)

// foundations are folders that every such tree has.
var foundations = [...]string{"cmd", "docs", "deploy", "internal"}

func checkLength(s source) []string {
	if s.lines <= fileLines || ast.IsGenerated(s.ast) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d lines, more than %d", s.name, s.lines, fileLines)}
}

// checkSizes counts the lines of packages and the folders at the root.
func checkSizes(sources []source) []string {
	lines, folders := make(map[string]int), make(map[string]bool)
	for _, s := range sources {
		if !s.test && !ast.IsGenerated(s.ast) {
			lines[s.pkg] += s.lines
		}
		if top, _, below := strings.Cut(s.pkg, "/"); !slices.Contains(foundations[:], top) && (below || top != ".") {
			folders[top] = true
		}
	}
	var problems []string
	for pkg, n := range lines {
		if n > packageLines {
			problems = append(problems, fmt.Sprintf("%s: a package of %d lines outside its tests, more than %d", pkg, n, packageLines))
		}
	}
	if n := len(folders); n > rootFolders {
		problems = append(problems, fmt.Sprintf("%d folders at the root beside %s, more than %d: %s", n,
			strings.Join(foundations[:], ", "), rootFolders, strings.Join(slices.Sorted(maps.Keys(folders)), ", ")))
	}
	return problems
}
