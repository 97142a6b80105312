package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// source is one parsed file of the module.
type source struct {
	name, pkg string // path in the module; directory
	test      bool
	lines     int
	fset      *token.FileSet
	ast       *ast.File
}

func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.name, s.fset.Position(n.Pos()).Line)
}

// check returns what is wrong with the module in tree, by its ARCHITECTURE.md.
func check(tree fs.FS) ([]string, error) {
	doc, err := fs.ReadFile(tree, "ARCHITECTURE.md")
	if err != nil {
		return nil, err
	}
	r, err := parseRules(string(doc))
	if err != nil {
		return nil, err
	}
	module, err := modulePath(tree)
	if err != nil {
		return nil, err
	}
	sources, err := parseTree(tree)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, s := range sources {
		problems = append(problems, r.checkFile(module, s)...)
	}
	problems = append(problems, checkSizes(sources)...)
	problems = append(problems, checkNames(sources)...)
	problems = append(problems, checkComments(sources)...)
	stale, err := checkPages(tree, sources)
	if err != nil {
		return nil, err
	}
	problems = append(problems, stale...)
	problems = append(problems, r.checkPresence(sources)...)
	problems = append(problems, r.checkUse(module, sources)...)
	slices.Sort(problems)
	return slices.Compact(problems), nil
}

func modulePath(tree fs.FS) (string, error) {
	b, err := fs.ReadFile(tree, "go.mod")
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(b), "\n")
	name, ok := strings.CutPrefix(first, "module ")
	if !ok {
		return "", fmt.Errorf("go.mod does not begin with its module")
	}
	return strings.TrimSpace(name), nil
}

// parseTree reads every Go file whatever its build tags say.
func parseTree(tree fs.FS) ([]source, error) {
	var out []source
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			hidden := name != "." && (base[0] == '.' || base[0] == '_')
			if hidden || base == "testdata" || base == "vendor" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(base) != ".go" || base[0] == '.' || base[0] == '_' {
			return nil
		}
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, b, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		out = append(out, source{name: name, pkg: path.Dir(name), test: strings.HasSuffix(base, "_test.go"),
			lines: strings.Count(string(b), "\n"), fset: fset, ast: file})
		return nil
	})
	return out, err
}

// checkPresence compares the packages there are with those the table names.
func (r rules) checkPresence(sources []source) []string {
	there := make(map[string]bool)
	var problems []string
	for _, s := range sources {
		there[s.pkg] = true
		if _, ok := r.layers[s.pkg]; !ok {
			problems = append(problems, fmt.Sprintf("%s: package is not in ARCHITECTURE.md's layer table", s.pkg))
		}
	}
	for pkg := range r.layers {
		if !there[pkg] {
			problems = append(problems, fmt.Sprintf("%s: in ARCHITECTURE.md's layer table, but there is no such package", pkg))
		}
	}
	return problems
}

// checkUse finds what the tables permit and nobody does: a row that is dead says
// that something is so which is not.
func (r rules) checkUse(module string, sources []source) []string {
	imports := make(map[string]map[string]bool) // what a package, or a file outside of tests, imports
	note := func(by, what string) {
		if imports[by] == nil {
			imports[by] = make(map[string]bool)
		}
		imports[by][what] = true
	}
	for _, s := range sources {
		for _, spec := range s.ast.Imports {
			what, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if pkg, ours := strings.CutPrefix(what, module+"/"); ours {
				note(s.pkg, pkg) // tests follow the layers too
			} else if !s.test {
				note(s.pkg, what)
				note(s.name, what)
			}
		}
	}
	type arrow struct {
		row   int
		other string
	}
	used := make(map[arrow]bool)
	for pkg, row := range r.layers {
		for _, other := range row.may {
			a := arrow{row.row, other}
			used[a] = used[a] || imports[pkg][other]
		}
	}
	var problems []string
	for pkg, row := range r.layers {
		for _, other := range row.may {
			if !used[arrow{row.row, other}] {
				problems = append(problems, fmt.Sprintf("%s: ARCHITECTURE.md lets its row import %s, and none does", pkg, other))
			}
		}
	}
	for _, g := range r.grants {
		for _, place := range g.to {
			used := false
			for what := range imports[place] {
				used = used || g.covers(what)
			}
			if !used {
				problems = append(problems, fmt.Sprintf("%s: ARCHITECTURE.md lets it import %s, and it does not", place, g.what))
			}
		}
	}
	return problems
}

