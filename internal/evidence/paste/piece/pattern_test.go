package piece

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// written are the expressions that the readers and the rules are made of, each with where
// it stands: literals, and literals joined with named ones of the same package.
func written(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, dir := range []string{"..", "../../../../diagnose/pasted"} {
		sources, _ := filepath.Glob(dir + "/*/*.go")
		named := make(map[string]map[string]ast.Expr) // by directory
		files, set := make(map[string]*ast.File), token.NewFileSet()
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(set, source, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[source] = f
			if named[filepath.Dir(source)] == nil {
				named[filepath.Dir(source)] = make(map[string]ast.Expr)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
					for i, name := range spec.Names {
						named[filepath.Dir(source)][name.Name] = spec.Values[i]
					}
				}
				return true
			})
		}
		for source, f := range files {
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
				if name != "Compile" {
					return true
				}
				at := set.Position(call.Pos()).String()
				if text, ok := textOf(call.Args[0], named[filepath.Dir(source)]); ok {
					out[at] = text
				} else {
					t.Logf("%s: not read: its expression is known when the program runs", at)
				}
				return true
			})
		}
	}
	return out
}

// textOf is a constant text of literals and names; false where it is none.
func textOf(e ast.Expr, named map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := textOf(e.X, named)
		right, also := textOf(e.Y, named)
		return left + right, ok && also
	case *ast.ParenExpr:
		return textOf(e.X, named)
	case *ast.Ident:
		if value, ok := named[e.Name]; ok {
			return textOf(value, named)
		}
	}
	return "", false
}

// TestPatternsCompile: an expression that is none would be found where a user pastes what
// it looks for.
func TestPatternsCompile(t *testing.T) {
	all := written(t)
	for at, expression := range all {
		if _, err := regexp.Compile(expression); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	if len(all) < 1200 {
		t.Errorf("%d expressions were found", len(all))
	}
}

// TestPatternsAsTheirExpressions: every expression of the readers matches with a
// glance before it what it matches without, on lines of the own questions and on
// pieces of those: a third of them, with -short an eighth, which PROVE_DRAW draws.
func TestPatternsAsTheirExpressions(t *testing.T) {
	var all []Pattern
	for _, expression := range written(t) {
		all = append(all, Compile(expression))
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
	part := 3
	if testing.Short() {
		part = 8
	}
	draw, _ := strconv.Atoi(os.Getenv("PROVE_DRAW")) // none is the first part
	var drawn []string
	for at := draw % part; at < len(sample); at += part {
		drawn = append(drawn, sample[at])
	}
	sample = drawn
	matched, refused := 0, 0
	for _, p := range all {
		for _, line := range sample {
			want := p.whole().MatchString(line)
			if want {
				matched++
			} else if !p.may(line) {
				refused++
			}
			if got := p.MatchString(line); got != want {
				t.Errorf("%s on %q: %v, the expression alone %v", p.whole(), line, got, want)
			}
		}
	}
	if len(all) < 300 || matched < 10000/part || refused < 100000/part {
		t.Errorf("%d patterns, %d matches, %d lines refused", len(all), matched, refused)
	}
	t.Logf("%d patterns, %d lines: %d matches, %d refused at a glance", len(all), len(sample), matched, refused)
}
