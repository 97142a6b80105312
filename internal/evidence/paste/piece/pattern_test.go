package piece

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPatternsAsTheirExpressions: every expression of the readers matches with a
// glance before it what it matches without, on each line of the own questions, and on
// pieces of those; with -short on an eighth of them, which PROVE_DRAW draws.
func TestPatternsAsTheirExpressions(t *testing.T) {
	var all []Pattern
	sources, _ := filepath.Glob("../*/*.go")
	for _, source := range sources {
		f, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			name := ""
			switch fun := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = fun.Sel.Name
			case *ast.Ident:
				name = fun.Name
			}
			lit, ok := call.Args[0].(*ast.BasicLit)
			if name == "Compile" && ok {
				expression, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, Compile(expression))
			}
			return true
		})
	}
	texts, _ := filepath.Glob("../../../../diagnose/pasted/testdata/*.txt")
	lines := make(map[string]bool)
	for _, file := range texts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			lines[line], lines[strings.TrimSpace(line)], lines[strings.ToUpper(line)] = true, true, true
			if n := len(line); n > 8 {
				lines[line[n/3:]], lines[line[:2*n/3]] = true, true
			}
		}
	}
	sample := slices.Sorted(maps.Keys(lines))
	least := 1
	if testing.Short() {
		const part = 8
		draw, _ := strconv.Atoi(os.Getenv("PROVE_DRAW")) // none is the first eighth
		at := 0
		sample, least = slices.DeleteFunc(sample, func(string) bool { at++; return (at+draw)%part != 0 }), part
	}
	matched, refused := 0, 0
	for _, p := range all {
		for _, line := range sample {
			want := p.Regexp.MatchString(line)
			if want {
				matched++
			} else if !p.may(line) {
				refused++
			}
			if got := p.MatchString(line); got != want {
				t.Errorf("%s on %q: %v, the expression alone %v", p.Regexp, line, got, want)
			}
		}
	}
	if len(all) < 300 || matched < 10000/least || refused < 100000/least {
		t.Errorf("%d patterns, %d matches, %d lines refused", len(all), matched, refused)
	}
	t.Logf("%d patterns, %d lines: %d matches, %d refused at a glance", len(all), len(sample), matched, refused)
}