func (r rules) checkFile(module string, s source) []string {
	problems := slices.Concat(checkRoom(s), checkLength(s), r.checkImports(module, s), checkFunctions(s))
	if row, ok := r.layers[s.pkg]; ok && row.layer <= r.pureLayer && !s.test {
		problems = append(problems, uses(s, "time", clock[:], "is pure and looks at the clock")...)
		problems = append(problems, uses(s, "context", contexts[:], "is pure and takes a context")...)
	}
	return problems
}

func (r rules) checkImports(module string, s source) []string {
	var problems []string
	own, known := r.layers[s.pkg]
	for _, spec := range s.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if pkg, ok := strings.CutPrefix(imported, module+"/"); ok {
			theirs, named := r.layers[pkg]
			allowed := pkg == s.pkg || theirs.layer < own.layer || slices.Contains(own.may, pkg)
			if known && named && !allowed {
				problems = append(problems, fmt.Sprintf("%s: %s (layer %d) imports %s (layer %d)", s.at(spec), s.pkg, own.layer, pkg, theirs.layer))
			}
			continue
		}
		// Tests read their golden files and make their namespaces.
		if !s.test {
			problems = append(problems, r.checkEffect(s, spec, imported, own.layer, known)...)
		}
	}
	return problems
}

// impure are the imports that pure layers go without.
var impure = [...]string{"net", "net/http", "os", "os/exec", "os/signal", "syscall"}

func (r rules) checkEffect(s source, spec ast.Node, imported string, layer int, known bool) []string {
	var problems []string
	if known && layer <= r.pureLayer && slices.Contains(impure[:], imported) {
		problems = append(problems, fmt.Sprintf("%s: %s is pure and imports %s", s.at(spec), s.pkg, imported))
	}
	for _, g := range r.grants {
		if !g.covers(imported) {
			continue
		}
		if !slices.Contains(g.to, s.pkg) && !slices.Contains(g.to, s.name) {
			problems = append(problems, fmt.Sprintf("%s: %s may be imported only in %s", s.at(spec), imported, strings.Join(g.to, ", ")))
		}
	}
	return problems
}

// covers: a module's line covers its packages; a standard package's only
// itself, for net/netip is no net.
func (g grant) covers(imported string) bool {
	first, _, _ := strings.Cut(g.what, "/")
	return imported == g.what || strings.Contains(first, ".") && strings.HasPrefix(imported, g.what+"/")
}

// clock are the functions of package time that look at one or wait for one.
var clock = [...]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// contexts are what taking or making a context needs; its error values are
// words that pure packages may know.
var contexts = [...]string{"Context", "Background", "TODO", "WithCancel", "WithTimeout", "WithDeadline", "WithValue"}

// checkFunctions finds init functions and ways to end the process, which only
// cmd/ and a test's main have.
func checkFunctions(s source) []string {
	var problems []string
	for _, d := range s.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			problems = append(problems, fmt.Sprintf("%s: an init function", s.at(f)))
		}
	}
	if s.test || strings.HasPrefix(s.pkg, "cmd/") {
		return problems
	}
	return slices.Concat(problems,
		uses(s, "os", []string{"Exit"}, "ends the process"),
		uses(s, "log", []string{"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"}, "ends the process"))
}

// uses finds mentions, called or not, of functions of a standard package
// under the name that the file gives it.
func uses(s source, pkg string, functions []string, why string) []string {
	local := ""
	for _, spec := range s.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && p == pkg {
			local = path.Base(pkg)
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	if local == "" {
		return nil
	}
	var problems []string
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && slices.Contains(functions, sel.Sel.Name) {
			problems = append(problems, fmt.Sprintf("%s: %s %s (%s.%s)", s.at(sel), s.pkg, why, pkg, sel.Sel.Name))
		}
		return true
	})
	return problems
}
